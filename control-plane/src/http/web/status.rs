//! `GET /status`: whether pictures can be had now, for people.

use super::visit::Visit;
use crate::app::App;
use crate::http::error::Problem;
use crate::plural;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

#[derive(Serialize)]
struct Status {
    lines: Vec<Line>,
    is_well: bool,
    version: &'static str,
}

#[derive(Serialize)]
struct Line {
    name: &'static str,
    is_well: bool,
    told: String,
}

pub async fn get(State(app): State<App>, visit: Visit) -> Result<Response, Problem> {
    let active = usize::try_from(app.renders.node_counts().await?.active).unwrap_or_default();
    let backlog = app.renders.backlog().await?;
    let budget = app.renders.budget().await?;
    let is_spent = budget.reserved_microusd + budget.settled_microusd + app.config.farm.render_cost_microusd
        > budget.microusd_per_day;
    let line = |name, is_well, well: String, ill: &str| Line {
        name,
        is_well,
        told: if is_well { well } else { ill.to_owned() },
    };
    let lines = vec![
        line("Pictures that exist", true, "delivered at once".to_owned(), ""),
        line(
            "New pictures",
            active > 0,
            format!("{} at work", plural::count(active, "render node")),
            "no render node at this moment; they wait",
        ),
        line(
            "Waiting line",
            backlog.queued < 100,
            format!("{} waiting, {} being made", backlog.queued, backlog.leased),
            "long: new pictures take more time than usual",
        ),
        line(
            "Budget of the day",
            !is_spent,
            "there is room for new pictures".to_owned(),
            "spent: new pictures begin again at midnight UTC",
        ),
    ];
    let status = Status { is_well: lines.iter().all(|line| line.is_well), lines, version: env!("CARGO_PKG_VERSION") };
    Ok(visit.page("status.html", &status))
}
