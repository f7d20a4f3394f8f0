//! Bodies of requests: how large they may be, and reading them.

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

/// Bodies of routes that say nothing else.
pub const BODY_BYTES_DEFAULT: usize = 16 * 1024;

/// The body limit of a route, for the text of its 413.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimit(pub usize);

/// Gives a route a body limit of its own.
pub fn limited(route: MethodRouter<App>, bytes: usize) -> MethodRouter<App> {
    route.layer::<_, Infallible>(Extension(BodyLimit(bytes))).layer(DefaultBodyLimit::max(bytes))
}

/// A JSON object as the body, within the route's limit; read by the rules of [`json`], which name what is wrong.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let bytes = read_body(request, app).await?;
        Ok(JsonBody(json::read(&bytes, &[])?))
    }
}

/// The body of a node's call: members that may be absent may be null as well. A NUL in a text is replaced where others
/// are refused: what became of a job is to be known however its node puts it.
#[derive(Debug, Clone, Copy, Default)]
pub struct NodeBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for NodeBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let bytes = read_any_body(request, app).await?;
        Ok(NodeBody(json::read_with_nulls(&plain_text::without_escaped_nul(&bytes))?))
    }
}

/// The body's bytes; 413 over the limit that `body_limit` set on the route, 400 for a text that holds NUL: no name of anything does, and
/// PostgreSQL takes it for no text.
pub async fn read_body(request: Request, app: &App) -> Result<Bytes, Problem> {
    let bytes = read_any_body(request, app).await?;
    match plain_text::escapes_nul(&bytes) {
        true => Err(json::nul_in(&bytes)),
        false => Ok(bytes),
    }
}

/// The same for routes that keep no text as it is sent, or leave NUL out of it: what is only looked up may hold anything.
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
