//! `GET /admin/prewarm/batches/{batch_id}/rows?after=`: the state of each row of a batch.

use crate::app::App;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::prewarm::PrewarmBatch;
use axum::Json;
use axum::extract::{Path, Query, State};
use serde::{Deserialize, Serialize};

const PAGE: i64 = 1000;

#[derive(Debug, Deserialize)]
pub struct From {
    /// The position of the last row of the page before; the first page if absent.
    #[serde(default = "before_all")]
    after: i64,
}

fn before_all() -> i64 {
    -1
}

#[derive(Debug, Serialize)]
pub struct RowView {
    position: i64,
    vehicle: String,
    view: String,
    colors: Vec<String>,
    state: String,
    failure_kind: Option<String>,
    failure_detail: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct RowsView {
    rows: Vec<RowView>,
    /// `after` of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_after: Option<i64>,
}

pub async fn list(
    State(app): State<App>,
    _: Operator,
    Path(batch_id): Path<String>,
    Query(from): Query<From>,
) -> Result<Json<RowsView>, Problem> {
    let batch = PrewarmBatch::find(&app.db, &batch_id).await?;
    let rows = PrewarmBatch::report(&app.db, &batch.id, from.after, PAGE).await?;
    let next_after = (rows.len() as i64 == PAGE).then(|| rows.last().map(|row| row.position)).flatten();
    let shown = rows.into_iter().map(|row| {
        let (failure_kind, failure_detail) = row.failure.unzip();
        RowView {
            position: row.position,
            vehicle: row.vehicle_key,
            view: row.view,
            colors: row.colors.split(',').map(str::to_owned).collect(),
            state: row.state,
            failure_kind,
            failure_detail,
        }
    });
    Ok(Json(RowsView { rows: shown.collect(), next_after }))
}
