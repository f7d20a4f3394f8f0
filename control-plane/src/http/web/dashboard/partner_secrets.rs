//! `POST /dashboard/keys/{key_id}/partner-secrets` and `POST /dashboard/partner-secrets/{partner_secret_id}/revoke`.

use super::keys::{ShownOnce, find};
use crate::accounts::partner_secret;
use crate::accounts::token::PlainKey;
use crate::app::App;
use crate::http::error::Problem;
use crate::http::web::form::Form;
use crate::http::web::visit::SignedInVisit;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};

pub async fn create(
    State(app): State<App>,
    signed_in: SignedInVisit,
    Path(key_id): Path<String>,
    _: Form,
) -> Result<Response, Problem> {
    let key = find(&app, &signed_in.user, &key_id).await?;
    if partner_secret::list(&app.db, &signed_in.user.account_id).await?.len() >= partner_secret::IN_USE_MAX {
        let detail = format!("There are {} partner secrets in use: revoke one first.", partner_secret::IN_USE_MAX);
        return Err(Problem::conflict("too_many_partner_secrets", detail));
    }
    let secret = PlainKey::generate(partner_secret::PREFIX, &mut rand::rng());
    let mut tx = app.db.begin().await?;
    let made = partner_secret::create(&mut tx, &key.id, &secret, app.clock.now()).await?;
    let unknown = || Problem::not_found("unknown_key", "There is no such key in use.");
    let partner_secret_id = made.ok_or_else(unknown)?;
    tx.commit().await?;
    app.partner_secrets.made();
    tracing::info!(account_id = signed_in.user.account_id, partner_secret_id, "partner secret made by its owner");
    let page = ShownOnce { kind: "partner secret", name: &key.name, secret: secret.reveal(), base_url: &app.base_url };
    signed_in.visit.form(&app, "shown_once.html", StatusCode::CREATED, &page).await
}

pub async fn revoke(
    State(app): State<App>,
    signed_in: SignedInVisit,
    Path(id): Path<String>,
    _: Form,
) -> Result<Response, Problem> {
    let own = partner_secret::list(&app.db, &signed_in.user.account_id).await?;
    if !own.iter().any(|secret| secret.id == id) {
        return Err(Problem::not_found("unknown_partner_secret", "There is no such partner secret in use."));
    }
    partner_secret::revoke(&app.db, &id, app.clock.now()).await?;
    tracing::info!(
        account_id = signed_in.user.account_id,
        partner_secret_id = id,
        "partner secret revoked by its owner"
    );
    Ok(Redirect::to("/dashboard/keys").into_response())
}
