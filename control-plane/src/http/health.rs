//! Is the process alive, can it serve, and its figures. No tokens: load balancers and scrapers have none.

use super::error::Problem;
use crate::app::App;
use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// Always `ok`: a service that is down does not answer.
    #[schema(pattern = "^ok$")]
    status: &'static str,
}

/// Ask whether the service answers
///
/// For anyone, free.
#[utoipa::path(
    get, path = "/api/health", tag = "Service", operation_id = "getHealth", security(()),
    responses((status = 200, description = "It does.", body = Health))
)]
pub async fn status() -> Json<Health> {
    Json(Health { status: "ok" })
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

/// `GET /metrics` in the text format of Prometheus. What the database knows is asked at each scrape; without it the other
/// figures are still answered, since that is when somebody needs them.
pub async fn metrics(State(app): State<App>) -> impl IntoResponse {
    if let Err(error) = measure(&app).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "the queue could not be measured");
    }
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics.render())
}

async fn measure(app: &App) -> Result<(), sqlx::Error> {
    let backlog = app.renders.backlog().await?;
    metrics::gauge!("cyclorama_jobs", "state" => "queued").set(backlog.queued as f64);
    metrics::gauge!("cyclorama_jobs", "state" => "leased").set(backlog.leased as f64);
    let alive = app.renders.nodes().await?.iter().filter(|node| node.alive).count();
    metrics::gauge!("cyclorama_nodes_alive").set(alive as f64);
    let budget = app.renders.budget().await?;
    metrics::gauge!("cyclorama_budget_usd").set(budget.microusd_per_day as f64 / 1e6);
    metrics::gauge!("cyclorama_budget_reserved_usd").set(budget.reserved_microusd as f64 / 1e6);
    metrics::gauge!("cyclorama_budget_settled_usd").set(budget.settled_microusd as f64 / 1e6);
    metrics::gauge!("cyclorama_requests_in_flight").set(app.in_flight.count() as f64);
    Ok(())
}
