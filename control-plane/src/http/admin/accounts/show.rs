//! `GET /admin/accounts/{account_id}`, and `GET /admin/accounts?email=` for somebody who knows the address alone.

use crate::accounts::account::{self, Account};
use crate::app::App;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::ledger::{self, Credits};
use axum::Json;
use axum::extract::{Path, Query, State};
use serde::{Deserialize, Serialize};

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
    view(&app, account::find(&app.db, &account_id).await?).await
}

#[derive(Deserialize)]
pub struct Asked {
    email: Option<String>,
}

pub async fn find(
    State(app): State<App>,
    _: Operator,
    Query(asked): Query<Asked>,
) -> Result<Json<AccountView>, Problem> {
    let missing = || Problem::bad_parameter("email", "email: the address of the account is missing.");
    let email = asked.email.ok_or_else(missing)?;
    view(&app, account::find_by_email(&app.db, &email).await?).await
}

async fn view(app: &App, account: Account) -> Result<Json<AccountView>, Problem> {
    let standing = ledger::standing(&app.db.readers, &account.id).await?;
    Ok(Json(AccountView {
        account_id: account.id,
        email: account.email,
        credits: standing.credits,
        held: standing.held,
        deliveries: standing.deliveries,
    }))
}
