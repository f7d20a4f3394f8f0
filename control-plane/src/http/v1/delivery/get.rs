//! `GET` and `HEAD /api/v1/delivery/{token}`: the image of a signed URL, for anyone who has it.
//! Free. Query parameters are ignored.

use crate::app::App;
use crate::delivery::FramedImage;
use crate::delivery::urls::LoadRefusal;
use crate::http::delivery_problem::refused_address;
use crate::http::error::Problem;
use crate::http::picture_headers::{
    IMAGE_SOURCE, VEHICLE_LIKENESS, accepted, if_none_match, insert, insert_frame, send, unsized_body,
};
use crate::http::request_id::RequestId;
use crate::ledger::ImageSource;
use axum::body::Body;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cyclorama_core::Format;
use cyclorama_drawings::Likeness;

/// Maximum time for which browsers (this constant) and shared caches (the next one) may keep an
/// image, in seconds. An image is never cached for longer than its URL is valid.
const BROWSER_SECONDS_MAX: i64 = 300;
const SHARED_SECONDS_MAX: i64 = 3600;

/// The token in the URL. A token that is not text is a malformed one.
pub struct Token(String);

impl FromRequestParts<App> for Token {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let token = Path::<String>::from_request_parts(parts, app).await;
        token.map(|Path(token)| Token(token)).map_err(|_| refused_address(app, LoadRefusal::Invalid))
    }
}

/// Load a signed URL
///
/// Returns the image to anyone who has the URL, which codes call a delivery URL. Free. The image is
/// rendered at the first load, which may take up to two minutes: use a timeout of three.
#[utoipa::path(
    get, path = "/api/v1/delivery/{token}", tag = "Images", operation_id = "loadDelivery", security(()),
    params(
        ("token" = String, Path, description = "The token of the signed URL.", example = "AQAAAAFm"),
        ("If-None-Match" = Option<String>, Header, description = "`ETag`s of images that the client has. They are \
                                                                  compared weakly."),
    ),
    responses(
        (status = 200, description = "The image.",
         content((Vec<u8> = "image/png"), (Vec<u8> = "image/webp"), (Vec<u8> = "image/jpeg"), (Vec<u8> = "image/avif")),
         headers(
            ("ETag" = String, description = "Strong validator of these bytes."),
            ("Cache-Control" = String, description = "`public`, and never for longer than the URL is valid; `private, \
                                                      no-store` if loads are counted."),
            ("X-Image-Source" = String, description = "`generated` for a cold render, otherwise `cache`."),
            ("X-Image-Width" = i64, description = "Width of the image, in pixels."),
            ("X-Image-Height" = i64, description = "Height of the image, in pixels."),
            ("X-Image-Scale" = Option<f64>, description = "With `scale=true`: millimetres of the vehicle per pixel."),
            ("X-Vehicle-Likeness" = String, description = "How close the image is to the real vehicle: `generation` \
                                                           (the closest), `model`, `make` or `body`."),
         )),
        (status = 304, description = "The client already has these bytes; this does not count as a load."),
        (status = 403, description = "The URL is malformed or has expired, or the key that made it was revoked."),
        (status = 404, description = "The catalog no longer has the vehicle of this URL."),
        (status = 410, description = "The URL has been loaded as often as allowed, or is closed because its first load \
                                      failed."),
        (status = 500),
        (status = 502, description = "The render failed. If it was the first load, the credit was given back and the URL \
                                      is closed: create another one with a new `Idempotency-Key`."),
        (status = 503),
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

/// Check a signed URL
///
/// Says whether the URL can be loaded, without rendering and without using up a load. The
/// response has the headers of `GET` and no body. `ETag` is given if the image exists,
/// `Content-Length` if its bytes do.
#[utoipa::path(
    head, path = "/api/v1/delivery/{token}", tag = "Images", operation_id = "checkDelivery", security(()),
    params(
        ("token" = String, Path, description = "The token of the signed URL.", example = "AQAAAAFm"),
        ("If-None-Match" = Option<String>, Header, description = "`ETag`s of images that the client has. They are \
                                                                  compared weakly."),
    ),
    responses(
        (status = 200, description = "The URL can be loaded; `Content-Type` is the type that it will deliver."),
        (status = 304, description = "The client already has these bytes."),
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
        insert(&mut response, IMAGE_SOURCE, ImageSource::Cache.as_str());
    }
    Ok(response)
}

/// Adds `Vary: Accept` if the format was chosen by `Accept`.
fn vary(response: &mut Response, is_negotiated: bool) {
    if is_negotiated {
        insert(response, VARY, "Accept");
    }
}

fn describe(response: &mut Response, format: Format, framed: Option<FramedImage>, likeness: Likeness) {
    insert(response, CONTENT_TYPE, format.media_type());
    insert_frame(response, framed);
    insert(response, VEHICLE_LIKENESS, likeness.as_str());
}

/// Returns the value of `Cache-Control`. No cache keeps an image for longer than its URL is valid.
/// If loads are counted, nothing is cached, so that every load reaches the service.
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
