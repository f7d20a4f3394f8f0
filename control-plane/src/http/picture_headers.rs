//! What answers with pictures say of them, and how their bytes are sent.

use super::sendfile::FileBody;
use crate::delivery::{Framed, Ready};
use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use std::convert::Infallible;

pub const CREDITS_CHARGED: HeaderName = HeaderName::from_static("x-credits-charged");
pub const CREDITS_REMAINING: HeaderName = HeaderName::from_static("x-credits-remaining");
pub const IGNORED_PARAMETERS: HeaderName = HeaderName::from_static("x-ignored-parameters");
pub const IMAGE_SOURCE: HeaderName = HeaderName::from_static("x-image-source");
/// Millimetres of the vehicle for a pixel of the picture.
pub const IMAGE_SCALE: HeaderName = HeaderName::from_static("x-image-scale");
pub const IMAGE_WIDTH: HeaderName = HeaderName::from_static("x-image-width");
pub const IMAGE_HEIGHT: HeaderName = HeaderName::from_static("x-image-height");
pub const VEHICLE_LIKENESS: HeaderName = HeaderName::from_static("x-vehicle-likeness");
/// How the words of the request were read as a name of the catalog.
pub const VEHICLE_MATCH: HeaderName = HeaderName::from_static("x-vehicle-match");

/// All values of the header as one list.
pub fn if_none_match(headers: &HeaderMap) -> Option<String> {
    let values: Vec<&str> = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok()).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// All values of `Accept` as one list; empty where there is none.
pub fn accepted(headers: &HeaderMap) -> String {
    let values: Vec<&str> = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    values.join(",")
}

/// Values are made here of slugs, digits and digests: always valid.
pub fn insert(response: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// Says which parameters of the address were not looked at.
pub fn name_ignored(response: &mut Response, tags: &[String]) {
    if !tags.is_empty() {
        insert(response, IGNORED_PARAMETERS, &tags.join(", "));
    }
}

/// Puts the picture into the answer: large ones from their file.
pub fn send(response: &mut Response, ready: Ready) {
    if let Some(file) = ready.file {
        response.extensions_mut().insert(FileBody { file, bytes: ready.bytes.clone() });
    }
    *response.body_mut() = Body::from(ready.bytes);
}

/// The body of an answer to `HEAD`, which has none: its length is the picture's, which may not exist yet, and not 0.
pub fn unsized_body() -> Body {
    Body::from_stream(futures::stream::empty::<Result<Bytes, Infallible>>())
}

/// Size and scale of a picture, as far as they are known.
pub fn insert_frame(response: &mut Response, framed: Option<Framed>) {
    let Some(Framed { width, height, scale_mm_per_px }) = framed else { return };
    insert(response, IMAGE_WIDTH, &width.to_string());
    insert(response, IMAGE_HEIGHT, &height.to_string());
    if let Some(scale) = scale_mm_per_px {
        insert(response, IMAGE_SCALE, &format!("{scale:.3}"));
    }
}
