//! Is the process alive, can it serve, and its figures. No tokens: load balancers and scrapers have none.

use super::error::Problem;
use crate::app::App;
use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use serde_json::{Value, json};

/// `GET /api/health`
pub async fn status() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// `GET /healthz`: the process answers.
pub async fn live() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// `GET /readyz`: requests can be served, with or without a render node. 503 while stopping, so that load balancers turn away.
pub async fn ready(State(app): State<App>) -> Result<Json<Value>, Problem> {
    if app.stopping.is_cancelled() {
        return Err(Problem::unavailable("shutting_down", "This process is stopping."));
    }
    app.db.ping().await?;
    Ok(Json(json!({ "status": "ready" })))
}

/// `GET /metrics` in the text format of Prometheus.
pub async fn metrics(State(app): State<App>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics.render())
}
