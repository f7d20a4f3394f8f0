//! Limits for somebody without a key, by client address or another name.

use super::client_ip::ClientIp;
use super::delivery_problem::problem;
use super::error::Problem;
use super::window_fields::{Policy, RATELIMIT_LIMIT, describe, fields};
use crate::app::App;
use crate::ledger::{Charge, Entry, Outcome, RateCount, Window};
use crate::network_counts::Over;
use crate::networks::network_of;
use axum::response::{IntoResponse, Response};

/// Counts a request of a client address for one purpose, then answers it.
pub async fn counted_by_address(
    app: &App,
    ip: ClientIp,
    purpose: &'static str,
    limit_per_minute: i64,
    answer: impl Future<Output = Result<Response, Problem>>,
) -> Response {
    if let Err(over) = app.network_counts.write(purpose, ip.0, limit_per_minute, app.clock.now()) {
        return over_limit(over).into_response();
    }
    counted_as(app, format!("{purpose} {}", network_of(ip.0)), limit_per_minute, answer).await
}

/// The refusal of a request that is over what its network may do.
pub fn over_limit(over: Over) -> Problem {
    match over {
        Over::Client(window) => {
            let refusal = Problem::rate_limited(window.reset_seconds.max(1) as u64);
            fields(window, Policy::Address)
                .into_iter()
                .fold(refusal, |refusal, (name, text)| refusal.header(name, &text))
        }
        Over::Everybody { reset_seconds } => {
            let detail = "Too many such requests are coming in from everywhere: try again in a minute.";
            Problem::unavailable("at_capacity", detail).retry_after(reset_seconds.max(1) as u64)
        }
    }
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
