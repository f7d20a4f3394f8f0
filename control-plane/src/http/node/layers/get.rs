//! `GET /node/v1/layers/{secret}`: the layers for a leased paint job. The
//! secret in the URL is the permission.

use crate::app::App;
use crate::http::error::Problem;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

pub async fn get(State(app): State<App>, Path(secret): Path<String>) -> Result<impl IntoResponse, Problem> {
    let layers: Bytes = app.renders.layers_for(&secret).await?;
    Ok(([(CONTENT_TYPE, "application/octet-stream")], layers))
}
