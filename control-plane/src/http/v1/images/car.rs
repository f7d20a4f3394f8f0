//! `GET /api/v1/images/car`: one image, or its signed URL, for one credit.
//! `HEAD` describes the image, free.
//!
//! Every response to a known key carries the key's rate-limit window, refusals too: a request is
//! counted whatever its outcome.

use crate::accounts::Scope;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::delivery::tracking::without_tags;
use crate::delivery::urls::{Terms, UrlOrder};
use crate::delivery::{self, DeliveryOutcome, Endpoint, FramedImage, HeadAnswer, ImageRequest, Order, ResponseKind};
use crate::http::answers::vehicle_params::VehicleParams;
use crate::http::delivery_problem::{problem, vehicle_not_found};
use crate::http::error::Problem;
use crate::http::key_window::refuse;
use crate::http::openapi::requests::ImageQuery;
use crate::http::picture_headers::{
    CREDITS_CHARGED, CREDITS_REMAINING, IMAGE_SOURCE, VEHICLE_LIKENESS, VEHICLE_MATCH, accepted, if_none_match, insert,
    insert_frame, name_ignored, send, unsized_body,
};
use crate::http::request_id::RequestId;
use crate::ledger::{Credits, ImageSource};
use axum::Json;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_LOCATION, CONTENT_TYPE, ETAG, VARY};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use cyclorama_drawings::likeness;
use serde::Serialize;
use std::borrow::Cow;
use utoipa::ToSchema;

/// A parsed request: the order, and the canonical URL of its image.
struct CarImageQuery {
    order: Order,
    content_location: String,
    /// True if a signed URL is requested instead of the bytes.
    as_url: bool,
}

/// A signed URL in place of the image.
#[derive(Debug, Serialize, ToSchema)]
struct SignedImage {
    #[schema(format = Uri)]
    url: String,
    #[schema(format = DateTime)]
    expires_at: String,
    /// Maximum number of loads. With 0 the URL can be loaded any number of times until it expires.
    #[schema(minimum = 0, maximum = 1000)]
    max_uses: i64,
    vehicle: VehicleParams,
    /// How close the image is to the real vehicle.
    #[schema(schema_with = crate::http::openapi::requests::likeness)]
    likeness: &'static str,
    /// Width of the image, in pixels.
    #[schema(minimum = 1, maximum = 1024)]
    width: u32,
    /// Height of the image, in pixels.
    #[schema(minimum = 1, maximum = 1024)]
    height: u32,
    #[schema(schema_with = crate::http::openapi::requests::asked_format)]
    format: &'static str,
}

/// The cost of the signed URL.
#[derive(Debug, Serialize, ToSchema)]
struct ImageUrlBilling {
    credits_charged: i64,
    #[schema(minimum = 0)]
    credits_remaining: i64,
}

/// The JSON form of an image.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImageUrlResponse {
    data: SignedImage,
    billing: ImageUrlBilling,
    request_id: String,
}

/// Get an image
///
/// Returns the image's bytes for one credit. The image is rendered first if necessary, mostly in
/// seconds, at most in two minutes: use a timeout of three. With `response=url`, or with
/// `Accept: application/json` and no image type, returns a signed URL for the same credit. If
/// `If-None-Match` matches, the response is 304 and free.
#[utoipa::path(
    get, path = "/api/v1/images/car", tag = "Images", operation_id = "getCarImage",
    security(("bearer" = ["images:read"]), ("apiKey" = ["images:read"])),
    params(
        ImageQuery,
        ("If-None-Match" = Option<String>, Header, description = "`ETag`s of images that the client has. They are \
                                                                  compared weakly."),
        ("X-Request-Id" = Option<String>, Header,
         description = "Id of this request, which is sent back and stored for feedback: 1 to 128 of `A-Z a-z 0-9 . _ \
                        : -`. Any other value is replaced by an id of the service."),
    ),
    responses(
        (status = 200, description = "The image, or its signed URL as JSON.",
         content((ImageUrlResponse = "application/json"), (Vec<u8> = "image/png"), (Vec<u8> = "image/webp"), (Vec<u8> = "image/jpeg"),
                 (Vec<u8> = "image/avif")),
         headers(
            ("ETag" = Option<String>, description = "Strong validator of these bytes."),
            ("Content-Location" = Option<String>, description = "The canonical URL of the image."),
            ("Cache-Control" = String, description = "Always `private, no-store`."),
            ("X-Credits-Charged" = i64, description = "1 for an image or a signed URL."),
            ("X-Credits-Remaining" = i64, description = "The balance after the request."),
            ("X-Image-Source" = Option<String>, description = "`generated` for a cold render, otherwise `cache`. Both \
                                                               cost the same."),
            ("X-Image-Width" = Option<i64>, description = "Width of the image, in pixels."),
            ("X-Image-Height" = Option<i64>, description = "Height of the image, in pixels."),
            ("X-Image-Scale" = Option<f64>, description = "With `scale=true`: millimetres of the vehicle per pixel."),
            ("X-Vehicle-Likeness" = Option<String>, description = "How close the image is to the real vehicle: \
                                                                   `generation` (drawn for this generation from \
                                                                   measured proportions), `model` (drawn for the \
                                                                   model), `make` (by body class, size and era, with \
                                                                   the face of the make) or `body` (by body class, \
                                                                   size and era alone)."),
            ("X-Vehicle-Match" = Option<String>, description = "How the names were read: `exact`, `alias` (another \
                                                                name), `trim` (a trim level or version, which is \
                                                                ignored) or `prefix`."),
            ("X-Ignored-Parameters" = Option<String>, description = "Tracking parameters in the URL that were ignored \
                                                                     (`utm_source`, `fbclid` and similar ones)."),
         )),
        (status = 304, description = "The client already has these bytes; free."),
        (status = 400), (status = 401), (status = 402), (status = 403), (status = 404), (status = 429), (status = 500),
        (status = 502), (status = 503),
    )
)]
pub async fn get(
    State(app): State<App>,
    caller: Caller,
    request_id: RequestId,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let (pairs, tags) = without_tags(query.as_deref().unwrap_or_default());
    let mut response = match parse(&app, &caller, &pairs, &headers).await {
        Ok(query) if query.as_url => signed_address(&app, &caller, request_id, &query.order).await,
        Ok(query) => picture(&app, &caller, request_id, &query, &headers).await,
        Err(problem) => refuse(&app, &caller, problem).await,
    };
    name_ignored(&mut response, &tags);
    response
}

async fn picture(
    app: &App,
    caller: &Caller,
    request_id: RequestId,
    query: &CarImageQuery,
    headers: &HeaderMap,
) -> Response {
    let if_none_match = if_none_match(headers);
    let wanted = delivery::KeyedRequest {
        if_none_match: if_none_match.as_deref(),
        ..delivery::KeyedRequest::for_order(&query.order)
    };
    match app.deliveries.deliver(caller, &request_id.0, wanted).await {
        Ok(DeliveryOutcome::Image { ready, source, remaining }) => {
            let mut response = described(query, Some(&ready.etag), Credits::PER_PICTURE, remaining, Some(ready.framed));
            insert(&mut response, IMAGE_SOURCE, source.as_str());
            send(&mut response, ready);
            response
        }
        Ok(DeliveryOutcome::NotModified { etag, remaining }) => not_modified(query, &etag, remaining),
        Err(error) => problem(app, error).into_response(),
    }
}

/// Describe an image
///
/// Returns the headers of `GET` without a body. Free, and never renders. `ETag` is given if the
/// image exists, `Content-Length` if its bytes do. For a request for a signed URL, returns the
/// headers of that response; no URL is created.
#[utoipa::path(
    head, path = "/api/v1/images/car", tag = "Images", operation_id = "headCarImage",
    security(("bearer" = ["images:read"]), ("apiKey" = ["images:read"])),
    params(ImageQuery, ("If-None-Match" = Option<String>, Header, description = "`ETag`s of images that the client \
                                                                                 has.")),
    responses(
        (status = 200, description = "The image can be delivered."),
        (status = 304, description = "The client already has these bytes."),
        (status = 400), (status = 401), (status = 403), (status = 404), (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn head(State(app): State<App>, caller: Caller, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let (pairs, tags) = without_tags(query.as_deref().unwrap_or_default());
    let mut response = match parse(&app, &caller, &pairs, &headers).await {
        Ok(query) => shown(&app, &caller, &query, &headers).await,
        Err(problem) => refuse(&app, &caller, problem).await,
    };
    name_ignored(&mut response, &tags);
    response
}

async fn shown(app: &App, caller: &Caller, query: &CarImageQuery, headers: &HeaderMap) -> Response {
    // A signed URL has no validator, so `If-None-Match` is ignored.
    let if_none_match = if_none_match(headers).filter(|_| !query.as_url);
    match app.deliveries.show(caller, &query.order, if_none_match.as_deref()).await {
        Ok(HeadAnswer { remaining, .. }) if query.as_url => {
            let mut response = Response::new(unsized_body());
            insert(&mut response, CONTENT_TYPE, "application/json");
            billed(&mut response, Credits(0), remaining);
            response
        }
        Ok(HeadAnswer { etag: Some(etag), not_modified: true, remaining, .. }) => not_modified(query, &etag, remaining),
        Ok(HeadAnswer { framed, etag, is_rendered, length, remaining, .. }) => {
            let mut response = described(query, etag.as_deref(), Credits(0), remaining, framed);
            *response.body_mut() = unsized_body();
            if let Some(length) = length {
                insert(&mut response, CONTENT_LENGTH, &length.to_string());
            }
            if is_rendered {
                insert(&mut response, IMAGE_SOURCE, ImageSource::Cache.as_str());
            }
            response
        }
        Err(error) => problem(app, error).into_response(),
    }
}

/// Makes and charges a signed URL of the image. The image is rendered when the URL is first loaded.
async fn signed_address(app: &App, caller: &Caller, request_id: RequestId, order: &Order) -> Response {
    let terms = Terms::usual(&app.config.delivery);
    let wish = UrlOrder { request_id: &request_id.0, orders: std::slice::from_ref(order), terms };
    let (minted, remaining) = match app.mint.make_unnamed(caller, wish).await {
        Ok(made) => made,
        Err(error) => return problem(app, error).into_response(),
    };
    let charged = minted.price();
    let data = SignedImage {
        url: minted.urls.first().map(|minted| minted.url.clone()).unwrap_or_default(),
        expires_at: minted.expires_at.rfc3339(),
        max_uses: terms.max_uses,
        vehicle: VehicleParams::from(order),
        likeness: likeness(&order.vehicle).as_str(),
        width: order.frame.size_px().0,
        height: order.frame.size_px().1,
        format: order.asked_format.as_str(),
    };
    let billing = ImageUrlBilling { credits_charged: charged.0, credits_remaining: remaining.0 };
    let mut response = Json(ImageUrlResponse { data, billing, request_id: request_id.0 }).into_response();
    billed(&mut response, charged, remaining);
    response
}

/// Reads the request as far as that is possible without using the caller's account.
async fn parse(
    app: &App,
    caller: &Caller,
    pairs: &[(String, String)],
    headers: &HeaderMap,
) -> Result<CarImageQuery, Problem> {
    caller.require(Scope::ImagesRead)?;
    let request = ImageRequest::parse(pairs, Endpoint::Image)
        .map_err(|wrong| Problem::bad_parameter(&wrong.parameter, wrong.detail))?;
    let order = Order::find(&app.catalog.now(), &app.missing_vehicles, &request).map_err(vehicle_not_found)?;
    let query = request.canonical_query(&order.variant);
    let as_url = request.response == ResponseKind::Url || wants_json(headers);
    let order = match as_url {
        true => order,
        false => {
            let negotiated = app.pictures.negotiated(Cow::Owned(order), &accepted(headers)).await;
            negotiated.map_err(|error| problem(app, error))?.into_owned()
        }
    };
    Ok(CarImageQuery { content_location: format!("/api/v1/images/car?{query}"), order, as_url })
}

/// True if the client names JSON and accepts no image. Wildcards accept images.
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

fn not_modified(query: &CarImageQuery, etag: &str, remaining: Credits) -> Response {
    let mut response = described(query, Some(etag), Credits(0), remaining, None);
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    // A 304 sends no bytes, so it describes nothing but the validator (RFC 9110, section 15.4.5).
    for name in [CONTENT_TYPE, VEHICLE_LIKENESS, VEHICLE_MATCH] {
        response.headers_mut().remove(name);
    }
    response
}

/// Adds the headers of every successful response of this endpoint.
fn billed(response: &mut Response, charged: Credits, remaining: Credits) {
    insert(response, CACHE_CONTROL, "private, no-store");
    insert(response, VARY, "Accept, Authorization, X-Api-Key");
    insert(response, CREDITS_CHARGED, &charged.to_string());
    insert(response, CREDITS_REMAINING, &remaining.to_string());
}

/// Returns a response with everything that is known of the image without its bytes.
fn described(
    query: &CarImageQuery,
    etag: Option<&str>,
    charged: Credits,
    remaining: Credits,
    framed: Option<FramedImage>,
) -> Response {
    let mut response = Response::new(Body::empty());
    insert(&mut response, CONTENT_TYPE, query.order.format.media_type());
    insert(&mut response, CONTENT_LOCATION, &query.content_location);
    billed(&mut response, charged, remaining);
    insert_frame(&mut response, framed);
    insert(&mut response, VEHICLE_LIKENESS, likeness(&query.order.vehicle).as_str());
    insert(&mut response, VEHICLE_MATCH, query.order.matched.as_str());
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
