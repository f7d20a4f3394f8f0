//! `GET /console/pictures/{render_id}`: a small image of a render as it is delivered. `/candidate`
//! gives the image of the candidate that waits beside it.

use super::session::ConsoleOperator;
use crate::app::App;
use crate::delivery::{ImageRequest, Order};
use crate::http::delivery_problem::problem;
use crate::http::error::Problem;
use crate::objects::{ObjectError, keys};
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG};
use axum::response::{IntoResponse, Response};
use cyclorama_core::{Format, Framing};

const SIDE_PX: u32 = 512;

pub async fn get(
    State(app): State<App>,
    _: ConsoleOperator,
    Path(render_id): Path<String>,
) -> Result<Response, Problem> {
    let unknown = || Problem::not_found("unknown_render", "There is no such render, or it has no image yet.");
    // Only a UUID is looked up, because PostgreSQL does not accept some other strings as text.
    uuid::Uuid::parse_str(&render_id).map_err(|_| unknown())?;
    let render = app.renders.inspect(&render_id).await?.ok_or_else(unknown)?;
    let key = render.vehicle_key.parse().map_err(|_| unknown())?;
    let view = render.view.parse().map_err(|_| unknown())?;
    let paint = render.colour.parse().map_err(|_| unknown())?;
    let request = ImageRequest {
        format: Format::Webp.into(),
        frame: Framing::square(SIDE_PX),
        ..ImageRequest::of_stored(&key, view, paint)
    };
    let order = Order::stored(&app.catalog.now(), &key, &request).ok_or_else(unknown)?;
    let ready =
        app.pictures.ready_if_rendered(&order).await.map_err(|error| problem(&app, error))?.ok_or_else(unknown)?;
    let headers =
        [(CONTENT_TYPE, Format::Webp.media_type()), (CACHE_CONTROL, "private, no-cache"), (ETAG, &ready.etag)];
    Ok((headers, ready.bytes).into_response())
}

pub async fn candidate(
    State(app): State<App>,
    _: ConsoleOperator,
    Path(render_id): Path<String>,
) -> Result<Response, Problem> {
    let unknown = || Problem::not_found("unknown_candidate", "There is no such candidate.");
    uuid::Uuid::parse_str(&render_id).map_err(|_| unknown())?;
    let candidate = app.renders.candidate(&render_id).await?.ok_or_else(unknown)?;
    // Every size preset was uploaded with the candidate.
    let key = keys::derived(&candidate.master_sha256, SIDE_PX, SIDE_PX, Format::Webp).map_err(|_| unknown())?;
    let bytes = match app.store.get(&key).await {
        Ok(bytes) => bytes,
        Err(ObjectError::Missing { .. }) => return Err(unknown()),
        Err(error) => return Err(error.into()),
    };
    let headers = [(CONTENT_TYPE, Format::Webp.media_type()), (CACHE_CONTROL, "private, no-cache")];
    Ok((headers, bytes).into_response())
}
