//! Rate limits for requests without an API key, by client network or another name.

use super::client_ip::ClientIp;
use super::delivery_problem::problem;
use super::error::Problem;
use super::window_fields::{Policy, RATELIMIT_LIMIT, describe, fields};
use crate::app::App;
use crate::ledger::{Charge, ChargeOutcome, MeterRequest, RateCount, Window};
use crate::network_counts::Over;
use crate::networks::network_of;
use axum::response::{IntoResponse, Response};

/// Counts a request of a client network for one purpose, then runs `answer`. Over the limit
/// `answer` is not run.
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

/// Returns the refusal of a request that is over the limit of its network (429), or over the limit
/// of all networks together (503).
pub fn over_limit(over: Over) -> Problem {
    match over {
        Over::Client(window) => {
            let refusal = Problem::rate_limited(window.reset_seconds.max(1) as u64);
            fields(window, Policy::Address)
                .into_iter()
                .fold(refusal, |refusal, (name, text)| refusal.header(name, &text))
        }
        Over::Everybody { reset_seconds } => {
            let detail = "The service is receiving too many requests of this kind: try again in a minute.";
            Problem::unavailable("at_capacity", detail).retry_after(reset_seconds.max(1) as u64)
        }
    }
}

/// Counts a request without a key under the name `counted`, then runs `answer`. Over the limit
/// `answer` is not run.
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
    // The response may have been counted in a narrower window, whose fields are the ones that the
    // client has to keep to.
    if let Some(window) = window
        && !response.headers().contains_key(RATELIMIT_LIMIT)
    {
        describe(&mut response, window, Policy::Address);
    }
    response
}

/// Counts one event under the name `counted`. Refuses with 429 when there
/// have been too many in this minute.
pub async fn count(app: &App, counted: String, limit_per_minute: i64) -> Result<(), Problem> {
    count_in_window(app, counted, limit_per_minute).await.1
}

/// Counts one event. Returns its window, if that is known, and a
/// refusal if there have been too many.
async fn count_in_window(app: &App, counted: String, limit_per_minute: i64) -> (Option<Window>, Result<(), Problem>) {
    let count = Some(RateCount { counted, limit_per_minute, account_id: None, account_limit_per_minute: None });
    match app.meter.submit(MeterRequest { count, ..MeterRequest::uncounted(Charge::Nothing) }).await {
        Err(error) => (None, Err(problem(app, error.into()))),
        Ok(metered) => match (metered.outcome, metered.window) {
            (ChargeOutcome::RateLimited { .. }, Some(window)) => {
                (metered.window, Err(Problem::rate_limited(window.reset_seconds.max(1) as u64)))
            }
            _ => (metered.window, Ok(())),
        },
    }
}
