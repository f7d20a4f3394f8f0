//! `PUT /admin/keys/{key_id}/cap`: sets or removes the monthly cap of a key.

use super::create::check_cap;
use crate::app::App;
use crate::http::body::read_body;
use crate::http::error::Problem;
use crate::http::json;
use crate::http::operator::Operator;
use crate::ledger::Credits;
use axum::Json;
use axum::extract::{Path, Request, State};
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetCap {
    /// Null removes the cap.
    monthly_cap_credits: Option<i64>,
}

#[derive(Debug, Serialize)]
pub struct KeyCapChange {
    key_id: String,
    monthly_cap_credits: Option<i64>,
}

/// Sets the cap, which holds from the key's next request on.
pub async fn set(
    State(app): State<App>,
    _: Operator,
    Path(key_id): Path<String>,
    request: Request,
) -> Result<Json<KeyCapChange>, Problem> {
    let body: SetCap = json::read(&read_body(request, &app).await?, &["monthly_cap_credits"])?;
    check_cap(body.monthly_cap_credits)?;
    let cap = body.monthly_cap_credits;
    if !app.keys.set_cap(&app.db, &key_id, cap.map(Credits), app.clock.now()).await? {
        return Err(Problem::not_found("unknown_key", format!("There is no key {key_id}, or it was revoked.")));
    }
    tracing::info!(key_id, monthly_cap_credits = cap, "monthly cap of a key set by the operator");
    Ok(Json(KeyCapChange { key_id, monthly_cap_credits: cap }))
}
