//! `POST /admin/partner-secrets/{partner_secret_id}/revoke`: revokes a partner secret.

use crate::accounts::partner_secret;
use crate::app::App;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct RevokedPartnerSecret {
    partner_secret_id: String,
    revoked: bool,
}

/// Revokes the secret, whose signatures are refused as soon as this call has returned. Repeating
/// the call changes nothing.
pub async fn revoke(
    State(app): State<App>,
    _: Operator,
    Path(id): Path<String>,
) -> Result<Json<RevokedPartnerSecret>, Problem> {
    if !partner_secret::revoke(&app.db, &id, app.clock.now()).await? {
        return Err(Problem::not_found("unknown_partner_secret", format!("There is no partner secret {id}.")));
    }
    tracing::info!(partner_secret_id = id, "partner secret revoked by the operator");
    Ok(Json(RevokedPartnerSecret { partner_secret_id: id, revoked: true }))
}
