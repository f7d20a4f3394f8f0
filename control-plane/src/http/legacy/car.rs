//! `GET /images/car.png`: so far the one grant that needs no key, the home page's own pictures.

use crate::app::App;
use crate::delivery::{self, ImageRequest, Order, ResponseKind, etag_matches};
use crate::http::error::Problem;
use crate::http::v1::answer::{problem, vehicle_not_found};
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

/// Specification section 8: free example images.
const EXAMPLE_CACHE: &str = "public, max-age=300, s-maxage=3600, stale-while-revalidate=60";

pub async fn get(State(app): State<App>, RawQuery(query): RawQuery, headers: HeaderMap) -> Result<Response, Problem> {
    let request = ImageRequest::parse_query(query.as_deref().unwrap_or_default())
        .map_err(|wrong| Problem::bad_parameter(&wrong.parameter, wrong.detail))?;
    if request.response == ResponseKind::Url {
        return Err(Problem::bad_parameter("response", "`response` is not a parameter of this endpoint"));
    }
    let found = app.catalog.find(&request.make, &request.model, request.year).map_err(vehicle_not_found)?;
    let order = Order::new(found.vehicle, &request);
    if !app.examples.contain(&order.variant) {
        return Err(Problem::unauthorized(
            "Only the home page's pictures are served here without a grant. With an API key, ask /api/v1/images/car.",
        ));
    }
    let ready = delivery::example(&app, &order).await.map_err(|error| problem(&app, error))?;
    let side_px = order.side_px.to_string();
    let described =
        [(ETAG.as_str(), ready.etag.as_str()), (CACHE_CONTROL.as_str(), EXAMPLE_CACHE), ("x-image-source", "cache")];
    let asked = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    if asked.is_some_and(|asked| etag_matches(asked, &ready.etag)) {
        return Ok((StatusCode::NOT_MODIFIED, described).into_response());
    }
    let picture = [
        (CONTENT_TYPE.as_str(), order.format.media_type()),
        ("x-image-width", side_px.as_str()),
        ("x-image-height", side_px.as_str()),
    ];
    Ok((described, picture, Body::from(ready.bytes)).into_response())
}
