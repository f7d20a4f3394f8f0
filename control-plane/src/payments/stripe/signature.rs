//! The `Stripe-Signature` header: checks that Stripe signed a body, and when.

use crate::clock::UnixMs;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Maximum difference between the signed time and ours, in milliseconds, in either direction.
const WINDOW_MS: i64 = 300_000;

/// Maximum number of signatures that are checked: Stripe sends one for each secret in use, two
/// while one is being replaced.
const SIGNATURES_MAX: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    #[error("the header Stripe-Signature is missing or malformed")]
    Malformed,
    #[error("the signature was made more than five minutes ago, or is from the future")]
    OutOfTime,
    #[error("the signature does not fit this body and the endpoint's secret")]
    Wrong,
}

/// Checks that `header` signs `body` with `secret` at a time close to `now`.
pub fn verify(secret: &str, header: &str, body: &[u8], now: UnixMs) -> Result<(), SignatureError> {
    let mut moment = None;
    let mut signatures = Vec::new();
    for part in header.split(',') {
        let (name, value) = part.trim().split_once('=').ok_or(SignatureError::Malformed)?;
        match name {
            "t" if moment.is_none() => moment = Some(value),
            "t" => return Err(SignatureError::Malformed),
            "v1" if signatures.len() < SIGNATURES_MAX => {
                signatures.push(hex::decode(value).map_err(|_| SignatureError::Malformed)?)
            }
            // Other signature schemes are ignored.
            _ => {}
        }
    }
    let moment = moment.ok_or(SignatureError::Malformed)?;
    let seconds: i64 = moment.parse().map_err(|_| SignatureError::Malformed)?;
    if signatures.is_empty() {
        return Err(SignatureError::Malformed);
    }
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes())
        .map_err(|_| SignatureError::Wrong)?
        .chain_update(moment)
        .chain_update(".")
        .chain_update(body);
    // Each comparison takes constant time.
    if !signatures.iter().any(|signature| mac.clone().verify_slice(signature).is_ok()) {
        return Err(SignatureError::Wrong);
    }
    match seconds.checked_mul(1000).map(|ms| now.0.abs_diff(ms)) {
        Some(apart) if apart <= WINDOW_MS as u64 => Ok(()),
        _ => Err(SignatureError::OutOfTime),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // printf '1700000000.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_test
    const BODY: &[u8] = br#"{"id":"evt_1"}"#;
    const SECRET: &str = "whsec_test";
    const GOOD: &str = "c89214b5b5da833daed6f0b8c5bb6bd58cea9022bd80ccc78230f3942d632925";
    const AT: i64 = 1_700_000_000;

    #[test]
    fn only_what_stripe_signed_about_now_is_believed() {
        let other = "0".repeat(64);
        let many = format!("t={AT}{},v1={GOOD}", format!(",v1={other}").repeat(8));
        for (header, at_ms, expected) in [
            (format!("t={AT},v1={GOOD}"), AT * 1000, Ok(())),
            (format!("t={AT},v1={other},v1={GOOD},v0=x"), AT * 1000, Ok(())),
            (format!("v1={GOOD}, t={AT}"), AT * 1000, Ok(())),
            (format!("t={AT},v1={GOOD}"), AT * 1000 + 300_000, Ok(())),
            (format!("t={AT},v1={GOOD}"), AT * 1000 - 300_000, Ok(())),
            (format!("t={AT},v1={GOOD}"), AT * 1000 + 300_001, Err(SignatureError::OutOfTime)),
            (format!("t={AT},v1={GOOD}"), AT * 1000 - 300_001, Err(SignatureError::OutOfTime)),
            (format!("t={AT},v1={other}"), AT * 1000, Err(SignatureError::Wrong)),
            (format!("t={AT},v1={}", &GOOD[..62]), AT * 1000, Err(SignatureError::Wrong)),
            (format!("t={},v1={GOOD}", AT + 1), AT * 1000, Err(SignatureError::Wrong)),
            (format!("t=0{AT},v1={GOOD}"), AT * 1000, Err(SignatureError::Wrong)),
            (many, AT * 1000, Err(SignatureError::Wrong)),
            (format!("t={AT},v0={GOOD}"), AT * 1000, Err(SignatureError::Malformed)),
            (format!("t={AT},t={AT},v1={GOOD}"), AT * 1000, Err(SignatureError::Malformed)),
            (format!("t={AT},v1=xyz"), AT * 1000, Err(SignatureError::Malformed)),
            (format!("v1={GOOD}"), AT * 1000, Err(SignatureError::Malformed)),
            ("t,v1".to_owned(), AT * 1000, Err(SignatureError::Malformed)),
            (String::new(), AT * 1000, Err(SignatureError::Malformed)),
        ] {
            assert_eq!(verify(SECRET, &header, BODY, UnixMs(at_ms)), expected, "{header} {at_ms}");
        }
        let header = format!("t={AT},v1={GOOD}");
        assert_eq!(verify("whsec_other", &header, BODY, UnixMs(AT * 1000)), Err(SignatureError::Wrong));
        assert_eq!(verify(SECRET, &header, b"{}", UnixMs(AT * 1000)), Err(SignatureError::Wrong));
    }
}
