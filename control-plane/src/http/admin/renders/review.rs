//! `GET /admin/renders/flagged`, `POST /admin/renders/{render_id}/approve`, `/rerender`, `/candidates` and
//! `/candidates/{revision}/accept` and `/reject`

use crate::app::App;
use crate::clock::UnixMs;
use crate::http::answers::render_review::{self, Approved, Decided, Rerendering};
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::renders::Flagged;
use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;

/// The rest follows when these are dealt with.
const FLAGGED_MAX: i64 = 200;

#[derive(Debug, Serialize)]
pub struct FlaggedRender {
    #[serde(flatten)]
    render: Flagged,
    flagged_at: String,
}

#[derive(Debug, Serialize)]
pub struct FlaggedRenders {
    /// Those that wait longest first.
    flagged: Vec<FlaggedRender>,
}

pub async fn flagged(State(app): State<App>, _: Operator) -> Result<Json<FlaggedRenders>, Problem> {
    let flagged = app.renders.flagged(FLAGGED_MAX).await?;
    let shown = |render: Flagged| FlaggedRender { flagged_at: UnixMs(render.flagged_at_ms).rfc3339(), render };
    Ok(Json(FlaggedRenders { flagged: flagged.into_iter().map(shown).collect() }))
}

pub async fn approve(
    State(app): State<App>,
    _: Operator,
    Path(render_id): Path<String>,
) -> Result<Json<Approved>, Problem> {
    render_review::approve(&app, render_id).await.map(Json)
}

pub async fn rerender(
    State(app): State<App>,
    _: Operator,
    Path(render_id): Path<String>,
) -> Result<Json<Rerendering>, Problem> {
    render_review::rerender(&app, render_id).await.map(Json)
}

/// Renders anew to be looked at: what is served stays until the candidate is accepted.
pub async fn candidate(
    State(app): State<App>,
    _: Operator,
    Path(render_id): Path<String>,
) -> Result<Json<Rerendering>, Problem> {
    render_review::candidate(&app, render_id).await.map(Json)
}

/// The candidate takes the place of what is served, in every colour. Repeating it changes nothing.
pub async fn accept(
    State(app): State<App>,
    _: Operator,
    Path((render_id, revision)): Path<(String, i64)>,
) -> Result<Json<Decided>, Problem> {
    render_review::accept(&app, render_id, revision).await.map(Json)
}

/// What is served stays, and is approved. Repeating it changes nothing.
pub async fn reject(
    State(app): State<App>,
    _: Operator,
    Path((render_id, revision)): Path<(String, i64)>,
) -> Result<Json<Decided>, Problem> {
    render_review::reject(&app, render_id, revision).await.map(Json)
}
