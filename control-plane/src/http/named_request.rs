//! Reads idempotency keys (the header `Idempotency-Key`, and `idempotency_key` of MCP tools), by
//! which `named_requests` recognises a repeated request.

use crate::http::error::Problem;
use crate::named_requests::NameError;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use serde_json::Value;

pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Header of a response that repeats an earlier one.
pub const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

pub const KEY_CHARS_MAX: usize = 255;

impl From<NameError> for Problem {
    /// Returns 409 while another request with this key is being answered, and 422 when the key was
    /// used for a different request.
    fn from(error: NameError) -> Self {
        match error {
            NameError::InUse => Problem::conflict(
                "idempotency_key_in_use",
                "A request with this idempotency key is still running: try again in a moment.",
            )
            .retry_after(1),
            NameError::OtherRequest => Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "idempotency_key_reused",
                "This idempotency key was used for another request within the last 24 hours: use a new key.",
            ),
            NameError::Database(error) => error.into(),
        }
    }
}

/// Returns the idempotency key of the header, if there is one. Refuses with 400 a value that is not
/// a valid key, and more than one value.
pub fn key_of(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut given = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = given.next() else { return Ok(None) };
    match (value.to_str().ok().and_then(key_in), given.next()) {
        (Some(key), None) => Ok(Some(key.to_owned())),
        _ => Err(bad_key("Idempotency-Key")),
    }
}

/// Returns the idempotency key in the body member `name`. Refuses with 400
/// a value that is not a valid key.
pub fn key_member(name: &str, value: &Value) -> Result<String, Problem> {
    value.as_str().and_then(key_in).map(str::to_owned).ok_or_else(|| bad_key(name))
}

fn key_in(text: &str) -> Option<&str> {
    let key = text.trim();
    let is_printable = key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    ((1..=KEY_CHARS_MAX).contains(&key.len()) && is_printable).then_some(key)
}

fn bad_key(name: &str) -> Problem {
    let rule = format!("`{name}` must be one text of 1 to {KEY_CHARS_MAX} printable ASCII characters.");
    Problem::bad_parameter(name, rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn keys_are_short_texts() {
        let long = "x".repeat(256);
        for (given, expected) in [
            (vec![], Ok(None)),
            (vec!["a b"], Ok(Some("a b"))),
            (vec!["\"quoted\""], Ok(Some("\"quoted\""))),
            (vec![&long[1..]], Ok(Some(&long[1..]))),
            (vec![long.as_str()], Err(())),
            (vec![""], Err(())),
            (vec!["  "], Err(())),
            (vec!["a", "b"], Err(())),
            (vec!["ü"], Err(())),
        ] {
            let mut headers = HeaderMap::new();
            for text in &given {
                headers.append(IDEMPOTENCY_KEY, HeaderValue::from_bytes(text.as_bytes()).expect("a header"));
            }
            let found = key_of(&headers).map_err(drop);
            assert_eq!(found, expected.map(|key| key.map(str::to_owned)), "{given:?}");
        }
    }
}
