//! The response headers that describe a rate-limit window.

use crate::ledger::Window;
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;

pub const RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
pub const RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
pub const RATELIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
/// The same window as a structured field (draft-ietf-httpapi-ratelimit-headers-10).
pub const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
pub const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

const WINDOW_SECONDS: u32 = 60;

/// The kind of requester that a window counts, as the structured fields name it.
#[derive(Debug, Clone, Copy)]
pub enum Policy {
    Key,
    Address,
}

impl Policy {
    const fn name(self) -> &'static str {
        match self {
            Policy::Key => "per-key",
            Policy::Address => "per-address",
        }
    }
}

/// Adds the fields of a window to a response, unless shared caches may keep it: they would show one
/// visitor's window to all others.
pub fn describe(response: &mut Response, window: Window, policy: Policy) {
    if is_shareable(response.headers()) {
        return;
    }
    for (field, text) in fields(window, policy) {
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().insert(field, value);
        }
    }
}

fn is_shareable(headers: &HeaderMap) -> bool {
    let told = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    told.flat_map(|value| value.split(',')).any(|directive| directive.trim().eq_ignore_ascii_case("public"))
}

/// Returns the fields of a window with their values.
pub fn fields(window: Window, policy: Policy) -> [(HeaderName, String); 5] {
    let (limit, remaining, reset) = (window.limit, window.remaining, window.reset_seconds);
    let name = policy.name();
    [
        (RATELIMIT_LIMIT, limit.to_string()),
        (RATELIMIT_REMAINING, remaining.to_string()),
        (RATELIMIT_RESET, reset.to_string()),
        (RATELIMIT_POLICY, format!("\"{name}\";q={limit};w={WINDOW_SECONDS}")),
        (RATELIMIT, format!("\"{name}\";r={remaining};t={reset}")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_told_in_both_forms() {
        let window = Window { limit: 120, remaining: 7, reset_seconds: 30 };
        let mut response = Response::default();
        describe(&mut response, window, Policy::Key);
        for (field, value) in [
            ("ratelimit-limit", "120"),
            ("ratelimit-remaining", "7"),
            ("ratelimit-reset", "30"),
            ("ratelimit-policy", "\"per-key\";q=120;w=60"),
            ("ratelimit", "\"per-key\";r=7;t=30"),
        ] {
            assert_eq!(response.headers()[field], value);
        }
    }
}
