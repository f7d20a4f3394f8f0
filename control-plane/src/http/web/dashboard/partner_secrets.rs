//! `POST /dashboard/partner-secrets/{partner_secret_id}/revoke`: the owner of a key revokes a
//! partner secret that belongs to it.
//!
//! Only the operator can make a partner secret, because the images that it signs cost nothing, in
//! any number.

use crate::accounts::partner_secret;
use crate::app::App;
use crate::http::error::Problem;
use crate::http::web::form::Form;
use crate::http::web::visit::SignedInVisit;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};

pub async fn revoke(
    State(app): State<App>,
    signed_in: SignedInVisit,
    Path(id): Path<String>,
    _: Form,
) -> Result<Response, Problem> {
    let own = partner_secret::list(&app.db, &signed_in.user.account_id).await?;
    if !own.iter().any(|secret| secret.id == id) {
        return Err(Problem::not_found(
            "unknown_partner_secret",
            "There is no such partner secret, or it was revoked.",
        ));
    }
    partner_secret::revoke(&app.db, &id, app.clock.now()).await?;
    tracing::info!(
        account_id = signed_in.user.account_id,
        partner_secret_id = id,
        "partner secret revoked by its user"
    );
    Ok(Redirect::to("/dashboard/keys").into_response())
}
