//! `GET /api/v1/images/car`: one picture, or its signed address, for one credit. `HEAD` says what it would be, free.
//!
//! Everything said to a known key carries its rate-limit window, refusals too: a request is counted whatever it comes to.

use crate::accounts::Scope;
use crate::app::App;
use crate::delivery::urls::{self, Terms};
use crate::delivery::{self, Delivered, ImageRequest, Order, ResponseKind, Shown};
use crate::http::error::Problem;
use crate::http::extract::{Caller, RequestId};
use crate::http::v1::answer::{
    CREDITS_CHARGED, CREDITS_REMAINING, IMAGE_HEIGHT, IMAGE_SOURCE, IMAGE_WIDTH, if_none_match, insert, problem,
    refuse, vehicle_not_found, with_window,
};
use crate::http::v1::vehicle_params::VehicleParams;
use crate::ledger::Credits;
use axum::Json;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_LOCATION, CONTENT_TYPE, ETAG, VARY};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// What is asked for: the order, and its one canonical address.
struct Asked {
    order: Order,
    content_location: String,
    /// A signed address is wanted, not the bytes.
    as_url: bool,
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
    if asked.as_url {
        return signed_address(&app, &caller, request_id, &asked.order).await;
    }
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

/// The address of the picture, paid now; the picture is rendered when the address is first loaded.
async fn signed_address(app: &App, caller: &Caller, request_id: RequestId, order: &Order) -> Response {
    let terms = Terms::usual(&app.config.delivery);
    let (window, minted) = urls::mint(app, caller, &request_id.0, std::slice::from_ref(order), terms).await;
    let response = match minted {
        Ok(minted) => {
            let expires_at = minted.expires_at.rfc3339();
            let answer = json!({
                "data": {
                    "url": minted.urls.first().map(|minted| &minted.url),
                    "expires_at": expires_at,
                    "max_uses": terms.max_uses,
                    "vehicle": VehicleParams::from(order),
                    "width": order.side_px,
                    "height": order.side_px,
                    "format": order.format.as_str(),
                },
                "billing": { "credits_charged": minted.charged.0, "credits_remaining": minted.remaining.0 },
                "request_id": request_id.0,
            });
            let mut response = Json(answer).into_response();
            insert(&mut response, CACHE_CONTROL, "private, no-store");
            insert(&mut response, VARY, "Accept, Authorization, X-Api-Key");
            insert(&mut response, CREDITS_CHARGED, &minted.charged.to_string());
            insert(&mut response, CREDITS_REMAINING, &minted.remaining.to_string());
            response
        }
        Err(error) => problem(app, error).into_response(),
    };
    with_window(response, window)
}

/// Reads the request as far as it can be read without touching the caller's account.
fn understand(app: &App, caller: &Caller, query: Option<&str>, headers: &HeaderMap) -> Result<Asked, Problem> {
    caller.require(Scope::ImagesRead)?;
    let query = query.unwrap_or_default();
    let request =
        ImageRequest::parse_query(query).map_err(|wrong| Problem::bad_parameter(&wrong.parameter, wrong.detail))?;
    let found = app.catalog.find(&request.make, &request.model, request.year).map_err(vehicle_not_found)?;
    let query = request.canonical_query(&found.vehicle.make, &found.vehicle.model);
    Ok(Asked {
        content_location: format!("/api/v1/images/car?{query}"),
        order: Order::new(found.vehicle, &request),
        as_url: request.response == ResponseKind::Url || wants_json(headers),
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

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
