//! An image, and the values in the headers of its answer.

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde::Serialize;

/// The values in the headers of an image's answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImageInfo {
    /// False if the image is still the one that `if_none_match` named. Then there are no bytes and
    /// no charge.
    pub modified: bool,
    pub request_id: String,
    pub media_type: Option<String>,
    pub width: Option<i64>,
    pub height: Option<i64>,
    /// Millimetres of the vehicle for a pixel; only if the image was requested with
    /// [`Scale::True`](super::Scale::True).
    pub scale: Option<f64>,
    pub etag: Option<String>,
    /// `cache` or `generated`.
    pub source: Option<String>,
    /// Likeness of the image to the real vehicle: `generation`, `model`, `make` or `body`, the
    /// closest first.
    pub likeness: Option<String>,
    /// The way in which make and model were read: `exact`, `alias` (another name), `trim` (a
    /// version was left out) or `prefix` (the beginning of one name).
    pub vehicle_match: Option<String>,
    /// Only present for requests with a key.
    pub credits_charged: Option<i64>,
    pub credits_remaining: Option<i64>,
    pub content_location: Option<String>,
}

impl ImageInfo {
    pub(crate) fn read(status: StatusCode, headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let number = |name: &str| text(name).and_then(|text| text.parse().ok());
        ImageInfo {
            modified: status != StatusCode::NOT_MODIFIED,
            request_id: text("x-request-id").unwrap_or_default(),
            media_type: text("content-type"),
            width: number("x-image-width"),
            height: number("x-image-height"),
            scale: text("x-image-scale").and_then(|text| text.parse().ok()),
            etag: text("etag"),
            source: text("x-image-source"),
            likeness: text("x-vehicle-likeness"),
            vehicle_match: text("x-vehicle-match"),
            credits_charged: number("x-credits-charged"),
            credits_remaining: number("x-credits-remaining"),
            content_location: text("content-location"),
        }
    }
}

/// An image with its bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct CarImage {
    pub info: ImageInfo,
    pub content: Bytes,
}
