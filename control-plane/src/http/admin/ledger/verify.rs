//! `GET /admin/ledger/verify`: checks the ledger.

use crate::app::App;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::ledger::{self, Mismatch};
use axum::Json;
use axum::extract::State;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct LedgerVerification {
    /// True if every account's entries add up to its balance, and its holds and entries agree.
    sound: bool,
    /// The accounts for which that is not so.
    wrong: Vec<Mismatch>,
}

pub async fn verify(State(app): State<App>, _: Operator) -> Result<Json<LedgerVerification>, Problem> {
    let wrong = ledger::verify(&app.db.readers).await?;
    if !wrong.is_empty() {
        tracing::error!(accounts = wrong.len(), "the ledger was verified and does not add up");
    }
    Ok(Json(LedgerVerification { sound: wrong.is_empty(), wrong }))
}
