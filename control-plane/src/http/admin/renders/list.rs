//! `GET /admin/renders?limit=`: the latest renders.

use super::show::RenderView;
use crate::app::App;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use axum::Json;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};

/// Maximum number of renders in a response. Receipts are a few kilobytes each, so a
/// response stays under a megabyte.
const LIMIT_MAX: i64 = 200;

#[derive(Debug, Deserialize)]
pub struct Page {
    #[serde(default = "twenty")]
    limit: i64,
}

fn twenty() -> i64 {
    20
}

#[derive(Debug, Serialize)]
pub struct RendersView {
    /// The latest first.
    renders: Vec<RenderView>,
}

pub async fn list(State(app): State<App>, _: Operator, Query(page): Query<Page>) -> Result<Json<RendersView>, Problem> {
    if !(1..=LIMIT_MAX).contains(&page.limit) {
        return Err(Problem::bad_parameter("limit", format!("`limit` must be 1 to {LIMIT_MAX}.")));
    }
    let renders = app.renders.latest(page.limit).await?;
    Ok(Json(RendersView { renders: renders.into_iter().map(RenderView::from).collect() }))
}
