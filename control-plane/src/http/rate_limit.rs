//! Rate limits as clients see them: the fields of a window, and limits per client address. Windows themselves are counted by the
//! meter, exactly and for all processes together.

use super::error::Problem;
use super::extract::{Caller, ClientIp};
use super::v1::answer::problem;
use crate::app::App;
use crate::delivery;
use crate::ledger::{Charge, Entry, Outcome, RateCount, Window};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, Ipv6Addr};

pub const RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
pub const RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
pub const RATELIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
/// Structured fields (draft-ietf-httpapi-ratelimit-headers-10): the same window in their form.
pub const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
pub const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

const WINDOW_SECONDS: u32 = 60;

/// Whom a window is for, as the structured fields name it.
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

/// Puts a key's window on an answer, where it is known.
pub fn with_window(mut response: Response, window: Option<Window>) -> Response {
    if let Some(window) = window {
        describe(&mut response, window, Policy::Key);
    }
    response
}

fn describe(response: &mut Response, window: Window, policy: Policy) {
    let (limit, remaining, reset) = (window.limit, window.remaining, window.reset_seconds);
    let name = policy.name();
    let fields = [
        (RATELIMIT_LIMIT, limit.to_string()),
        (RATELIMIT_REMAINING, remaining.to_string()),
        (RATELIMIT_RESET, reset.to_string()),
        (RATELIMIT_POLICY, format!("\"{name}\";q={limit};w={WINDOW_SECONDS}")),
        (RATELIMIT, format!("\"{name}\";r={remaining};t={reset}")),
    ];
    for (field, text) in fields {
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().insert(field, value);
        }
    }
}

/// Counts a request of a key that costs nothing, then answers it. Over the limit nothing else happens.
pub async fn counted(app: &App, caller: &Caller, answer: impl Future<Output = Result<Response, Problem>>) -> Response {
    let (window, counted) = delivery::count(app, caller).await;
    let response = match counted {
        Ok(()) => answer.await.unwrap_or_else(Problem::into_response),
        Err(error) => problem(app, error).into_response(),
    };
    with_window(response, window)
}

/// Counts a request of a client address for one purpose, then answers it.
pub async fn counted_by_address(
    app: &App,
    ip: ClientIp,
    purpose: &'static str,
    limit_per_minute: i64,
    answer: impl Future<Output = Result<Response, Problem>>,
) -> Response {
    counted_as(app, format!("{purpose} {}", network_of(ip.0)), limit_per_minute, answer).await
}

/// Counts a request of somebody without a key, then answers it.
pub async fn counted_as(
    app: &App,
    counted: String,
    limit_per_minute: i64,
    answer: impl Future<Output = Result<Response, Problem>>,
) -> Response {
    let (window, counted) = count_in_window(app, counted, limit_per_minute).await;
    let mut response = match counted {
        Ok(()) => answer.await.unwrap_or_else(Problem::into_response),
        Err(problem) => problem.into_response(),
    };
    // The answer may have been counted in a narrower window, which is the one to keep to.
    if let Some(window) = window
        && !response.headers().contains_key(RATELIMIT_LIMIT)
    {
        describe(&mut response, window, Policy::Address);
    }
    response
}

/// Counts one of something; refused when there have been too many.
pub async fn count(app: &App, counted: String, limit_per_minute: i64) -> Result<(), Problem> {
    count_in_window(app, counted, limit_per_minute).await.1
}

/// Counts one; the window it is in, where that is known, and whether there have been too many.
async fn count_in_window(app: &App, counted: String, limit_per_minute: i64) -> (Option<Window>, Result<(), Problem>) {
    let count = Some(RateCount { counted, limit_per_minute, account_id: None, account_limit_per_minute: None });
    match app.meter.submit(Entry { count, ..Entry::uncounted(Charge::Nothing) }).await {
        Err(error) => (None, Err(problem(app, error.into()))),
        Ok(metered) => match (metered.outcome, metered.window) {
            (Outcome::RateLimited { .. }, Some(window)) => {
                (metered.window, Err(Problem::rate_limited(window.reset_seconds.max(1) as u64)))
            }
            _ => (metered.window, Ok(())),
        },
    }
}

/// One client: an IPv4 address, or the /64 network that an IPv6 client can choose its addresses from.
pub fn network_of(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => ip,
        IpAddr::V6(ip) => {
            let [a, b, c, d, ..] = ip.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_ipv6_network_are_one_client() {
        for (given, counted) in [
            ("203.0.113.9", "203.0.113.9"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2:ffff::1", "2001:db8:1:2::"),
            ("2001:db8:1:3::1", "2001:db8:1:3::"),
        ] {
            assert_eq!(network_of(given.parse().expect(given)).to_string(), counted);
        }
    }

    #[test]
    fn a_window_is_told_in_both_forms() {
        let window = Window { limit: 120, remaining: 7, reset_seconds: 30 };
        let response = with_window(Response::default(), Some(window));
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
