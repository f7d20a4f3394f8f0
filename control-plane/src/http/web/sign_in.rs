//! `GET` and `POST /sign-in`, `POST /sign-out`: the sign-in page, and the forms that sign a user in
//! and out.

use super::form::Form;
use super::next::{self, NextPage};
use super::sign_in_fields::{Button, SignInFields, busy, buttons};
use super::visit::PageSession;
use crate::accounts::attempts::{self, CountedAttempt};
use crate::accounts::password::Password;
use crate::accounts::user;
use crate::app::App;
use crate::http::client_ip::ClientIp;
use crate::http::error::Problem;
use crate::http::rate_limit::counted_by_address;
use crate::networks::network_of;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Serialize;

pub async fn get(State(app): State<App>, visit: PageSession, Query(way): Query<NextPage>) -> Result<Response, Problem> {
    let next = next::local(&way.next);
    match visit.user {
        Some(_) => Ok(Redirect::to(&next).into_response()),
        None => show(&app, &visit, StatusCode::OK, SignInFields { next, ..SignInFields::default() }).await,
    }
}

#[derive(Serialize)]
struct Page {
    #[serde(flatten)]
    fields: SignInFields,
    providers: Vec<Button>,
}

/// Renders the sign-in page.
pub async fn show(
    app: &App,
    visit: &PageSession,
    status: StatusCode,
    fields: SignInFields,
) -> Result<Response, Problem> {
    visit.form(app, "sign_in.html", status, &Page { fields, providers: buttons(app) }).await
}

pub async fn post(State(app): State<App>, ip: ClientIp, visit: PageSession, form: Form) -> Response {
    let limit = app.config.limits.sign_in_per_minute;
    counted_by_address(&app, ip, "sign-in", limit, sign_in(&app, ip, &visit, &form)).await
}

async fn sign_in(app: &App, ip: ClientIp, visit: &PageSession, form: &Form) -> Result<Response, Problem> {
    let email = form.text("email").trim();
    let next = next::local(form.text("next"));
    let refuse = async |status, wrong: &str| {
        let fields = SignInFields { email: email.to_owned(), next: next.clone(), wrong: Some(wrong.to_owned()) };
        show(app, visit, status, fields).await
    };
    // Attempts are counted before the password is checked, for known and unknown addresses.
    let found = user::find_by_email(&app.db, email).await?;
    let device = match &found {
        Some((user, _)) => visit.known_device(app, &user.account_id).await?,
        None => None,
    };
    let attempt = match &device {
        Some(device) => CountedAttempt::SignInOfDevice { device },
        None => CountedAttempt::SignIn { email, network: network_of(ip.0) },
    };
    if !attempts::count(&app.db, attempt, app.clock.now()).await? {
        let wrong = "Too many attempts with this email address. Try again in 15 minutes.";
        return refuse(StatusCode::TOO_MANY_REQUESTS, wrong).await;
    }
    let hash = found.as_ref().map(|(_, hash)| hash.clone());
    let fits = app.passwords.verify(Password::typed(form.text("password")), hash).await.map_err(busy)?;
    match found {
        Some((user, _)) if fits => {
            attempts::delete(&app.db, attempt).await?;
            visit.sign_in(app, &user).await?;
            Ok(Redirect::to(&next).into_response())
        }
        _ => refuse(StatusCode::FORBIDDEN, "The email address or the password is incorrect.").await,
    }
}

/// Ends the session and redirects to the home page.
///
/// A user who has already signed out, in another tab, is redirected without an error, although the
/// form's token expired with the session.
pub async fn sign_out(visit: PageSession, form: Result<Form, Problem>) -> Result<Redirect, Problem> {
    if visit.user.is_some() {
        form?;
        visit.sign_out().await?;
    }
    Ok(Redirect::to("/"))
}
