//! `POST /api/v1/events`: takes telemetry events from anyone and from any page.
//! Free, and not part of any account.

use crate::app::App;
use crate::delivery::request::kind_of;
use crate::http::body::read_any_body;
use crate::http::client_ip::ClientIp;
use crate::http::error::Problem;
use crate::http::json;
use crate::http::openapi::requests::EventsRequest;
use crate::http::rate_limit::counted_by_address;
use crate::telemetry::event::MEMBERS;
use crate::telemetry::{Event, Full};
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

pub const BODY_BYTES_MAX: usize = 32 * 1024;

const EVENTS_MAX: usize = 20;

#[derive(Debug, Serialize, ToSchema)]
pub struct EventsResponse {
    /// The number of accepted events, which is that of all events.
    #[schema(minimum = 1, maximum = 20)]
    accepted: usize,
}

/// Report events
///
/// Takes telemetry events of pages, tools and SDKs. The response is sent before the events are
/// written. Events are never billed and are not part of any account.
#[utoipa::path(
    post, path = "/api/v1/events", tag = "Telemetry", operation_id = "reportEvents", security(()),
    request_body(content = EventsRequest, content_type = "application/json", description = "At most 32 KiB."),
    responses(
        (status = 202, description = "All events were accepted.", body = EventsResponse),
        (status = 400, description = "An event is wrong; `index` is its position, from 0."),
        (status = 413), (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn post(State(app): State<App>, ip: ClientIp, request: Request) -> Response {
    let limit = app.config.limits.events_per_minute;
    counted_by_address(&app, ip, "events", limit, async {
        let body = read_any_body(request, &app).await?;
        let events = read(&body)?;
        let accepted = events.len();
        let now = app.clock.now();
        app.telemetry.accept(events, now).map_err(|full| match full {
            Full::Buffer => {
                Problem::unavailable("at_capacity", "Too many events are waiting to be written.").retry_after(5)
            }
            Full::Day { ends_at } => {
                let detail = "The service has accepted as many events today as it accepts in a day.";
                Problem::unavailable("at_capacity", detail).retry_after(((ends_at.0 - now.0) / 1000).max(1) as u64)
            }
        })?;
        Ok((StatusCode::ACCEPTED, Json(EventsResponse { accepted })).into_response())
    })
    .await
}

fn read(body: &[u8]) -> Result<Vec<Event>, Problem> {
    let mut body = json::value(body)?;
    let list = match body.get_mut("events").map(Value::take) {
        Some(Value::Array(list)) if (1..=EVENTS_MAX).contains(&list.len()) => list,
        _ => {
            return Err(Problem::bad_parameter(
                "events",
                format!("`events` must be a list of 1 to {EVENTS_MAX} events."),
            ));
        }
    };
    let event = |(index, event): (usize, Value)| {
        let at = format!("events[{index}]");
        let Value::Object(mut members) = event else {
            let detail = format!("`{at}` must be an object, not {}.", kind_of(&event));
            return Err(Problem::bad_parameter("events", detail).with("index", index));
        };
        members.retain(|name, _| MEMBERS.contains(&name.as_str()));
        // Null is a value within `properties`, but not in place of `properties`.
        let free: &[&str] = if members.get("properties").is_some_and(Value::is_null) { &[] } else { &["properties"] };
        let read = json::refuse_nulls(&members, &at, free).and_then(|()| json::fit(members, &at));
        let event: Event = read.map_err(|bad| bad.of_item(&at, index))?;
        event.checked().map_err(|bad| Problem::bad_parameter(bad.member, bad.detail).with("index", index))
    };
    list.into_iter().enumerate().map(event).collect()
}
