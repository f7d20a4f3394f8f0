//! Tracking parameters that others add to URLs after their author wrote them.
//!
//! Mail senders, social sites and shops tag every link that leaves them, so that the page behind
//! the link can tell where a visitor came from. For an image they mean nothing, so they are ignored
//! instead of refused, and answers name them. Every other unknown parameter is still refused, also
//! `v`, `_` and other ways past caches, which are no tags: their author means something by them,
//! and an image that changes has another URL anyway.
//!
//!
//! Why: `docs/decisions/api.md` (Tracking parameters (`utm_*`, `fbclid`, `gclid`) are ignored).

use url::form_urlencoded;

/// Prefix of Urchin's tags, which most tools write: `utm_source`, `utm_medium` and others.
const UTM: &str = "utm_";
const UTM_CHARS_MAX: usize = 40;

/// Names of tags in lower case; compared without regard to case.
const NAMES: [&str; 43] = [
    // Google: Ads, Analytics, Shopping.
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "gad_source",
    "gad_campaignid",
    "srsltid",
    "_ga",
    "_gl",
    // Meta.
    "fbclid",
    "igsh",
    "igshid",
    // Microsoft, Yahoo, Yandex, Baidu.
    "msclkid",
    "yclid",
    "ymclid",
    "_openstat",
    "bd_vid",
    // X, TikTok, LinkedIn, Pinterest, Reddit, Snapchat, Twitch.
    "twclid",
    "ttclid",
    "li_fat_id",
    "epik",
    "rdt_cid",
    "sccid",
    "tt_medium",
    "tt_content",
    // Senders of email: Mailchimp, HubSpot, Marketo, Klaviyo, Vero, Omeda, MailerLite, Drip.
    "mc_cid",
    "mc_eid",
    "_hsenc",
    "_hsmi",
    "hsctatracking",
    "mkt_tok",
    "_kx",
    "vero_id",
    "vero_conv",
    "oly_anon_id",
    "oly_enc_id",
    "ml_subscriber",
    "ml_subscriber_hash",
    "__s",
    // Affiliate networks and Adobe.
    "irclickid",
    "cjevent",
    "s_kwcid",
];

/// Returns the decoded pairs of a query without tags, and the names of the tags that were taken
/// out, each once.
pub fn without_tags(query: &str) -> (Vec<(String, String)>, Vec<String>) {
    let mut pairs = Vec::new();
    let mut tags: Vec<String> = Vec::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()).into_owned() {
        match tag(&name) {
            Some(tag) if tags.contains(&tag) => {}
            Some(tag) => tags.push(tag),
            None => pairs.push((name, value)),
        }
    }
    (pairs, tags)
}

/// Returns the parameter's name in lower case if it is a tag.
fn tag(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let is_plain = |rest: &str| {
        (1..=UTM_CHARS_MAX).contains(&rest.len())
            && rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte))
    };
    let is_tag = name.strip_prefix(UTM).is_some_and(is_plain) || NAMES.contains(&name.as_str());
    is_tag.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_taken_out_and_named_once_and_nothing_else_is() {
        let (pairs, tags) = without_tags(
            "utm_source=mail&make=vw&UTM_Source=x&fbclid=a%26b&model=golf&FBCLID=&utm_marketing_tactic=t&v=2&_=3&utm_=4&utm_a%0Ab=5&ref=6",
        );
        assert_eq!(tags, ["utm_source", "fbclid", "utm_marketing_tactic"]);
        let names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["make", "model", "v", "_", "utm_", "utm_a\nb", "ref"]);
        assert!(NAMES.iter().all(|name| name.to_ascii_lowercase() == **name));
    }

    #[test]
    fn no_parameter_of_ours_is_a_tag() {
        for name in [
            "make", "brand", "model", "year", "view", "color", "w", "h", "size", "format", "response", "mode", "exp",
            "sig", "key",
        ] {
            assert_eq!(tag(name), None, "{name}");
        }
    }
}
