//! `PUT /node/v1/uploads/{secret}/{name}`: takes one object into the lease's staging area. The
//! secret in the URL is the permission.

use crate::app::App;
use crate::http::error::Problem;
use axum::body::{Body, HttpBody};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use cyclorama_core::wire::ObjectName;

pub async fn put(
    State(app): State<App>,
    Path((secret, name)): Path<(String, String)>,
    body: Body,
) -> Result<StatusCode, Problem> {
    // Checked before the body is read: an unknown URL must not cost memory.
    let upload = app.renders.open_upload(&secret, &ObjectName::from(&*name)).await?;
    let limit = upload.bytes_max;
    if body.size_hint().lower() > limit as u64 {
        return Err(Problem::too_large(limit));
    }
    app.renders.take_upload(&upload, body.into_data_stream()).await?;
    Ok(StatusCode::NO_CONTENT)
}
