//! `POST /dashboard/password/providers/{provider}` and `.../unlink`: link a provider as another way
//! to sign in to the account, and unlink it.

use super::password::{Wrong, show, verify};
use crate::accounts::{identity, user};
use crate::app::App;
use crate::http::error::Problem;
use crate::http::web::form::Form;
use crate::http::web::leaving;
use crate::http::web::openid::{set_out, unknown_provider};
use crate::http::web::visit::SignedInVisit;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};

const PAGE: &str = "/dashboard/password";

/// Begins to link a provider with the account.
///
/// Somebody who has taken over a session must not gain access for good. The password is therefore
/// required again or, if the account has none, a sign-in of a moment ago.
pub async fn link(
    State(app): State<App>,
    signed_in: SignedInVisit,
    Path(provider_id): Path<String>,
    form: Form,
) -> Result<Response, Problem> {
    let SignedInVisit { user, visit } = &signed_in;
    let provider = app.openid.find(&provider_id).ok_or_else(unknown_provider)?;
    let has_password = user::has_password(&app.db, &user.account_id).await?;
    let refused = match has_password {
        true => verify(&app, user, form.text("password")).await?,
        false if visit.is_fresh(app.clock.now()).await? => None,
        false => {
            Some((StatusCode::FORBIDDEN, "Sign out and sign in again first, then link within five minutes.".to_owned()))
        }
    };
    if let Some((status, wrong)) = refused {
        return show(&app, &signed_in, status, Wrong::Link(wrong), false).await;
    }
    let url = set_out(&app, visit, provider, PAGE.to_owned(), Some(user.account_id.clone())).await?;
    Ok(leaving::to(&app, visit, &url, "Sign in there to link it to your account here."))
}

pub async fn unlink(
    State(app): State<App>,
    SignedInVisit { user, visit }: SignedInVisit,
    Path(provider_id): Path<String>,
    _: Form,
) -> Result<Response, Problem> {
    let provider = app.openid.find(&provider_id).ok_or_else(unknown_provider)?;
    let Some(user) = identity::unlink(&app.db, &user, provider.issuer()).await? else {
        let detail = "It is not linked, or it is the only way to sign in to this account. Set a password first.";
        return Err(Problem::conflict("not_unlinked", detail));
    };
    tracing::info!(account_id = user.account_id, provider_id, "identity unlinked by its user");
    // This browser stays signed in, under a new session. All other sessions end.
    visit.sign_in(&app, &user).await?;
    Ok(Redirect::to(PAGE).into_response())
}
