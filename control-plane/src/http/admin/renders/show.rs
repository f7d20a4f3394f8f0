//! `GET /admin/renders/{render_id}`: a render with its receipt.

use crate::app::App;
use crate::clock::UnixMs;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::renders::Inspection;
use axum::Json;
use axum::extract::{Path, State};
use cyclorama_core::wire::{Receipt, Unparsed};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct RenderView {
    render_id: String,
    vehicle: String,
    view: String,
    color: String,
    /// lapsed (expired), wanted, done or failed.
    state: &'static str,
    changed_at: String,
    revision: Option<i64>,
    master_sha256: Option<String>,
    failure_kind: Option<String>,
    failure_detail: Option<String>,
    /// The job that made the image.
    job_id: Option<String>,
    node_id: Option<String>,
    attempt: Option<i64>,
    pipeline: Option<String>,
    /// The receipt as the node sent it: model digests, seed, steps, device, durations of stages.
    receipt: Unparsed<Receipt>,
}

pub async fn show(
    State(app): State<App>,
    _: Operator,
    Path(render_id): Path<String>,
) -> Result<Json<RenderView>, Problem> {
    let render = app.renders.inspect(&render_id).await?;
    let render =
        render.ok_or_else(|| Problem::not_found("unknown_render", format!("There is no render {render_id}.")))?;
    Ok(Json(render.into()))
}

impl From<Inspection> for RenderView {
    fn from(render: Inspection) -> Self {
        RenderView {
            render_id: render.id,
            vehicle: render.vehicle_key,
            view: render.view,
            color: render.colour,
            state: render.state.as_str(),
            changed_at: UnixMs(render.changed_at_ms).rfc3339(),
            revision: render.revision,
            master_sha256: render.master_sha256,
            failure_kind: render.failure_kind,
            failure_detail: render.failure_detail,
            job_id: render.job_id,
            node_id: render.node_id,
            attempt: render.attempt,
            pipeline: render.pipeline,
            receipt: render.receipt,
        }
    }
}
