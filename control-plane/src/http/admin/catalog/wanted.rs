//! `GET /admin/catalog/wanted`: the vehicles to draw next, by demand.

use crate::app::App;
use crate::catalog::wanted::{self, MissingName, RequestedModel};
use crate::clock::UnixMs;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};

pub const DAYS: std::ops::RangeInclusive<i64> = 1..=366;
pub const LIMIT: std::ops::RangeInclusive<i64> = 1..=1000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedQuery {
    days: Option<i64>,
    limit: Option<i64>,
}

#[derive(Debug, Serialize)]
pub struct WantedView {
    days: i64,
    /// The vehicles with the highest demand relative to their likeness, the most wanted first: the
    /// number of delivered images times the distance of the drawing from the best likeness (`model`
    /// 1, `make` 2, `body` 3).
    vehicles: Vec<RequestedModel>,
    /// Names that the catalog does not have, the most requested first.
    missing: Vec<MissingName>,
}

pub async fn show(
    State(app): State<App>,
    _: Operator,
    query: Result<Query<WantedQuery>, QueryRejection>,
) -> Result<Json<WantedView>, Problem> {
    let Query(query) = query.map_err(|wrong| Problem::bad_parameter("query", wrong.body_text()))?;
    let days = within("days", query.days.unwrap_or(30), &DAYS)?;
    let limit = within("limit", query.limit.unwrap_or(50), &LIMIT)? as usize;
    let since = UnixMs(app.clock.now().0 - days * 24 * 3600 * 1000);
    let vehicles = wanted::wanted(&app.db, &app.catalog.now(), since, limit).await?;
    let missing = app.missing_vehicles.most_asked(&app.db, app.clock.now(), since, limit).await?;
    Ok(Json(WantedView { days, vehicles, missing }))
}

fn within(name: &str, value: i64, range: &std::ops::RangeInclusive<i64>) -> Result<i64, Problem> {
    let wrong = || format!("`{name}` must be a whole number from {} to {}.", range.start(), range.end());
    if range.contains(&value) { Ok(value) } else { Err(Problem::bad_parameter(name, wrong())) }
}
