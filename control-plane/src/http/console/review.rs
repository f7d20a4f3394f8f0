//! `POST /console/renders/{render_id}/approve`, `/rerender`, `/candidates` and the actions on a
//! candidate. Each does the same as its counterpart of the JSON API under `/admin/renders`.

use super::session::{ConsoleForm, ConsoleOperator};
use crate::app::App;
use crate::http::answers::render_review;
use crate::http::error::Problem;
use axum::extract::{Path, State};
use axum::response::Redirect;

pub async fn approve(
    State(app): State<App>,
    _: ConsoleOperator,
    Path(render_id): Path<String>,
    _: ConsoleForm,
) -> Result<Redirect, Problem> {
    render_review::approve(&app, render_id).await.map(|_| Redirect::to("/console"))
}

pub async fn rerender(
    State(app): State<App>,
    _: ConsoleOperator,
    Path(render_id): Path<String>,
    _: ConsoleForm,
) -> Result<Redirect, Problem> {
    render_review::rerender(&app, render_id).await.map(|_| Redirect::to("/console"))
}

pub async fn candidate(
    State(app): State<App>,
    _: ConsoleOperator,
    Path(render_id): Path<String>,
    _: ConsoleForm,
) -> Result<Redirect, Problem> {
    render_review::candidate(&app, render_id).await.map(|_| Redirect::to("/console"))
}

pub async fn accept(
    State(app): State<App>,
    _: ConsoleOperator,
    Path((render_id, revision)): Path<(String, i64)>,
    _: ConsoleForm,
) -> Result<Redirect, Problem> {
    render_review::accept(&app, render_id, revision).await.map(|_| Redirect::to("/console"))
}

pub async fn reject(
    State(app): State<App>,
    _: ConsoleOperator,
    Path((render_id, revision)): Path<(String, i64)>,
    _: ConsoleForm,
) -> Result<Redirect, Problem> {
    render_review::reject(&app, render_id, revision).await.map(|_| Redirect::to("/console"))
}
