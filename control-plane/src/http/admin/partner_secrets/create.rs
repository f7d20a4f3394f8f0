//! `POST /admin/partner-secrets`: makes a partner secret.

use crate::accounts::partner_secret;
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
pub struct CreatePartnerSecret {
    /// The API key that the secret belongs to. Revoking the key
    /// invalidates the signatures of the secret.
    key_id: String,
}

#[derive(Serialize)]
pub struct CreatedPartnerSecret {
    partner_secret_id: String,
    /// The secret. It is shown here and never again.
    secret: String,
}

pub async fn create(
    State(app): State<App>,
    _: Operator,
    JsonBody(body): JsonBody<CreatePartnerSecret>,
) -> Result<(StatusCode, Json<CreatedPartnerSecret>), Problem> {
    let secret = PlainKey::generate(partner_secret::PREFIX, &mut rand::rng());
    let mut tx = app.db.begin().await?;
    let id = partner_secret::create(&mut tx, &body.key_id, &secret, app.clock.now()).await?;
    let unknown = || Problem::not_found("unknown_key", format!("There is no key {}, or it was revoked.", body.key_id));
    let partner_secret_id = id.ok_or_else(unknown)?;
    tx.commit().await?;
    app.partner_secrets.made();
    tracing::info!(key_id = body.key_id, partner_secret_id, "partner secret created by the operator");
    Ok((StatusCode::CREATED, Json(CreatedPartnerSecret { partner_secret_id, secret: secret.reveal().to_owned() })))
}
