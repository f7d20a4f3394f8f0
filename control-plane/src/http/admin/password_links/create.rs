//! `POST /admin/password-links`: makes a link that sets a new password, for the operator to hand
//! over. It replaces the email where no email is set up, and is the first way into an account that
//! the operator made.

use crate::accounts::{account, user};
use crate::app::App;
use crate::http::body::JsonBody;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::http::password_link::make_link;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreatePasswordLink {
    email: String,
}

#[derive(Serialize)]
pub struct CreatedPasswordLink {
    account_id: String,
    /// The link. It is shown here and never again; it is valid for two hours and works once.
    link: String,
}

pub async fn create(
    State(app): State<App>,
    _: Operator,
    JsonBody(body): JsonBody<CreatePasswordLink>,
) -> Result<(StatusCode, Json<CreatedPasswordLink>), Problem> {
    let account = account::find_by_email(&app.db, &body.email).await?;
    let user = user::of_account(&app.db, &account, app.clock.now()).await?;
    let link = make_link(&app, &user).await?;
    tracing::info!(account_id = account.id, "password link created by the operator");
    Ok((StatusCode::CREATED, Json(CreatedPasswordLink { account_id: account.id, link })))
}
