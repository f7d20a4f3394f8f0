//! `GET` and `HEAD /api/v1/delivery/{token}`: the picture of a signed address, for whoever has it. Free. Its parameters are not looked at.

use crate::app::App;
use crate::delivery::Framed;
use crate::delivery::urls::Refused;
use crate::http::delivery_problem::refused_address;
use crate::http::error::Problem;
use crate::http::picture_headers::{
    IMAGE_SOURCE, VEHICLE_LIKENESS, accepted, if_none_match, insert, insert_frame, send, unsized_body,
};
use crate::http::request_id::RequestId;
use crate::ledger::Source;
use axum::body::Body;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cyclorama_core::Format;
use cyclorama_drawings::Likeness;

/// How long an address may be cached: no longer than it lives, and no longer than these.
const BROWSER_SECONDS_MAX: i64 = 300;
const SHARED_SECONDS_MAX: i64 = 3600;

/// The token as it stands in the address. One that is no text is a malformed one.
pub struct Token(String);

impl FromRequestParts<App> for Token {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let token = Path::<String>::from_request_parts(parts, app).await;
        token.map(|Path(token)| Token(token)).map_err(|_| refused_address(app, Refused::Invalid))
    }
}

/// Load a signed address
///
/// The picture, for whoever has the address: free. Rendered at the first load, which may take up to two minutes.
#[utoipa::path(
    get, path = "/api/v1/delivery/{token}", tag = "Images", operation_id = "loadDelivery", security(()),
    params(
        ("token" = String, Path, description = "As handed out in a signed address.", example = "AQAAAAFm"),
        ("If-None-Match" = Option<String>, Header, description = "Validators of pictures at hand; compared weakly."),
    ),
    responses(
        (status = 200, description = "The picture.",
         content((Vec<u8> = "image/png"), (Vec<u8> = "image/webp"), (Vec<u8> = "image/jpeg")),
         headers(
            ("ETag" = String, description = "Strong validator of these bytes."),
            ("Cache-Control" = String, description = "Public and never longer than the address lives; `private, no-store` where loads are counted."),
            ("X-Image-Source" = String, description = "`cache`, or `generated` at a cold render."),
            ("X-Image-Width" = i64, description = "In pixels."),
            ("X-Image-Height" = i64, description = "In pixels."),
         )),
        (status = 304, description = "The client has these bytes; counts as no load."),
        (status = 403, description = "Malformed, expired, or made by a key that was revoked."),
        (status = 404), (status = 410, description = "Loaded as often as it may be, or given up when its first load failed."),
        (status = 500), (status = 502), (status = 503),
    )
)]
pub async fn get(
    State(app): State<App>,
    Token(token): Token,
    request_id: RequestId,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let loaded =
        app.addresses.load(&token, &request_id.0, if_none_match(&headers).as_deref(), &accepted(&headers)).await;
    let loaded = loaded.map_err(|no| refused_address(&app, no))?;
    let mut response = Response::new(Body::empty());
    insert(&mut response, ETAG, &loaded.etag);
    insert(&mut response, CACHE_CONTROL, &cache_control(loaded.shareable_seconds));
    vary(&mut response, loaded.is_negotiated);
    match loaded.image {
        None => *response.status_mut() = StatusCode::NOT_MODIFIED,
        Some((ready, source)) => {
            describe(&mut response, loaded.format, loaded.framed, loaded.likeness);
            insert(&mut response, IMAGE_SOURCE, source.as_str());
            send(&mut response, ready);
        }
    }
    Ok(response)
}

/// Check a signed address
///
/// Whether it can be loaded, without rendering and without using a load up: what `GET` would say, without the bytes.
/// `ETag` is given when the picture exists, `Content-Length` when its bytes do.
#[utoipa::path(
    head, path = "/api/v1/delivery/{token}", tag = "Images", operation_id = "checkDelivery", security(()),
    params(
        ("token" = String, Path, description = "As handed out in a signed address.", example = "AQAAAAFm"),
        ("If-None-Match" = Option<String>, Header, description = "Validators of pictures at hand; compared weakly."),
    ),
    responses(
        (status = 200, description = "It can be loaded; `Content-Type` is what it will serve."),
        (status = 304, description = "The client has these bytes."),
        (status = 403), (status = 404), (status = 410), (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn head(State(app): State<App>, Token(token): Token, headers: HeaderMap) -> Result<Response, Problem> {
    let promised = app.addresses.promise(&token, if_none_match(&headers).as_deref(), &accepted(&headers)).await;
    let promised = promised.map_err(|no| refused_address(&app, no))?;
    let mut response = Response::new(unsized_body());
    insert(&mut response, CACHE_CONTROL, &cache_control(promised.shareable_seconds));
    vary(&mut response, promised.is_negotiated);
    if let Some(etag) = &promised.etag {
        insert(&mut response, ETAG, etag);
    }
    if promised.not_modified {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(response);
    }
    describe(&mut response, promised.format, promised.framed, promised.likeness);
    if let Some(length) = promised.length {
        insert(&mut response, CONTENT_LENGTH, &length.to_string());
    }
    if promised.is_rendered {
        insert(&mut response, IMAGE_SOURCE, Source::Cache.as_str());
    }
    Ok(response)
}

/// Tells caches that the answer depends on `Accept`, where the format was chosen by it.
fn vary(response: &mut Response, is_negotiated: bool) {
    if is_negotiated {
        insert(response, VARY, "Accept");
    }
}

fn describe(response: &mut Response, format: Format, framed: Option<Framed>, likeness: Likeness) {
    insert(response, CONTENT_TYPE, format.media_type());
    insert_frame(response, framed);
    insert(response, VEHICLE_LIKENESS, likeness.as_str());
}

/// Nothing outlives the address; where loads are counted every one of them comes here.
fn cache_control(shareable_seconds: Option<i64>) -> String {
    match shareable_seconds {
        Some(left) => {
            format!("public, max-age={}, s-maxage={}", left.min(BROWSER_SECONDS_MAX), left.min(SHARED_SECONDS_MAX))
        }
        None => "private, no-store".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_never_outlive_the_address() {
        for (left, expected) in [
            (Some(7200), "public, max-age=300, s-maxage=3600"),
            (Some(1000), "public, max-age=300, s-maxage=1000"),
            (Some(60), "public, max-age=60, s-maxage=60"),
            (Some(0), "public, max-age=0, s-maxage=0"),
            (None, "private, no-store"),
        ] {
            assert_eq!(cache_control(left), expected);
        }
    }
}
