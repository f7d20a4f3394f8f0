//! Responses that are the same for everybody and change only with a release: they state how long
//! they may be cached, and a client that has the current one gets 304.

use crate::delivery::{etag_matches, etag_of_bytes};
use crate::http::picture_headers::if_none_match;
use crate::http::request_id::RequestId;
use axum::Json;
use axum::http::header::{CACHE_CONTROL, ETAG};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

pub const HOUR: &str = "public, max-age=3600";
pub const DAY: &str = "public, max-age=86400";

/// Returns `data` with the id of the request beside it, or 304.
pub fn answer<T: Serialize>(data: T, kept_for: &'static str, request_id: &RequestId, headers: &HeaderMap) -> Response {
    #[derive(Serialize)]
    struct DataEnvelope<'a, T> {
        data: T,
        request_id: &'a str,
    }
    let text = serde_json::to_vec(&data).unwrap_or_default();
    let tag = etag_of_bytes(&text);
    // The bytes differ by the request's id, so the validator is a weak one.
    let validators = [(CACHE_CONTROL, kept_for.to_owned()), (ETAG, format!("W/{tag}"))];
    match if_none_match(headers) {
        Some(known) if etag_matches(&known, &tag) => (StatusCode::NOT_MODIFIED, validators).into_response(),
        _ => (validators, Json(DataEnvelope { data, request_id: &request_id.0 })).into_response(),
    }
}
