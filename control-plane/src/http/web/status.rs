//! `GET /status`: shows people whether images are available now.

use super::visit::PageSession;
use crate::app::App;
use crate::http::error::Problem;
use crate::plural;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

#[derive(Serialize)]
struct Status {
    lines: Vec<StatusLine>,
    is_well: bool,
    version: &'static str,
}

#[derive(Serialize)]
struct StatusLine {
    name: &'static str,
    is_well: bool,
    told: String,
}

pub async fn get(State(app): State<App>, visit: PageSession) -> Result<Response, Problem> {
    let active = usize::try_from(app.renders.node_counts().await?.active).unwrap_or_default();
    let backlog = app.renders.backlog().await?;
    let budget = app.renders.budget().await?;
    let is_spent = budget.reserved_microusd + budget.settled_microusd + app.config.farm.render_cost_microusd
        > budget.microusd_per_day;
    let line = |name, is_well, well: String, ill: &str| StatusLine {
        name,
        is_well,
        told: if is_well { well } else { ill.to_owned() },
    };
    let lines = vec![
        line("Existing images", true, "delivered at once".to_owned(), ""),
        line(
            "New images",
            active > 0,
            format!("{} at work", plural::count(active, "render node")),
            "no render node is active; new images wait",
        ),
        line(
            "Render queue",
            backlog.queued < 100,
            format!("{} waiting, {} in progress", backlog.queued, backlog.leased),
            "long; new images take more time than usual",
        ),
        line(
            "Daily render budget",
            !is_spent,
            "available for new images".to_owned(),
            "spent; new images are rendered again after midnight UTC",
        ),
    ];
    let status = Status { is_well: lines.iter().all(|line| line.is_well), lines, version: env!("CARGO_PKG_VERSION") };
    Ok(visit.page("status.html", &status))
}
