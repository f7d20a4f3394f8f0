//! `GET /admin/ledger/verify`

use crate::app::App;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::ledger::{self, Verdict};
use axum::Json;
use axum::extract::State;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct Verified {
    /// Every account's entries add up to its balance, and its holds and entries agree.
    sound: bool,
    /// The accounts where they do not.
    wrong: Vec<Verdict>,
}

pub async fn verify(State(app): State<App>, _: Operator) -> Result<Json<Verified>, Problem> {
    let wrong = ledger::verify(&app.db.readers).await?;
    if !wrong.is_empty() {
        tracing::error!(accounts = wrong.len(), "the ledger does not add up");
    }
    Ok(Json(Verified { sound: wrong.is_empty(), wrong }))
}
