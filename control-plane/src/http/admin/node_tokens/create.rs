//! `POST /admin/node-tokens`: makes a node token.

use crate::accounts::node_token;
use crate::accounts::token::PlainKey;
use crate::app::App;
use crate::http::body::JsonBody;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateNodeToken {
    name: String,
}

#[derive(Serialize)]
pub struct CreatedNodeToken {
    token_id: String,
    /// The node token. It is shown here and never again.
    token: String,
}

pub async fn create(
    State(app): State<App>,
    _: Operator,
    JsonBody(body): JsonBody<CreateNodeToken>,
) -> Result<(StatusCode, Json<CreatedNodeToken>), Problem> {
    let name = body.name.trim();
    if name.is_empty() || name.chars().count() > 80 {
        return Err(Problem::bad_parameter("name", "`name` must have 1 to 80 characters."));
    }
    let mut tx = app.db.begin().await?;
    let token = PlainKey::generate(node_token::PREFIX, &mut rand::rng());
    let token_id = node_token::create(&mut tx, name, &token, app.clock.now()).await?;
    tx.commit().await?;
    tracing::info!(token_id, name, "node token created by the operator");
    Ok((StatusCode::CREATED, Json(CreatedNodeToken { token_id, token: token.reveal().to_owned() })))
}
