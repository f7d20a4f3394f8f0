//! `POST /admin/keys/{key_id}/revoke`: revokes an API key.

use crate::app::App;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct RevokedKey {
    key_id: String,
    revoked: bool,
}

/// Revokes the key, which is refused as soon as this call has returned.
/// Repeating the call changes nothing.
pub async fn revoke(
    State(app): State<App>,
    _: Operator,
    Path(key_id): Path<String>,
) -> Result<Json<RevokedKey>, Problem> {
    if !app.keys.revoke(&app.db, &key_id, app.clock.now()).await? {
        return Err(Problem::not_found("unknown_key", format!("There is no key {key_id}.")));
    }
    tracing::info!(key_id, "key revoked by the operator");
    Ok(Json(RevokedKey { key_id, revoked: true }))
}
