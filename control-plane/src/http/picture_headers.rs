//! Headers and bodies of responses with images.

use super::sendfile::FileBody;
use crate::delivery::{FramedImage, ReadyImage};
use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use std::convert::Infallible;

pub const CREDITS_CHARGED: HeaderName = HeaderName::from_static("x-credits-charged");
pub const CREDITS_REMAINING: HeaderName = HeaderName::from_static("x-credits-remaining");
pub const IGNORED_PARAMETERS: HeaderName = HeaderName::from_static("x-ignored-parameters");
pub const IMAGE_SOURCE: HeaderName = HeaderName::from_static("x-image-source");
/// Header with the scale of the image, in millimetres of the vehicle per pixel.
pub const IMAGE_SCALE: HeaderName = HeaderName::from_static("x-image-scale");
pub const IMAGE_WIDTH: HeaderName = HeaderName::from_static("x-image-width");
pub const IMAGE_HEIGHT: HeaderName = HeaderName::from_static("x-image-height");
pub const VEHICLE_LIKENESS: HeaderName = HeaderName::from_static("x-vehicle-likeness");
/// Header that says how the words of the request were read as a name of the catalog.
pub const VEHICLE_MATCH: HeaderName = HeaderName::from_static("x-vehicle-match");

/// Returns all values of `If-None-Match` as one list.
pub fn if_none_match(headers: &HeaderMap) -> Option<String> {
    let values: Vec<&str> = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok()).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// Returns all values of `Accept` as one list, empty if there is none.
pub fn accepted(headers: &HeaderMap) -> String {
    let values: Vec<&str> = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    values.join(",")
}

/// Sets a header. The values are made by the service from slugs, digits and
/// digests, so they are always valid.
pub fn insert(response: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// Names the parameters of the URL that were ignored.
pub fn name_ignored(response: &mut Response, tags: &[String]) {
    if !tags.is_empty() {
        insert(response, IGNORED_PARAMETERS, &tags.join(", "));
    }
}

/// Puts the image into the response. Large images are sent from their file.
pub fn send(response: &mut Response, ready: ReadyImage) {
    if let Some(file) = ready.file {
        response.extensions_mut().insert(FileBody { file, bytes: ready.bytes.clone() });
    }
    *response.body_mut() = Body::from(ready.bytes);
}

/// Returns the body of a response to `HEAD`. It is empty, but it states no length: the length would
/// be that of the image, which may not exist yet, and not 0.
pub fn unsized_body() -> Body {
    Body::from_stream(futures::stream::empty::<Result<Bytes, Infallible>>())
}

/// Adds the size and scale of an image, as far as they are known.
pub fn insert_frame(response: &mut Response, framed: Option<FramedImage>) {
    let Some(FramedImage { width, height, scale_mm_per_px }) = framed else { return };
    insert(response, IMAGE_WIDTH, &width.to_string());
    insert(response, IMAGE_HEIGHT, &height.to_string());
    if let Some(scale) = scale_mm_per_px {
        insert(response, IMAGE_SCALE, &format!("{scale:.3}"));
    }
}
