//! `GET /admin/accounts/{account_id}`

use crate::accounts::account;
use crate::app::App;
use crate::http::error::Problem;
use crate::http::extract::Operator;
use crate::ledger::{self, Credits};
use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct AccountView {
    account_id: String,
    email: String,
    /// What it can spend now.
    credits: Credits,
    /// Reserved for pictures being made.
    held: Credits,
    /// Pictures delivered, ever.
    deliveries: i64,
}

pub async fn show(
    State(app): State<App>,
    _: Operator,
    Path(account_id): Path<String>,
) -> Result<Json<AccountView>, Problem> {
    let account = account::find(&app.db, &account_id).await?;
    let standing = ledger::standing(&app.db.readers, &account_id).await?;
    Ok(Json(AccountView {
        account_id,
        email: account.email,
        credits: standing.credits,
        held: standing.held,
        deliveries: standing.deliveries,
    }))
}
