//! Authenticates render nodes by their node tokens.

use super::authorization::bearer;
use super::error::Problem;
use crate::accounts::node_token;
use crate::accounts::token::PlainKey;
use crate::app::App;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;

/// A render node with a valid node token.
#[derive(Debug, Clone)]
pub struct NodeCaller {
    pub token_id: String,
}

impl FromRequestParts<App> for NodeCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let refused = || Problem::unauthorized("Send a valid node token: `Authorization: Bearer cycn_...`.");
        let token = bearer(&parts.headers).ok_or_else(refused)?;
        let hash = PlainKey::parse(node_token::PREFIX, &token).ok_or_else(refused)?.hash();
        let token_id = node_token::find(&app.db, &hash).await?.ok_or_else(refused)?;
        app.known_nodes.insert(hash, ());
        Ok(NodeCaller { token_id })
    }
}

/// True if `headers` hold a node token that was accepted lately.
pub fn is_known_node(app: &App, headers: &HeaderMap) -> bool {
    bearer(headers)
        .and_then(|token| PlainKey::parse(node_token::PREFIX, &token))
        .is_some_and(|token| app.known_nodes.contains_key(&token.hash()))
}
