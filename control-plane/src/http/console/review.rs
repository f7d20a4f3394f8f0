//! `POST /console/renders/{render_id}/approve`, `/rerender`, `/candidates` and what follows from them: what the JSON API under `/admin/renders` does.

use super::session::{ConsoleForm, Watcher};
use crate::app::App;
use crate::http::admin::renders::review;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use axum::extract::{Path, State};
use axum::response::Redirect;

pub async fn approve(
    State(app): State<App>,
    _: Watcher,
    Path(render_id): Path<String>,
    _: ConsoleForm,
) -> Result<Redirect, Problem> {
    review::approve(State(app), Operator, Path(render_id)).await.map(|_| Redirect::to("/console"))
}

pub async fn rerender(
    State(app): State<App>,
    _: Watcher,
    Path(render_id): Path<String>,
    _: ConsoleForm,
) -> Result<Redirect, Problem> {
    review::rerender(State(app), Operator, Path(render_id)).await.map(|_| Redirect::to("/console"))
}

pub async fn candidate(
    State(app): State<App>,
    _: Watcher,
    Path(render_id): Path<String>,
    _: ConsoleForm,
) -> Result<Redirect, Problem> {
    review::candidate(State(app), Operator, Path(render_id)).await.map(|_| Redirect::to("/console"))
}

pub async fn accept(
    State(app): State<App>,
    _: Watcher,
    Path(of): Path<(String, i64)>,
    _: ConsoleForm,
) -> Result<Redirect, Problem> {
    review::accept(State(app), Operator, Path(of)).await.map(|_| Redirect::to("/console"))
}

pub async fn reject(
    State(app): State<App>,
    _: Watcher,
    Path(of): Path<(String, i64)>,
    _: ConsoleForm,
) -> Result<Redirect, Problem> {
    review::reject(State(app), Operator, Path(of)).await.map(|_| Redirect::to("/console"))
}
