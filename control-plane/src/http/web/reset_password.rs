//! `GET` and `POST /forgot-password`, `/reset-password/{link}`: a new password for somebody who reads the mail of the address, or whom the
//! operator gave a link.

use super::confirm::used_up;
use super::form::Form;
use super::next;
use super::sign_in_fields::busy;
use super::sign_up::{CheckMail, no_letter};
use super::visit::Visit;
use super::words::moment;
use crate::accounts::attempts::{self, Attempt};
use crate::accounts::password::Password;
use crate::accounts::token::PlainKey;
use crate::accounts::user::{self, LINK_PREFIX, User};
use crate::accounts::{account, identity};
use crate::app::App;
use crate::http::client_ip::ClientIp;
use crate::http::error::Problem;
use crate::http::password_link::make_link;
use crate::http::rate_limit::counted_by_address;
use crate::mail::{Letter, Mailer, Room};
use crate::networks::network_of;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Serialize;

#[derive(Serialize)]
struct Forgot {
    wrong: Option<String>,
    /// Without mail the operator gives the link.
    is_mailed: bool,
}

pub async fn ask(State(app): State<App>, visit: Visit) -> Result<Response, Problem> {
    let page = Forgot { wrong: None, is_mailed: app.mailer.is_some() };
    visit.form(&app, "forgot_password.html", StatusCode::OK, &page).await
}

pub async fn post_link(State(app): State<App>, ip: ClientIp, visit: Visit, form: Form) -> Response {
    let limit = app.config.limits.sign_up_per_minute;
    counted_by_address(&app, ip, "sign-up", limit, mail_link(&app, &visit, &form)).await
}

async fn mail_link(app: &App, visit: &Visit, form: &Form) -> Result<Response, Problem> {
    let email = form.text("email").trim();
    let refuse = async |status, wrong: &str| {
        let page = Forgot { wrong: Some(wrong.to_owned()), is_mailed: app.mailer.is_some() };
        visit.form(app, "forgot_password.html", status, &page).await
    };
    let Some(mailer) = &app.mailer else {
        return refuse(StatusCode::CONFLICT, "This service sends no mail.").await;
    };
    let Some(address) = account::normal_email(email) else {
        return refuse(StatusCode::BAD_REQUEST, "This is no e-mail address.").await;
    };
    let now = app.clock.now();
    if !attempts::count(&app.db, Attempt::ResetMail { email }, now).await? {
        let wrong =
            "This address has been sent several letters already. Look for them, or try again in a quarter of an hour.";
        return refuse(StatusCode::TOO_MANY_REQUESTS, wrong).await;
    }
    let room = mailer.room().map_err(no_letter)?;
    let (app, mailer) = (app.clone(), mailer.clone());
    // As for a sign-up: the page, and the time it takes, are the same for an address without an account.
    tokio::spawn(async move { write(&app, &mailer, room, &address).await.ok() });
    Ok(visit.page("check_mail.html", &CheckMail { email }))
}

/// The letter to the user of an address, if there is one.
async fn write(app: &App, mailer: &Mailer, room: Room, address: &str) -> Result<(), Problem> {
    let Some((user, _)) = user::find_by_email(&app.db, address).await? else { return Ok(()) };
    let link = make_link(app, &user).await?;
    let text = format!(
        "Somebody, hopefully you, wants a new password for your account at {}.\n\nSet it within two hours:\n\n{link}\n\nIf it was not you, do nothing: your password stays.\n",
        app.base_url
    );
    mailer.post(room, Letter { to: user.email, subject: "Set a new password", text }).map_err(no_letter)
}

#[derive(Serialize)]
struct Page {
    email: String,
    wrong: Option<String>,
    /// Other ways into the account, which the new password may end.
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
    visit: &Visit,
    status: StatusCode,
    user: User,
    wrong: Option<String>,
) -> Result<Response, Problem> {
    let shown = |linked: identity::Linked| ShownLink {
        name: app.openid.of_issuer(&linked.issuer).map_or_else(|| linked.issuer.clone(), |one| one.name().to_owned()),
        issuer: linked.issuer,
        since: moment(linked.linked_at),
    };
    let linked = identity::list(&app.db, &user.account_id).await?.into_iter().map(shown).collect();
    visit.form(app, "reset_password.html", status, &Page { email: user.email, wrong, linked }).await
}

pub async fn get(State(app): State<App>, visit: Visit, Path(link): Path<String>) -> Result<Response, Problem> {
    let user = find(&app, &link).await?;
    show(&app, &visit, StatusCode::OK, user, None).await
}

pub async fn post(
    State(app): State<App>,
    ip: ClientIp,
    visit: Visit,
    Path(link): Path<String>,
    form: Form,
) -> Response {
    let limit = app.config.limits.sign_in_per_minute;
    counted_by_address(&app, ip, "sign-in", limit, set(&app, ip, &visit, &link, &form)).await
}

async fn set(app: &App, ip: ClientIp, visit: &Visit, link: &str, form: &Form) -> Result<Response, Problem> {
    let user = find(app, link).await?;
    let password = match Password::choose(form.text("password"), &user.email) {
        Ok(password) => password,
        Err(weak) => return show(app, visit, StatusCode::BAD_REQUEST, user, Some(weak.to_string())).await,
    };
    let hash = app.passwords.hash(password).await.map_err(busy)?;
    let end: Vec<&str> = form.all("end").collect();
    let user = user::set_password(&app.db, &user, &hash, &end).await?.ok_or_else(used_up)?;
    // Whoever locked the address by guessing does not lock its owner out.
    attempts::forget(&app.db, Attempt::SignIn { email: &user.email, network: network_of(ip.0) }).await?;
    tracing::info!(account_id = user.account_id, "new password set");
    visit.sign_in(app, &user).await?;
    Ok(Redirect::to(next::HOME).into_response())
}

async fn find(app: &App, link: &str) -> Result<User, Problem> {
    let hash = PlainKey::parse(LINK_PREFIX, link).ok_or_else(used_up)?.hash();
    user::find_reset(&app.db, &hash, app.clock.now()).await?.ok_or_else(used_up)
}
