//! Health checks: the process is alive, and it can serve. They need no token, because load
//! balancers have none.

use super::error::Problem;
use crate::app::App;
use axum::Json;
use axum::extract::State;
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
/// Open to anyone and free.
#[utoipa::path(
    get, path = "/api/health", tag = "Service", operation_id = "getHealth", security(()),
    responses((status = 200, description = "The service answers.", body = Health))
)]
pub async fn status() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// `GET /healthz`: answers 200 as long as the process runs.
pub async fn live() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// `GET /readyz`: answers 200 if requests can be served, which means that the database answers and
/// can be written. Render nodes do not matter. Answers 503 from the first signal to stop, so that
/// load balancers send requests elsewhere.
pub async fn ready(State(app): State<App>) -> Result<Json<Value>, Problem> {
    if app.unready.is_cancelled() {
        return Err(Problem::unavailable("shutting_down", "This process is stopping."));
    }
    if !app.db.is_ready().await {
        let detail = "The database does not answer, or cannot be written to.";
        return Err(Problem::unavailable("dependency_down", detail).retry_after(2));
    }
    Ok(Json(json!({ "status": "ready" })))
}
