//! `GET /api/v1/images/car`: one picture, one credit. `HEAD` says what it would be, free.
//!
//! Everything said to a known key carries its rate-limit window, refusals too: a request is counted whatever it comes to.

use crate::accounts::Scope;
use crate::app::App;
use crate::delivery::{self, Delivered, DeliveryError, ImageRequest, Order, ResponseKind, Shown};
use crate::http::error::Problem;
use crate::http::extract::{Caller, RequestId};
use crate::ledger::{Credits, MeterError, Window};
use crate::renders::RenderError;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_LOCATION, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use cyclorama_core::wire::FailureKind;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

const CREDITS_CHARGED: HeaderName = HeaderName::from_static("x-credits-charged");
const CREDITS_REMAINING: HeaderName = HeaderName::from_static("x-credits-remaining");
const IMAGE_SOURCE: HeaderName = HeaderName::from_static("x-image-source");
const IMAGE_WIDTH: HeaderName = HeaderName::from_static("x-image-width");
const IMAGE_HEIGHT: HeaderName = HeaderName::from_static("x-image-height");
const RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RATELIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// What is asked for: the order, and its one canonical address.
struct Asked {
    order: Order,
    content_location: String,
}

pub async fn get(
    State(app): State<App>,
    caller: Caller,
    request_id: RequestId,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let asked = match understand(&app, &caller, query.as_deref(), &headers) {
        Ok(asked) => asked,
        Err(problem) => return refuse(&app, &caller, problem).await,
    };
    let if_none_match = if_none_match(&headers);
    let (window, delivered) =
        delivery::deliver(&app, &caller, &request_id.0, &asked.order, if_none_match.as_deref()).await;
    let response = match delivered {
        Ok(Delivered::Image { ready, source, remaining }) => {
            let mut response = described(&asked, Some(&ready.etag), Credits(1), remaining);
            insert(&mut response, IMAGE_SOURCE, source.as_str());
            *response.body_mut() = Body::from(ready.bytes);
            response
        }
        Ok(Delivered::NotModified { etag, remaining }) => not_modified(&asked, &etag, remaining),
        Err(error) => problem(&app, error).into_response(),
    };
    with_window(response, window)
}

pub async fn head(State(app): State<App>, caller: Caller, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let asked = match understand(&app, &caller, query.as_deref(), &headers) {
        Ok(asked) => asked,
        Err(problem) => return refuse(&app, &caller, problem).await,
    };
    let (window, shown) = delivery::show(&app, &caller, &asked.order, if_none_match(&headers).as_deref()).await;
    let response = match shown {
        Ok(Shown { etag: Some(etag), not_modified: true, remaining }) => not_modified(&asked, &etag, remaining),
        Ok(Shown { etag, remaining, .. }) => {
            let mut response = described(&asked, etag.as_deref(), Credits(0), remaining);
            if etag.is_some() {
                insert(&mut response, IMAGE_SOURCE, "cache");
            }
            response
        }
        Err(error) => problem(&app, error).into_response(),
    };
    with_window(response, window)
}

/// Reads the request as far as it can be read without touching the caller's account.
fn understand(app: &App, caller: &Caller, query: Option<&str>, headers: &HeaderMap) -> Result<Asked, Problem> {
    caller.require(Scope::ImagesRead)?;
    let query = query.unwrap_or_default();
    let request =
        ImageRequest::parse_query(query).map_err(|wrong| Problem::bad_parameter(&wrong.parameter, wrong.detail))?;
    if request.response == ResponseKind::Url || wants_json(headers) {
        let detail = "`response=url` (or `Accept: application/json`) asks for a signed address, which this version of the \
                      service does not make yet: leave it out, or accept an image type.";
        return Err(Problem::bad_parameter("response", detail));
    }
    let found = app.catalog.find(&request.make, &request.model, request.year).map_err(|missing| {
        let suggestions = serde_json::to_value(&missing.suggestions).unwrap_or_default();
        Problem::not_found("vehicle_not_found", missing.detail).with("suggestions", suggestions)
    })?;
    let query = request.canonical_query(&found.vehicle.make, &found.vehicle.model);
    Ok(Asked { content_location: format!("/api/v1/images/car?{query}"), order: Order::new(found.vehicle, &request) })
}

/// JSON is asked for by name and no image is welcome. Wildcards welcome images.
fn wants_json(headers: &HeaderMap) -> bool {
    let accepted: Vec<String> = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|range| range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
        .collect();
    accepted.iter().any(|range| range == "application/json")
        && !accepted.iter().any(|range| range.starts_with("image/") || range == "*/*")
}

/// All values of the header as one list.
fn if_none_match(headers: &HeaderMap) -> Option<String> {
    let values: Vec<&str> = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok()).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// A refusal that needs no account: counted, because every request is.
async fn refuse(app: &App, caller: &Caller, refusal: Problem) -> Response {
    let (window, counted) = delivery::count(app, caller).await;
    let response = match counted {
        Ok(()) => refusal.into_response(),
        Err(error) => problem(app, error).into_response(),
    };
    with_window(response, window)
}

fn not_modified(asked: &Asked, etag: &str, remaining: Credits) -> Response {
    let mut response = described(asked, Some(etag), Credits(0), remaining);
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    // Nothing is sent, so nothing is described but the validator (RFC 9110, section 15.4.5).
    for name in [CONTENT_TYPE, IMAGE_WIDTH, IMAGE_HEIGHT] {
        response.headers_mut().remove(name);
    }
    response
}

/// An answer with everything that is known of the picture without its bytes.
fn described(asked: &Asked, etag: Option<&str>, charged: Credits, remaining: Credits) -> Response {
    let mut response = Response::new(Body::empty());
    let side_px = asked.order.side_px.to_string();
    insert(&mut response, CONTENT_TYPE, asked.order.format.media_type());
    insert(&mut response, CONTENT_LOCATION, &asked.content_location);
    insert(&mut response, CACHE_CONTROL, "private, no-store");
    insert(&mut response, VARY, "Accept, Authorization, X-Api-Key");
    insert(&mut response, CREDITS_CHARGED, &charged.to_string());
    insert(&mut response, CREDITS_REMAINING, &remaining.to_string());
    insert(&mut response, IMAGE_WIDTH, &side_px);
    insert(&mut response, IMAGE_HEIGHT, &side_px);
    if let Some(etag) = etag {
        insert(&mut response, ETAG, etag);
    }
    response
}

fn with_window(mut response: Response, window: Option<Window>) -> Response {
    if let Some(window) = window {
        insert(&mut response, RATELIMIT_LIMIT, &window.limit.to_string());
        insert(&mut response, RATELIMIT_REMAINING, &window.remaining.to_string());
        insert(&mut response, RATELIMIT_RESET, &window.reset_seconds.to_string());
    }
    response
}

/// Values are made here of slugs, digits and digests: always valid.
fn insert(response: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// A failed delivery as clients see it; the legacy endpoint says the same.
pub(crate) fn problem(app: &App, error: DeliveryError) -> Problem {
    match error {
        DeliveryError::RateLimited(window) => Problem::rate_limited(window.reset_seconds.max(1) as u64),
        DeliveryError::Insufficient { balance, required } => {
            Problem::insufficient_credits(balance.0, required.0, &app.base_url)
        }
        // The picture was made and could not be handed in: the store or the way to it, not the render.
        DeliveryError::Render(RenderError::Failed { kind, .. }) if kind == FailureKind::Upload.as_str() => {
            Problem::unavailable("dependency_down", "The rendered picture could not be stored; nothing was charged.")
                .retry_after(15)
        }
        DeliveryError::Render(RenderError::Failed { .. }) => {
            Problem::render_failed("The picture could not be rendered; the credit was given back.")
        }
        DeliveryError::Render(RenderError::TooLate) => {
            Problem::unavailable("at_capacity", "No render node finished this picture in time; nothing was charged.")
                .retry_after(15)
        }
        DeliveryError::Render(RenderError::QueueFull) => {
            Problem::unavailable("at_capacity", "Too many renders are waiting; nothing was charged.").retry_after(15)
        }
        DeliveryError::Render(RenderError::BudgetSpent { reset_at_ms }) => budget_spent(app, reset_at_ms),
        DeliveryError::Meter(MeterError::Full) => {
            Problem::unavailable("at_capacity", "Too many requests are waiting; nothing was charged.").retry_after(1)
        }
        DeliveryError::Meter(MeterError::Stopping) => {
            Problem::unavailable("shutting_down", "The service is stopping; nothing was charged.").retry_after(5)
        }
        DeliveryError::NoLedger => {
            tracing::error!("a key's account has no balance");
            Problem::internal()
        }
        DeliveryError::Encoding(_) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a stored picture could not be encoded");
            Problem::internal()
        }
        DeliveryError::HoldLost
        | DeliveryError::Store(_)
        | DeliveryError::Meter(MeterError::Database(_))
        | DeliveryError::Database(_)
        | DeliveryError::Render(RenderError::Database(_)) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a picture could not be delivered");
            let detail = "A part of the service does not answer; nothing was charged.";
            Problem::unavailable("dependency_down", detail).retry_after(5)
        }
    }
}

fn budget_spent(app: &App, reset_at_ms: i64) -> Problem {
    let detail =
        "Today's budget for new renders is spent; nothing was charged. Pictures that exist are still delivered.";
    let wait_seconds = (reset_at_ms - app.clock.now().0).max(1000) / 1000;
    let problem = Problem::unavailable("daily_budget_spent", detail).retry_after(wait_seconds as u64);
    match OffsetDateTime::from_unix_timestamp(reset_at_ms / 1000).map(|moment| moment.format(&Rfc3339)) {
        Ok(Ok(reset_at)) => problem.with("reset_at", reset_at),
        _ => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_meant_only_when_no_image_is_welcome() {
        for (accept, json) in [
            (None, false),
            (Some("*/*"), false),
            (Some("image/webp"), false),
            (Some("application/json"), true),
            (Some("application/json; q=0.9, text/plain"), true),
            (Some("APPLICATION/JSON"), true),
            (Some("application/json, image/png"), false),
            (Some("application/json, text/plain, */*"), false),
            (Some("text/html"), false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(accept) = accept {
                headers.insert(ACCEPT, HeaderValue::from_str(accept).expect("a header"));
            }
            assert_eq!(wants_json(&headers), json, "{accept:?}");
        }
    }
}
