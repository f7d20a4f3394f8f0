//! `POST /admin/accounts`: makes an account.

use crate::accounts::account;
use crate::app::App;
use crate::http::body::JsonBody;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::ledger::Credits;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateAccount {
    email: String,
    /// The balance of the account; the free credits of a new account if absent.
    credits: Option<i64>,
}

#[derive(Debug, Serialize)]
pub struct CreatedAccount {
    account_id: String,
    credits: Credits,
}

pub async fn create(
    State(app): State<App>,
    _: Operator,
    JsonBody(body): JsonBody<CreateAccount>,
) -> Result<(StatusCode, Json<CreatedAccount>), Problem> {
    let credits = Credits(body.credits.unwrap_or(app.config.prices.free_credits));
    let account_id = account::open(&app.db, &body.email, credits, app.clock.now()).await?;
    tracing::info!(account_id, %credits, "account created by the operator");
    Ok((StatusCode::CREATED, Json(CreatedAccount { account_id, credits })))
}
