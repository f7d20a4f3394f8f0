//! The secret that a request carries: the token of
//! `Authorization: Bearer`, or the key of `x-api-key`.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;

/// Returns the text of the API key that a request carries.
/// `Authorization: Bearer` wins over `x-api-key`.
pub fn sent_key(headers: &HeaderMap) -> Option<String> {
    if let Some(token) = bearer(headers) {
        return Some(token);
    }
    // A header value that is not text becomes a key that no account has, so that the request is
    // refused instead of treated as one without a key.
    headers.get("x-api-key").map(|value| value.to_str().unwrap_or_default().trim().to_owned())
}

/// Returns the token of `Authorization: Bearer`. The scheme may be in upper or lower case.
pub fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
}
