//! URLs that partners sign themselves: what a signature covers, and how long it may be valid. Pure:
//! `accounts` finds the secrets.

use url::form_urlencoded;

/// The only path that accepts partners' signatures.
const PATH: &str = "/images/car.png";

/// The longest time ahead at which a URL may expire, in seconds.
const AHEAD_MAX: i64 = 30 * 86_400;

/// The claims of a URL that a partner signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedQuery {
    /// Time at which the URL expires, in Unix seconds.
    pub expires_at: i64,
    pub signature: [u8; 32],
    /// The text that the signature signs.
    pub text: String,
}

/// The reasons for which a signature is refused before any secret is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadSignature {
    /// `sig` is not 64 lower-case hex digits, or `exp` is missing or no number.
    Malformed,
    Expired,
    /// The URL would be valid for longer than a signature may be.
    TooFarAhead,
}

impl SignedQuery {
    /// Reads the signature from a query's pairs. Returns `None` when the query is not signed.
    pub fn read(pairs: &[(String, String)], now_seconds: i64) -> Option<Result<Self, BadSignature>> {
        let value = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let (exp, sig) = (value("exp"), value("sig"));
        if exp.is_none() && sig.is_none() {
            return None;
        }
        let twice = ["exp", "sig"].iter().any(|name| pairs.iter().filter(|(key, _)| key == name).count() > 1);
        Some(match (exp.and_then(seconds), sig.and_then(digest)) {
            (Some(expires_at), Some(signature)) if !twice => match expires_at - now_seconds {
                ..=0 => Err(BadSignature::Expired),
                left if left > AHEAD_MAX => Err(BadSignature::TooFarAhead),
                _ => Ok(SignedQuery { expires_at, signature, text: signed_text(pairs) }),
            },
            _ => Err(BadSignature::Malformed),
        })
    }
}

/// Returns the path and the query without `sig`, sorted by key, in the form encoding (URL Standard,
/// application/x-www-form-urlencoded).
fn signed_text(pairs: &[(String, String)]) -> String {
    let mut signed: Vec<&(String, String)> = pairs.iter().filter(|(key, _)| key != "sig").collect();
    signed.sort_by(|(a, _), (b, _)| a.cmp(b));
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(signed).finish();
    format!("{PATH}?{query}")
}

fn seconds(text: &str) -> Option<i64> {
    let digits = (1..=12).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

fn digest(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let lower = !text.bytes().any(|digit| digit.is_ascii_uppercase());
    (lower && hex::decode_to_slice(text, &mut bytes).is_ok()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Option<Result<SignedQuery, BadSignature>> {
        let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        SignedQuery::read(&pairs, 1_000_000)
    }

    #[test]
    fn a_signature_covers_the_sorted_query_without_itself() {
        let sig = "0a".repeat(32);
        let given = format!("year=2024&sig={sig}&model=3+Series&make=bmw&exp=1000060&color=%72ed");
        let signed = read(&given).expect("signed").expect("good");
        assert_eq!((signed.expires_at, signed.signature), (1_000_060, [10; 32]));
        assert_eq!(signed.text, "/images/car.png?color=red&exp=1000060&make=bmw&model=3+Series&year=2024");
        // A space as %20, which other languages write, signs the same text.
        assert_eq!(read(&given.replace('+', "%20")).expect("signed").expect("good").text, signed.text);
    }

    #[test]
    fn whatever_is_wrong_with_a_signature_is_never_unsigned() {
        let sig = "0a".repeat(32);
        for (query, expected) in [
            (String::new(), None),
            ("make=bmw".to_owned(), None),
            (format!("sig={sig}"), Some(BadSignature::Malformed)),
            ("exp=1000060".to_owned(), Some(BadSignature::Malformed)),
            (format!("exp=soon&sig={sig}"), Some(BadSignature::Malformed)),
            (format!("exp=+1000060&sig={sig}"), Some(BadSignature::Malformed)),
            (format!("exp=9999999999999999&sig={sig}"), Some(BadSignature::Malformed)),
            (format!("exp=1000060&sig={}", sig.to_uppercase()), Some(BadSignature::Malformed)),
            (format!("exp=1000060&sig={}", &sig[1..]), Some(BadSignature::Malformed)),
            ("exp=1000060&sig=".to_owned(), Some(BadSignature::Malformed)),
            (format!("exp=1000060&sig={sig}&sig={sig}"), Some(BadSignature::Malformed)),
            (format!("exp=1000000&sig={sig}"), Some(BadSignature::Expired)),
            (format!("exp=999999&sig={sig}"), Some(BadSignature::Expired)),
            (format!("exp={}&sig={sig}", 1_000_000 + AHEAD_MAX + 1), Some(BadSignature::TooFarAhead)),
        ] {
            assert_eq!(read(&query).map(|read| read.expect_err("refused")), expected, "{query}");
        }
        assert!(read(&format!("exp={}&sig={sig}", 1_000_000 + AHEAD_MAX)).expect("signed").is_ok());
    }
}
