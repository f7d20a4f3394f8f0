//! `POST /admin/node-tokens/{token_id}/revoke`: revokes a node token.

use crate::accounts::node_token;
use crate::app::App;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct RevokedNodeToken {
    token_id: String,
    revoked: bool,
}

/// Revokes the token. Nodes with this token are refused as soon as this call has returned, and
/// their leased jobs go to other nodes. Repeating the call changes nothing.
pub async fn revoke(
    State(app): State<App>,
    _: Operator,
    Path(token_id): Path<String>,
) -> Result<Json<RevokedNodeToken>, Problem> {
    if !node_token::revoke(&app.db, &token_id, app.clock.now()).await? {
        return Err(Problem::not_found("unknown_node_token", format!("There is no node token {token_id}.")));
    }
    app.renders.disconnected(&token_id).await?;
    tracing::info!(token_id, "node token revoked by the operator");
    Ok(Json(RevokedNodeToken { token_id, revoked: true }))
}
