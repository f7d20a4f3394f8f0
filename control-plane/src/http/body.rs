//! Request bodies: the size limit of each route, and the extractors that read them.

use super::error::Problem;
use super::json;
use crate::app::App;
use crate::plain_text;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use axum::http::StatusCode;
use axum::routing::MethodRouter;
use serde::de::DeserializeOwned;
use std::convert::Infallible;

/// Maximum size of a request body, in bytes, on routes that set no limit of their own.
pub const BODY_BYTES_DEFAULT: usize = 16 * 1024;

/// The body limit of a route, in bytes. The limit is an extension of the request, so that the text
/// of a 413 can name it.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimit(pub usize);

/// Gives a route a body limit of its own.
pub fn limited(route: MethodRouter<App>, bytes: usize) -> MethodRouter<App> {
    route.layer::<_, Infallible>(Extension(BodyLimit(bytes))).layer(DefaultBodyLimit::max(bytes))
}

/// A JSON object as the body, within the route's limit. It is read by the rules of [`json`], whose
/// refusals name the member that is wrong.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let bytes = read_body(request, app).await?;
        Ok(JsonBody(json::read(&bytes, &[])?))
    }
}

/// The body of a call from a render node. Members that may be absent may also be null. A NUL in a
/// text is replaced, where other bodies with one are refused: the service must learn the outcome of
/// a job however the node spells it.
#[derive(Debug, Clone, Copy, Default)]
pub struct NodeBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for NodeBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let bytes = read_any_body(request, app).await?;
        Ok(NodeBody(json::read_with_nulls(&plain_text::without_escaped_nul(&bytes))?))
    }
}

/// Returns the body's bytes. Refuses with 413 a body over the limit that [`limited`] set on the
/// route, and with 400 a body with a text that holds NUL: no name in the system contains NUL, and
/// PostgreSQL does not accept it in text.
pub async fn read_body(request: Request, app: &App) -> Result<Bytes, Problem> {
    let bytes = read_any_body(request, app).await?;
    match plain_text::escapes_nul(&bytes) {
        true => Err(json::nul_in(&bytes)),
        false => Ok(bytes),
    }
}

/// Like [`read_body`], without the check for NUL, for routes that store no text as it was sent, or
/// that replace NUL first. A text that is only looked up may hold any character.
pub async fn read_any_body(request: Request, app: &App) -> Result<Bytes, Problem> {
    let limit = request.extensions().get::<BodyLimit>().map_or(BODY_BYTES_DEFAULT, |limit| limit.0);
    Bytes::from_request(request, app).await.map_err(|rejection| {
        if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
            Problem::too_large(limit)
        } else {
            Problem::bad_request("body_unreadable", "The body could not be read to its end.")
        }
    })
}
