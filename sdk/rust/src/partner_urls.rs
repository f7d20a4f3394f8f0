//! URLs of `/images/car.png` that a partner signs. The holder of a partner secret gives images away
//! for free until a URL expires.

use crate::error::Error;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use url::form_urlencoded;

const PATH: &str = "/images/car.png";
const AHEAD_MAX_SECONDS: i64 = 30 * 86_400;

/// The result of checking a URL as the service would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Valid,
    Unsigned,
    Malformed,
    Expired,
    TooFarAhead,
    Wrong,
}

/// Signs the URL of an image at the service `url`. It is valid until `expires_at` (Unix seconds, at
/// most 30 days ahead).
pub fn sign_partner_url(
    url: &str,
    secret: &str,
    parameters: &[(&str, &str)],
    expires_at: i64,
) -> Result<String, Error> {
    if let Some((name, _)) = parameters.iter().find(|(name, _)| matches!(*name, "exp" | "sig")) {
        return Err(Error::setup(format!("`{name}` must not be given, because signing adds it")));
    }
    let mut pairs: Vec<(String, String)> =
        parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    pairs.push(("exp".to_owned(), expires_at.to_string()));
    let text = signed_text(&pairs);
    let signature = hex::encode(mac(secret, &text)?.finalize().into_bytes());
    Ok(format!("{}{text}&sig={signature}", url.trim_end_matches('/')))
}

/// Checks a URL as the service would at `now` (Unix seconds).
pub fn verify_partner_url(url: &str, secret: &str, now: i64) -> Verdict {
    let url = url.split('#').next().unwrap_or_default();
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    // A URL without its origin is accepted too.
    let path = path.split_once("://").map_or(path, |(_, rest)| rest.find('/').map_or("", |at| &rest[at..]));
    if path != PATH {
        return Verdict::Unsigned;
    }
    let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let values = |name: &str| pairs.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str()).collect();
    let (exps, sigs): (Vec<&str>, Vec<&str>) = (values("exp"), values("sig"));
    if exps.is_empty() && sigs.is_empty() {
        return Verdict::Unsigned;
    }
    let ([exp], [sig]) = (&exps[..], &sigs[..]) else { return Verdict::Malformed };
    let (Some(expires_at), Some(signature)) = (seconds(exp), digest(sig)) else { return Verdict::Malformed };
    match expires_at - now {
        ..=0 => Verdict::Expired,
        left if left > AHEAD_MAX_SECONDS => Verdict::TooFarAhead,
        // Compared in constant time.
        _ => match mac(secret, &signed_text(&pairs)).is_ok_and(|mac| mac.verify_slice(&signature).is_ok()) {
            true => Verdict::Valid,
            false => Verdict::Wrong,
        },
    }
}

/// Returns the text that is signed: the path, and the query without `sig`, sorted by key, in form
/// encoding (URL Standard, application/x-www-form-urlencoded).
fn signed_text(pairs: &[(String, String)]) -> String {
    let mut signed: Vec<&(String, String)> = pairs.iter().filter(|(name, _)| name != "sig").collect();
    signed.sort_by(|(a, _), (b, _)| a.cmp(b));
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(signed).finish();
    format!("{PATH}?{query}")
}

fn mac(secret: &str, text: &str) -> Result<Hmac<Sha256>, Error> {
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes());
    Ok(mac.map_err(|_| Error::setup("The partner secret cannot be used as a key"))?.chain_update(text))
}

fn seconds(text: &str) -> Option<i64> {
    let is_short_number = (1..=12).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit());
    if is_short_number { text.parse().ok() } else { None }
}

fn digest(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let is_lower = !text.bytes().any(|digit| digit.is_ascii_uppercase());
    (is_lower && hex::decode_to_slice(text, &mut bytes).is_ok()).then_some(bytes)
}
