//! The id of a request, which the service makes or the client gives.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use std::convert::Infallible;

/// The id of a request. It is sent as `X-Request-Id` and stored with deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(pub String);

impl RequestId {
    pub const HEADER: &'static str = "x-request-id";

    pub fn fresh() -> Self {
        RequestId(uuid::Uuid::now_v7().to_string())
    }

    /// Returns the id that the client sent, if it is valid. Only routes
    /// with `takes_request_id` call this.
    pub fn from_client(headers: &HeaderMap) -> Option<Self> {
        let id = headers.get(Self::HEADER)?.to_str().ok()?;
        let valid =
            (1..=128).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"._:-".contains(&b));
        valid.then(|| RequestId(id.to_owned()))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RequestId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<RequestId>().cloned().unwrap_or_else(RequestId::fresh))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn client_request_ids_are_checked() {
        for (given, valid) in [("abc-1.2_3:4", true), ("", false), ("a b", false), ("ü", false), ("a/b", false)] {
            let mut headers = HeaderMap::new();
            headers.insert(RequestId::HEADER, HeaderValue::from_bytes(given.as_bytes()).expect("header"));
            assert_eq!(RequestId::from_client(&headers).is_some(), valid, "{given}");
        }
        for (length, valid) in [(128, true), (129, false)] {
            let mut headers = HeaderMap::new();
            headers.insert(RequestId::HEADER, HeaderValue::from_str(&"x".repeat(length)).expect("header"));
            assert_eq!(RequestId::from_client(&headers).is_some(), valid, "{length}");
        }
    }
}
