//! `GET /admin/accounts/{account_id}/keys`: the keys of an account, without
//! their secrets, which are not stored.

use crate::accounts::api_key::{self, KeyInfo};
use crate::accounts::{Scope, account};
use crate::app::App;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::ledger::Credits;
use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct AccountKeys {
    /// The newest first: all keys in use, and the last few that were revoked.
    keys: Vec<AccountKey>,
}

#[derive(Debug, Serialize)]
struct AccountKey {
    key_id: String,
    name: String,
    scopes: Vec<Scope>,
    rate_limit_per_minute: i64,
    /// Credits that the key may spend in a UTC month, and `monthly_cap_spent` those that it has
    /// spent in this one. Both are null for a key without a cap.
    monthly_cap_credits: Option<Credits>,
    monthly_cap_spent: Option<Credits>,
    created_at: String,
    /// Time of the last request, to the minute.
    last_used_at: Option<String>,
    is_revoked: bool,
}

pub async fn list(
    State(app): State<App>,
    _: Operator,
    Path(account_id): Path<String>,
) -> Result<Json<AccountKeys>, Problem> {
    let account = account::find(&app.db, &account_id).await?;
    let shown = |key: KeyInfo| AccountKey {
        rate_limit_per_minute: key.rate_limit_per_minute.unwrap_or(app.config.limits.rate_limit_per_minute),
        monthly_cap_credits: key.monthly_cap.map(|cap| cap.cap),
        monthly_cap_spent: key.monthly_cap.map(|cap| cap.spent),
        created_at: key.created_at.rfc3339(),
        last_used_at: key.used_at.map(|at| at.rfc3339()),
        is_revoked: key.is_revoked,
        scopes: key.scopes,
        name: key.name,
        key_id: key.id,
    };
    let keys = api_key::list(&app.db, &account.id, app.clock.now()).await?;
    Ok(Json(AccountKeys { keys: keys.into_iter().map(shown).collect() }))
}
