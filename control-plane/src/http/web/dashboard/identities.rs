//! `POST /dashboard/password/providers/{provider}` and `.../unlink`: another way into the account, and its end.

use crate::accounts::identity;
use crate::app::App;
use crate::http::error::Problem;
use crate::http::web::form::Form;
use crate::http::web::leaving;
use crate::http::web::openid::{set_out, unknown_provider};
use crate::http::web::visit::SignedInVisit;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};

const PAGE: &str = "/dashboard/password";

pub async fn link(
    State(app): State<App>,
    SignedInVisit { user, visit }: SignedInVisit,
    Path(provider_id): Path<String>,
    _: Form,
) -> Result<Response, Problem> {
    let provider = app.openid.find(&provider_id).ok_or_else(unknown_provider)?;
    let url = set_out(&app, &visit, provider, PAGE.to_owned(), Some(user.account_id)).await?;
    Ok(leaving::to(&app, &visit, &url, "Sign in there to link it with your account here."))
}

pub async fn unlink(
    State(app): State<App>,
    SignedInVisit { user, visit }: SignedInVisit,
    Path(provider_id): Path<String>,
    _: Form,
) -> Result<Response, Problem> {
    let provider = app.openid.find(&provider_id).ok_or_else(unknown_provider)?;
    let Some(user) = identity::unlink(&app.db, &user, provider.issuer()).await? else {
        let detail = "It is not linked, or nothing else would open this account: set a password first.";
        return Err(Problem::conflict("not_unlinked", detail));
    };
    tracing::info!(account_id = user.account_id, provider_id, "identity taken away by its holder");
    // This browser stays signed in, under a new session; all others are out.
    visit.sign_in(&user).await?;
    Ok(Redirect::to(PAGE).into_response())
}
