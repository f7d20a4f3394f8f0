//! `GET /admin/accounts/{account_id}` returns an account, and `GET /admin/accounts?email=` finds
//! one by its email address.

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
    /// Credits that the account can spend now.
    credits: Credits,
    /// Credits on hold for images that are being rendered.
    held: Credits,
    /// Number of images delivered since the account exists.
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
pub struct AccountQuery {
    email: Option<String>,
}

pub async fn find(
    State(app): State<App>,
    _: Operator,
    Query(asked): Query<AccountQuery>,
) -> Result<Json<AccountView>, Problem> {
    let missing = || Problem::bad_parameter("email", "`email` is required: the email address of the account.");
    let email = asked.email.ok_or_else(missing)?;
    view(&app, account::find_by_email(&app.db, &email).await?).await
}

async fn view(app: &App, account: Account) -> Result<Json<AccountView>, Problem> {
    let standing = ledger::account_credits(&app.db.readers, &account.id).await?;
    Ok(Json(AccountView {
        account_id: account.id,
        email: account.email,
        credits: standing.credits,
        held: standing.held,
        deliveries: standing.deliveries,
    }))
}
