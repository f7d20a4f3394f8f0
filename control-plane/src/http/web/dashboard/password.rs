//! `GET` and `POST /dashboard/password`: shows the ways to sign in to the account, and sets a new
//! password for somebody who knows the old one.

use crate::accounts::attempts::{self, CountedAttempt};
use crate::accounts::identity;
use crate::accounts::openid::OpenIdProvider;
use crate::accounts::password::Password;
use crate::accounts::user::{self, User};
use crate::app::App;
use crate::http::error::Problem;
use crate::http::web::form::Form;
use crate::http::web::format::moment;
use crate::http::web::sign_in_fields::busy;
use crate::http::web::visit::SignedInVisit;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::{Deserialize, Serialize};

/// An error message, and the form of the page that it belongs to.
pub enum Wrong {
    Nothing,
    Change(String),
    Link(String),
}

#[derive(Serialize)]
struct Page {
    wrong: Option<String>,
    link_wrong: Option<String>,
    is_changed: bool,
    has_password: bool,
    /// True if a link for a new password can be sent by email.
    has_mail: bool,
    providers: Vec<ShownProvider>,
}

/// Another way to sign in to the account.
#[derive(Serialize)]
struct ShownProvider {
    id: String,
    name: String,
    /// Time when the provider was linked with this account, if it is.
    linked: Option<String>,
}

pub async fn show(
    app: &App,
    SignedInVisit { user, visit }: &SignedInVisit,
    status: StatusCode,
    wrong: Wrong,
    is_changed: bool,
) -> Result<Response, Problem> {
    let (wrong, link_wrong) = match wrong {
        Wrong::Nothing => (None, None),
        Wrong::Change(wrong) => (Some(wrong), None),
        Wrong::Link(wrong) => (None, Some(wrong)),
    };
    let linked = identity::list(&app.db, &user.account_id).await?;
    let shown = |provider: &OpenIdProvider| ShownProvider {
        linked: linked.iter().find(|one| one.issuer == provider.issuer()).map(|one| moment(one.linked_at)),
        id: provider.id().to_owned(),
        name: provider.name().to_owned(),
    };
    let page = Page {
        wrong,
        link_wrong,
        is_changed,
        has_password: user::has_password(&app.db, &user.account_id).await?,
        has_mail: app.mailer.is_some(),
        providers: app.openid.iter().map(shown).collect(),
    };
    visit.form(app, "password.html", status, &page).await
}

#[derive(Deserialize)]
pub struct PasswordQuery {
    /// Present after a password change, which redirects to this page.
    changed: Option<String>,
}

pub async fn get(
    State(app): State<App>,
    signed_in: SignedInVisit,
    Query(asked): Query<PasswordQuery>,
) -> Result<Response, Problem> {
    show(&app, &signed_in, StatusCode::OK, Wrong::Nothing, asked.changed.is_some()).await
}

pub async fn post(State(app): State<App>, signed_in: SignedInVisit, form: Form) -> Result<Response, Problem> {
    let refuse = async |status, wrong| show(&app, &signed_in, status, Wrong::Change(wrong), false).await;
    let SignedInVisit { user, visit } = &signed_in;
    if let Some((status, wrong)) = verify(&app, user, form.text("old_password")).await? {
        return refuse(status, wrong).await;
    }
    let new = match Password::choose(form.text("password"), &user.email) {
        Ok(new) => new,
        Err(weak) => return refuse(StatusCode::BAD_REQUEST, weak.to_string()).await,
    };
    let hash = app.passwords.hash(new).await.map_err(busy)?;
    let changed = user::set_password(&app.db, user, &hash, &[]).await?;
    let changed = changed
        .ok_or_else(|| Problem::conflict("password_changed", "The password was just changed in another session."))?;
    tracing::info!(account_id = changed.account_id, "password changed by its user");
    // This browser stays signed in, under a new session. All other sessions end.
    visit.sign_in(&app, &changed).await?;
    Ok(Redirect::to("/dashboard/password?changed=yes").into_response())
}

/// Checks that a signed-in user knows the account's password. Returns `None` if so, otherwise the
/// status and the error message.
///
/// Attempts are limited, so that somebody at another person's open browser guesses no faster than
/// anybody else.
pub async fn verify(app: &App, user: &User, typed: &str) -> Result<Option<(StatusCode, String)>, Problem> {
    let attempt = CountedAttempt::PasswordChange { account_id: &user.account_id };
    if !attempts::count(&app.db, attempt, app.clock.now()).await? {
        let wrong = "Too many attempts. Try again in 15 minutes.".to_owned();
        return Ok(Some((StatusCode::TOO_MANY_REQUESTS, wrong)));
    }
    let hash = user::find_by_email(&app.db, &user.email).await?.map(|(_, hash)| hash);
    if !app.passwords.verify(Password::typed(typed), hash).await.map_err(busy)? {
        return Ok(Some((StatusCode::FORBIDDEN, "The password of this account is incorrect.".to_owned())));
    }
    attempts::delete(&app.db, attempt).await?;
    Ok(None)
}
