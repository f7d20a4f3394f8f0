//! `POST /admin/accounts/{account_id}/grants`: adds free credits to an account.

use crate::app::App;
use crate::http::body::JsonBody;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::ledger::{self, Credits};
use axum::Json;
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};

/// Maximum length of a reason: enough for a sentence. The reason is stored with the entry for good.
const REASON_CHARS_MAX: usize = 500;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    credits: i64,
    reason: String,
}

#[derive(Debug, Serialize)]
pub struct GrantedCredits {
    /// The balance after the grant.
    credits: Credits,
}

pub async fn grant(
    State(app): State<App>,
    _: Operator,
    Path(account_id): Path<String>,
    JsonBody(body): JsonBody<Grant>,
) -> Result<Json<GrantedCredits>, Problem> {
    let reason = body.reason.trim();
    if reason.is_empty() || reason.chars().count() > REASON_CHARS_MAX {
        return Err(Problem::bad_parameter(
            "reason",
            format!("`reason` must have 1 to {REASON_CHARS_MAX} characters that say why."),
        ));
    }
    let mut tx = app.db.begin().await?;
    let credits = ledger::grant(&mut tx, &account_id, Credits(body.credits), reason, app.clock.now()).await?;
    tx.commit().await?;
    tracing::info!(account_id, granted = body.credits, reason, "credits granted by the operator");
    Ok(Json(GrantedCredits { credits }))
}
