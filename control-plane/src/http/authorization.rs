//! The secret that a request shows: the token of `Authorization: Bearer`, or the key of `x-api-key`.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;

/// The key text of a request. `Authorization: Bearer` wins over `x-api-key`.
pub fn sent_key(headers: &HeaderMap) -> Option<String> {
    if let Some(token) = bearer(headers) {
        return Some(token);
    }
    // A value that is no text is a key nobody has, not an absent one.
    headers.get("x-api-key").map(|value| value.to_str().unwrap_or_default().trim().to_owned())
}

/// The token of `Authorization: Bearer`, the scheme in any case.
pub fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
}
