//! `POST /admin/signing-keys/rotate`: makes a new signing key.

use crate::app::App;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use axum::Json;
use axum::extract::State;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct RotatedSigningKey {
    /// The number of the key that signs from now on. URLs that were signed
    /// before stay valid until they expire.
    number: u32,
}

pub async fn rotate(State(app): State<App>, _: Operator) -> Result<Json<RotatedSigningKey>, Problem> {
    let number = app.signing_keys.rotate().await?;
    tracing::info!(number, "signing key rotated by the operator");
    Ok(Json(RotatedSigningKey { number }))
}
