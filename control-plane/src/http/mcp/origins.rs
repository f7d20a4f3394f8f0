//! Decides which pages may call the tools, and answers their browsers (the Fetch standard's CORS
//! protocol).
//!
//! A browser names the origin of a page in `Origin`. Our own pages may call the tools. Pages of the
//! same machine may too, such as an inspector of the protocol that a developer runs: they hold the
//! developer's own key. All other pages are refused, as the protocol requires: a page must not
//! control a service that only its visitor can reach. `Host` is not checked. A page whose name
//! somebody points at this service can reach it only without a key, and every call needs one.
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

/// Request headers that a page may send if its browser does not list the headers that it wants to
/// send.
const REQUEST_HEADERS: &str = "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, \
                               x-api-key";

/// Response headers that a page may read in addition to those that every page may read.
const RESPONSE_HEADERS: &str = "Mcp-Session-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, WWW-Authenticate, X-Request-Id";

/// How long a browser may cache the answer to a preflight request, in seconds. Two hours is the
/// most that some browsers accept.
const PREFLIGHT_SECONDS: &str = "7200";

/// Refuses a page that may not call the tools with 403. The problem says which pages may.
pub fn refuse(base_url: &str, headers: &HeaderMap) -> Result<(), Problem> {
    match headers.get_all(ORIGIN).iter().all(|origin| may_call(base_url, origin)) {
        true => Ok(()),
        false => {
            let detail = format!(
                "Pages of this origin may not call the tools. Only pages of {base_url} and of the local machine may \
                 (http:// and {}, any port).",
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

/// The origin of a page that may call the tools.
#[derive(Debug)]
pub struct Page(HeaderValue);

impl Page {
    pub fn of(base_url: &str, headers: &HeaderMap) -> Option<Self> {
        headers.get(ORIGIN).filter(|origin| may_call(base_url, origin)).cloned().map(Page)
    }

    /// Answers a preflight request, in which a browser asks before it sends what the page wants to
    /// send. Returns `None` for other requests.
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

    /// Lets the page read the response with these headers, whatever its status.
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
