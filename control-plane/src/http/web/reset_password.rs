//! `GET` and `POST /forgot-password`, `/reset-password/{link}`: set a new password for somebody who
//! reads the email of the address, or to whom the operator gave a link.

use super::confirm::used_up;
use super::form::Form;
use super::format::moment;
use super::next;
use super::sign_in_fields::busy;
use super::sign_up::{CheckMail, email_unavailable};
use super::visit::PageSession;
use crate::accounts::attempts::{self, CountedAttempt};
use crate::accounts::password::Password;
use crate::accounts::token::PlainKey;
use crate::accounts::user::{self, LINK_PREFIX, User};
use crate::accounts::{account, identity};
use crate::app::App;
use crate::http::client_ip::ClientIp;
use crate::http::error::Problem;
use crate::http::password_link::make_link;
use crate::http::rate_limit::counted_by_address;
use crate::mail::{Email, Mailer, SendPermit};
use crate::networks::network_of;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Serialize;

#[derive(Serialize)]
struct Forgot {
    wrong: Option<String>,
    /// True if the service sends email. Without it the operator gives out the link.
    is_mailed: bool,
}

pub async fn ask(State(app): State<App>, visit: PageSession) -> Result<Response, Problem> {
    let page = Forgot { wrong: None, is_mailed: app.mailer.is_some() };
    visit.form(&app, "forgot_password.html", StatusCode::OK, &page).await
}

pub async fn post_link(State(app): State<App>, ip: ClientIp, visit: PageSession, form: Form) -> Response {
    let limit = app.config.limits.sign_up_per_minute;
    counted_by_address(&app, ip, "sign-up", limit, mail_link(&app, &visit, &form)).await
}

async fn mail_link(app: &App, visit: &PageSession, form: &Form) -> Result<Response, Problem> {
    let email = form.text("email").trim();
    let refuse = async |status, wrong: &str| {
        let page = Forgot { wrong: Some(wrong.to_owned()), is_mailed: app.mailer.is_some() };
        visit.form(app, "forgot_password.html", status, &page).await
    };
    let Some(mailer) = &app.mailer else {
        return refuse(StatusCode::CONFLICT, "This service does not send email.").await;
    };
    let Some(address) = account::normal_email(email) else {
        return refuse(StatusCode::BAD_REQUEST, "This is not an email address.").await;
    };
    let now = app.clock.now();
    if !attempts::count(&app.db, CountedAttempt::ResetMail { email }, now).await? {
        let wrong = "Several emails were sent to this address already. Check your email, or try again in 15 minutes.";
        return refuse(StatusCode::TOO_MANY_REQUESTS, wrong).await;
    }
    let room = mailer.room().map_err(email_unavailable)?;
    let (app, mailer) = (app.clone(), mailer.clone());
    // The page and its response time are the same for an address without an account, as for a
    // sign-up.
    tokio::spawn(async move { write(&app, &mailer, room, &address).await.ok() });
    Ok(visit.page("check_mail.html", &CheckMail { email }))
}

/// Sends the email with the link to the user of an address, if there is one.
async fn write(app: &App, mailer: &Mailer, room: SendPermit, address: &str) -> Result<(), Problem> {
    let Some((user, _)) = user::find_by_email(&app.db, address).await? else { return Ok(()) };
    let link = make_link(app, &user).await?;
    let text = format!(
        "Somebody, hopefully you, requested a new password for your account at {}.\n\nSet it within two hours:\n\n{link}\n\nIf it was not you, do nothing. Your password stays as it is.\n",
        app.base_url
    );
    mailer.post(room, Email { to: user.email, subject: "Set a new password", text }).map_err(email_unavailable)
}

#[derive(Serialize)]
struct Page {
    email: String,
    wrong: Option<String>,
    /// Other ways to sign in to the account, which the user may end with the new password.
    linked: Vec<ShownLink>,
}

#[derive(Serialize)]
struct ShownLink {
    issuer: String,
    name: String,
    since: String,
}

async fn show(
    app: &App,
    visit: &PageSession,
    status: StatusCode,
    user: User,
    wrong: Option<String>,
) -> Result<Response, Problem> {
    let shown = |linked: identity::LinkedIdentity| ShownLink {
        name: app.openid.of_issuer(&linked.issuer).map_or_else(|| linked.issuer.clone(), |one| one.name().to_owned()),
        issuer: linked.issuer,
        since: moment(linked.linked_at),
    };
    let linked = identity::list(&app.db, &user.account_id).await?.into_iter().map(shown).collect();
    visit.form(app, "reset_password.html", status, &Page { email: user.email, wrong, linked }).await
}

pub async fn get(State(app): State<App>, visit: PageSession, Path(link): Path<String>) -> Result<Response, Problem> {
    let user = find(&app, &link).await?;
    show(&app, &visit, StatusCode::OK, user, None).await
}

pub async fn post(
    State(app): State<App>,
    ip: ClientIp,
    visit: PageSession,
    Path(link): Path<String>,
    form: Form,
) -> Response {
    let limit = app.config.limits.sign_in_per_minute;
    counted_by_address(&app, ip, "sign-in", limit, set(&app, ip, &visit, &link, &form)).await
}

async fn set(app: &App, ip: ClientIp, visit: &PageSession, link: &str, form: &Form) -> Result<Response, Problem> {
    let user = find(app, link).await?;
    let password = match Password::choose(form.text("password"), &user.email) {
        Ok(password) => password,
        Err(weak) => return show(app, visit, StatusCode::BAD_REQUEST, user, Some(weak.to_string())).await,
    };
    let hash = app.passwords.hash(password).await.map_err(busy)?;
    let end: Vec<&str> = form.all("end").collect();
    let user = user::set_password(&app.db, &user, &hash, &end).await?.ok_or_else(used_up)?;
    // Somebody who locked the address by guessing passwords must not lock its owner out.
    attempts::delete(&app.db, CountedAttempt::SignIn { email: &user.email, network: network_of(ip.0) }).await?;
    tracing::info!(account_id = user.account_id, "new password set");
    visit.sign_in(app, &user).await?;
    Ok(Redirect::to(next::HOME).into_response())
}

async fn find(app: &App, link: &str) -> Result<User, Problem> {
    let hash = PlainKey::parse(LINK_PREFIX, link).ok_or_else(used_up)?.hash();
    user::find_reset(&app.db, &hash, app.clock.now()).await?.ok_or_else(used_up)
}
