//! The decisions of an operator about renders, over `/admin` and in the console.

use crate::app::App;
use crate::http::delivery_problem::problem;
use crate::http::error::Problem;
use crate::renders::ReviewError;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct Approval {
    render_id: String,
    approved: bool,
}

#[derive(Debug, Serialize)]
pub struct ReviewDecision {
    render_id: String,
    revision: i64,
    accepted: bool,
}

#[derive(Debug, Serialize)]
pub struct Rerendering {
    render_id: String,
    /// The number of the new revision. The present one is delivered until the new one is ready, or
    /// until a candidate is accepted.
    revision: i64,
    /// Every paint of the vehicle and view that exists.
    colors: Vec<String>,
}

/// Approves a render as it is.
pub async fn approve(app: &App, render_id: String) -> Result<Approval, Problem> {
    app.renders.approve(&render_id).await.map_err(|error| refusal(app, error))?;
    tracing::info!(render_id, "render approved by the operator");
    Ok(Approval { render_id, approved: true })
}

/// Orders a new revision. The present images are delivered until the new ones are ready.
pub async fn rerender(app: &App, render_id: String) -> Result<Rerendering, Problem> {
    order(app, render_id, false).await
}

/// Orders a new revision as a candidate: the delivered image stays until the candidate is accepted.
pub async fn candidate(app: &App, render_id: String) -> Result<Rerendering, Problem> {
    order(app, render_id, true).await
}

/// Accepts a candidate, which replaces the delivered image in every paint.
/// Repeating the call changes nothing.
pub async fn accept(app: &App, render_id: String, revision: i64) -> Result<ReviewDecision, Problem> {
    app.renders.accept_candidate(&render_id, revision).await.map_err(|error| refusal(app, error))?;
    app.pictures.forget_known();
    tracing::info!(render_id, revision, "candidate accepted by the operator");
    Ok(ReviewDecision { render_id, revision, accepted: true })
}

/// Rejects a candidate. The delivered image stays, and is approved.
/// Repeating the call changes nothing.
pub async fn reject(app: &App, render_id: String, revision: i64) -> Result<ReviewDecision, Problem> {
    app.renders.reject_candidate(&render_id, revision).await.map_err(|error| refusal(app, error))?;
    tracing::info!(render_id, revision, "candidate rejected by the operator");
    Ok(ReviewDecision { render_id, revision, accepted: false })
}

async fn order(app: &App, render_id: String, is_candidate: bool) -> Result<Rerendering, Problem> {
    let unknown = || ReviewError::Unknown(render_id.clone());
    let key = app.renders.vehicle_key(&render_id).await?.ok_or_else(unknown).map_err(|error| refusal(app, error))?;
    let gone = || Problem::conflict("vehicle_gone", format!("The catalog no longer has {key}."));
    let vehicle = app.catalog.now().of_key(&key).ok_or_else(gone)?.vehicle;
    let rerender =
        app.renders.render_anew(&vehicle, &key, &render_id, is_candidate).await.map_err(|error| refusal(app, error))?;
    tracing::info!(render_id, revision = rerender.revision, is_candidate, "rerender ordered by the operator");
    let colors = rerender.colours.iter().map(|colour| colour.to_string()).collect();
    Ok(Rerendering { render_id, revision: rerender.revision, colors })
}

fn refusal(app: &App, error: ReviewError) -> Problem {
    let detail = format!("{error}.");
    match error {
        ReviewError::Unknown(_) => Problem::not_found("unknown_render", detail),
        ReviewError::NotFlagged(_) => Problem::conflict("not_flagged", detail),
        ReviewError::NoCandidate(_) => Problem::conflict("no_candidate", detail),
        ReviewError::NotRendered(_) => Problem::conflict("not_rendered", detail),
        ReviewError::Busy => Problem::conflict("busy", detail).retry_after(10),
        ReviewError::Render(error) => problem(app, error.into()),
    }
}
