//! Which pages may call the tools, and what their browsers are told (the Fetch standard's CORS protocol).
//!
//! A browser says in `Origin` where a page comes from. Our own pages may call, and those of this machine, such as an inspector of the
//! protocol that a developer runs; they hold the developer's own key. Everybody else's page is refused, as the protocol wants it: a page
//! must not drive a service that only its visitor can reach. `Host` is no matter of this: a name that somebody makes point here reaches a
//! service without a key at most, and every call has one.
//!
//! Why: `docs/decisions/agents.md` (MCP: `Host` and `Origin`).

use crate::http::error::Problem;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use url::Url;

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// What a page may send when its browser does not say what it wants to.
const REQUEST_HEADERS: &str = "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, \
                               x-api-key";

/// What a page may read beside what every page may.
const RESPONSE_HEADERS: &str = "Mcp-Session-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, WWW-Authenticate, X-Request-Id";

/// How long a browser may remember what it was told, in seconds: two hours, which is all that some take.
const PREFLIGHT_SECONDS: &str = "7200";

/// 403 for a page that may not call; it says which may.
pub fn refuse(base_url: &str, headers: &HeaderMap) -> Result<(), Problem> {
    match headers.get_all(ORIGIN).iter().all(|origin| may_call(base_url, origin)) {
        true => Ok(()),
        false => {
            let detail = format!(
                "Pages of this origin may not call the tools. Those of {base_url} may, and those of this machine (http:// and {}, any port).",
                LOOPBACK.join(", ")
            );
            Err(Problem::forbidden("origin_not_allowed", detail))
        }
    }
}

fn may_call(base_url: &str, origin: &HeaderValue) -> bool {
    let Some(origin) = origin.to_str().ok().and_then(|origin| Url::parse(origin).ok()) else { return false };
    let is_ours = Url::parse(base_url).is_ok_and(|base| base.origin().is_tuple() && base.origin() == origin.origin());
    let is_local = origin.scheme() == "http" && origin.host_str().is_some_and(|host| LOOPBACK.contains(&host));
    is_ours || is_local
}

/// The page that a request comes from, where it is one that may call.
#[derive(Debug)]
pub struct Page(HeaderValue);

impl Page {
    pub fn of(base_url: &str, headers: &HeaderMap) -> Option<Self> {
        headers.get(ORIGIN).filter(|origin| may_call(base_url, origin)).cloned().map(Page)
    }

    /// The answer to a browser that asks before it sends what the page wants to send.
    pub fn preflight(&self, method: &Method, headers: &HeaderMap) -> Option<Response> {
        if method != Method::OPTIONS || !headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
            return None;
        }
        let mut response = StatusCode::NO_CONTENT.into_response();
        let asked = headers.get(ACCESS_CONTROL_REQUEST_HEADERS).cloned();
        for (name, value) in [
            (ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST")),
            (ACCESS_CONTROL_ALLOW_HEADERS, asked.unwrap_or(HeaderValue::from_static(REQUEST_HEADERS))),
            (ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(PREFLIGHT_SECONDS)),
        ] {
            response.headers_mut().insert(name, value);
        }
        Some(response)
    }

    /// Lets the page read the answer that has these headers, whatever it says.
    pub fn may_read(self, headers: &mut HeaderMap) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.0);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(RESPONSE_HEADERS));
        headers.append(VARY, HeaderValue::from_static("Origin"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_pages_and_this_machines_may_call() {
        for (origin, may) in [
            ("https://images.example.com", true),
            ("https://images.example.com:443", true),
            ("https://IMAGES.example.com", true),
            ("http://images.example.com", false),
            ("https://images.example.com:8443", false),
            ("https://evil.example", false),
            ("https://images.example.com.evil.example", false),
            ("http://localhost", true),
            ("http://localhost:6274", true),
            ("http://127.0.0.1:3000", true),
            ("http://[::1]:3000", true),
            ("https://localhost:3000", false),
            ("http://localhost.evil.example", false),
            ("null", false),
            ("", false),
            ("file:///", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ORIGIN, HeaderValue::from_str(origin).expect("a header"));
            let base_url = "https://images.example.com";
            assert_eq!(refuse(base_url, &headers).is_ok(), may, "{origin}");
            assert_eq!(Page::of(base_url, &headers).is_some(), may, "{origin}");
        }
        let refusal = refuse("https://images.example.com", &{
            let mut headers = HeaderMap::new();
            headers.insert(ORIGIN, HeaderValue::from_static("https://evil.example"));
            headers
        });
        assert!(refusal.expect_err("refused").detail().contains("https://images.example.com"));
        assert!(refuse("https://images.example.com", &HeaderMap::new()).is_ok());
    }
}
