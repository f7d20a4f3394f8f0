//! `/admin/prewarm`: batches of images that are rendered before anybody requests them (`prewarm`).

pub mod batches;
pub mod order;
pub mod plan;
pub mod rows;

use crate::clock::UnixMs;
use crate::http::error::Problem;
use crate::prewarm::{PlanError, PrewarmBatch, PrewarmBatchError, Request};
use serde::{Deserialize, Serialize};

/// Maximum size of a body, in bytes: ten thousand rows at about two
/// hundred bytes each need half of it.
pub const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
const REQUESTS_MAX: usize = 10_000;
const NAME_CHARS_MAX: usize = 100;
/// Part of the day's budget that a batch may use unless it says otherwise, in percent. The other
/// half is left for requests that wait for their image.
const BUDGET_PERCENT_DEFAULT: i64 = 50;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrewarmBody {
    requests: Vec<Request>,
    name: Option<String>,
    budget_percent: Option<i64>,
}

impl PrewarmBody {
    fn requests(&self) -> Result<&[Request], Problem> {
        match self.requests.len() {
            1..=REQUESTS_MAX => Ok(&self.requests),
            _ => Err(Problem::bad_parameter("requests", format!("`requests` must have 1 to {REQUESTS_MAX} items."))),
        }
    }

    fn name(&self) -> Result<&str, Problem> {
        let name = self.name.as_deref().map_or("prewarm", str::trim);
        match name.chars().count() {
            1..=NAME_CHARS_MAX => Ok(name),
            _ => Err(Problem::bad_parameter("name", format!("`name` must have 1 to {NAME_CHARS_MAX} characters."))),
        }
    }

    fn budget_percent(&self) -> Result<i64, Problem> {
        let percent = self.budget_percent.unwrap_or(BUDGET_PERCENT_DEFAULT);
        match (1..=100).contains(&percent) {
            true => Ok(percent),
            false => Err(Problem::bad_parameter("budget_percent", "`budget_percent` must be 1 to 100.".to_owned())),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct BatchView {
    batch_id: String,
    name: String,
    state: &'static str,
    rows: i64,
    done: i64,
    failed: i64,
    queued: i64,
    waiting: i64,
    percent: i64,
    budget_percent: i64,
    created_at: String,
    changed_at: String,
}

impl From<PrewarmBatch> for BatchView {
    fn from(batch: PrewarmBatch) -> Self {
        BatchView {
            rows: batch.rows(),
            percent: batch.percent(),
            state: batch.state.as_str(),
            name: batch.name,
            done: batch.done,
            failed: batch.failed,
            queued: batch.queued,
            waiting: batch.waiting,
            budget_percent: batch.budget_percent,
            created_at: UnixMs(batch.created_at_ms).rfc3339(),
            changed_at: UnixMs(batch.changed_at_ms).rfc3339(),
            batch_id: batch.id,
        }
    }
}

impl From<PlanError> for Problem {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Request { number, error } => {
                let parameter = format!("requests[{}].{}", number - 1, error.parameter);
                Problem::bad_parameter(&parameter, format!("Request {number}: {}", error.detail))
            }
            PlanError::Database(error) => error.into(),
        }
    }
}

impl From<PrewarmBatchError> for Problem {
    fn from(error: PrewarmBatchError) -> Self {
        match error {
            PrewarmBatchError::Unknown(id) => Problem::not_found("unknown_batch", format!("There is no batch {id}.")),
            PrewarmBatchError::Over(state) => {
                Problem::conflict("batch_is_over", format!("The batch is {state} and cannot be changed any more."))
            }
            PrewarmBatchError::Database(error) => error.into(),
        }
    }
}
