//! `GET /admin/renders/flagged`, `POST /admin/renders/{render_id}/approve`, `/rerender`,
//! `/candidates` and `/candidates/{revision}/accept` and `/reject`: the review of renders.

use crate::app::App;
use crate::clock::UnixMs;
use crate::http::answers::render_review::{self, Approval, Rerendering, ReviewDecision};
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::renders::FlaggedRevision;
use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;

/// Maximum number of flagged renders in a response. The rest follows when these have been reviewed.
const FLAGGED_MAX: i64 = 200;

#[derive(Debug, Serialize)]
pub struct FlaggedRender {
    #[serde(flatten)]
    render: FlaggedRevision,
    flagged_at: String,
}

#[derive(Debug, Serialize)]
pub struct FlaggedRenders {
    /// The renders that have waited longest come first.
    flagged: Vec<FlaggedRender>,
}

pub async fn flagged(State(app): State<App>, _: Operator) -> Result<Json<FlaggedRenders>, Problem> {
    let flagged = app.renders.flagged(FLAGGED_MAX).await?;
    let shown = |render: FlaggedRevision| FlaggedRender { flagged_at: UnixMs(render.flagged_at_ms).rfc3339(), render };
    Ok(Json(FlaggedRenders { flagged: flagged.into_iter().map(shown).collect() }))
}

pub async fn approve(
    State(app): State<App>,
    _: Operator,
    Path(render_id): Path<String>,
) -> Result<Json<Approval>, Problem> {
    render_review::approve(&app, render_id).await.map(Json)
}

pub async fn rerender(
    State(app): State<App>,
    _: Operator,
    Path(render_id): Path<String>,
) -> Result<Json<Rerendering>, Problem> {
    render_review::rerender(&app, render_id).await.map(Json)
}

/// Orders a new revision as a candidate: the delivered image stays until the candidate is accepted.
pub async fn candidate(
    State(app): State<App>,
    _: Operator,
    Path(render_id): Path<String>,
) -> Result<Json<Rerendering>, Problem> {
    render_review::candidate(&app, render_id).await.map(Json)
}

/// Accepts a candidate, which replaces the delivered image in every paint.
/// Repeating the call changes nothing.
pub async fn accept(
    State(app): State<App>,
    _: Operator,
    Path((render_id, revision)): Path<(String, i64)>,
) -> Result<Json<ReviewDecision>, Problem> {
    render_review::accept(&app, render_id, revision).await.map(Json)
}

/// Rejects a candidate. The delivered image stays, and is approved.
/// Repeating the call changes nothing.
pub async fn reject(
    State(app): State<App>,
    _: Operator,
    Path((render_id, revision)): Path<(String, i64)>,
) -> Result<Json<ReviewDecision>, Problem> {
    render_review::reject(&app, render_id, revision).await.map(Json)
}
