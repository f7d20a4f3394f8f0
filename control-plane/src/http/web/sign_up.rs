//! `GET` and `POST /sign-up`: an account for an email address and a password.

use super::form::Form;
use super::next::{self, NextPage};
use super::sign_in_fields::{Button, SignInFields, busy, buttons};
use super::visit::PageSession;
use crate::accounts::account::{self, AccountError};
use crate::accounts::attempts::{self, CountedAttempt};
use crate::accounts::password::{Password, PasswordHash};
use crate::accounts::sign_up_counts::{self, SignUpCount};
use crate::accounts::token::PlainKey;
use crate::accounts::user::{self, LINK_PREFIX};
use crate::app::App;
use crate::clock::{DAY_MS, UnixMs};
use crate::http::client_ip::ClientIp;
use crate::http::error::Problem;
use crate::http::rate_limit::counted_by_address;
use crate::ledger::Credits;
use crate::mail::{Email, MailError, Mailer, SendPermit};
use crate::networks::{neighbours_of, network_of};
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
    free_credits: i64,
    /// True if the user has to prove the address by email first.
    is_proven_by_mail: bool,
}

async fn show(app: &App, visit: &PageSession, status: StatusCode, fields: SignInFields) -> Result<Response, Problem> {
    let page = Page {
        fields,
        providers: buttons(app),
        free_credits: app.config.prices.free_credits,
        is_proven_by_mail: app.mailer.is_some(),
    };
    visit.form(app, "sign_up.html", status, &page).await
}

pub async fn post(State(app): State<App>, ip: ClientIp, visit: PageSession, form: Form) -> Response {
    let limit = app.config.limits.sign_up_per_minute;
    counted_by_address(&app, ip, "sign-up", limit, sign_up(&app, ip, &visit, &form)).await
}

async fn sign_up(app: &App, ip: ClientIp, visit: &PageSession, form: &Form) -> Result<Response, Problem> {
    let email = form.text("email").trim();
    let next = next::local(form.text("next"));
    let refuse = |status, wrong: String| {
        show(app, visit, status, SignInFields { email: email.to_owned(), next: next.clone(), wrong: Some(wrong) })
    };
    let Some(address) = account::normal_email(email) else {
        return refuse(StatusCode::BAD_REQUEST, "This is not an email address.".to_owned()).await;
    };
    let password = match Password::choose(form.text("password"), email) {
        Ok(password) => password,
        Err(weak) => return refuse(StatusCode::BAD_REQUEST, weak.to_string()).await,
    };
    let now = app.clock.now();
    let networks = admit(app, ip).await?;
    let hash = app.passwords.hash(password).await.map_err(busy)?;
    if let Some(mailer) = &app.mailer {
        if !attempts::count(&app.db, CountedAttempt::SignUpMail { email }, now).await? {
            let wrong =
                "Several emails were sent to this address already. Check your email, or try again in 15 minutes.";
            return refuse(StatusCode::TOO_MANY_REQUESTS, wrong.to_owned()).await;
        }
        let room = mailer.room().map_err(email_unavailable)?;
        // Every email is counted, also one to an address that has an account: otherwise the count
        // would reveal which addresses have one.
        sign_up_counts::count(&app.db, &networks, now).await.map_err(|error| refused(error, now))?;
        let (app, mailer) = (app.clone(), mailer.clone());
        // Every address gets the same page, and the email is sent by a separate task, so neither
        // the page nor its response time reveals whether the address has an account. Errors are
        // logged where they arise.
        tokio::spawn(async move { write(&app, &mailer, room, address, &hash, &next).await.ok() });
        return Ok(visit.page("check_mail.html", &CheckMail { email }));
    }
    let free = Credits(app.config.prices.free_credits);
    match user::sign_up(&app.db, email, &hash, free, &networks, now).await {
        Ok(user) => {
            tracing::info!(account_id = user.account_id, "account created by its user");
            visit.sign_in(app, &user).await?;
            Ok(Redirect::to(&next).into_response())
        }
        Err(AccountError::EmailTaken) => {
            refuse(
                StatusCode::CONFLICT,
                "This email address cannot be used for a new account. If it is yours, sign in.".to_owned(),
            )
            .await
        }
        Err(error) => Err(refused(error, now)),
    }
}

/// Checks whether a new account may be made. Refuses if the service, the client's network or the
/// networks around it have made as many as they may in a day. Returns the networks for which the
/// account, or the email that leads to it, is counted when it is made.
pub async fn admit(app: &App, ClientIp(ip): ClientIp) -> Result<[SignUpCount; 2], Problem> {
    let (limits, now) = (&app.config.limits, app.clock.now());
    // The count takes no lock: a few accounts more than the limit do no harm.
    if user::made_since(&app.db, now.plus_ms(-DAY_MS)).await? >= limits.sign_ups_per_day {
        let detail = "This service has reached its limit of new accounts for today. Try again tomorrow.";
        return Err(Problem::unavailable("at_capacity", detail).retry_after(3600));
    }
    let networks = [
        (format!("client {}", network_of(ip)), limits.sign_ups_per_client_day),
        (format!("network {}", neighbours_of(ip)), limits.sign_ups_per_network_day),
    ];
    match sign_up_counts::is_full(&app.db, &networks, now).await? {
        true => Err(network_full(now)),
        false => Ok(networks),
    }
}

fn refused(error: AccountError, now: UnixMs) -> Problem {
    match error {
        AccountError::NetworkFull => network_full(now),
        error => error.into(),
    }
}

pub fn network_full(now: UnixMs) -> Problem {
    let detail = "Your network has reached its limit of new accounts for today. Try again tomorrow, or ask the operator \
                  of this service for an account.";
    let seconds = sign_up_counts::seconds_left(now);
    Problem::rate_limited(seconds).with_code("rate_limited", detail.to_owned())
}

#[derive(Serialize)]
pub struct CheckMail<'a> {
    pub email: &'a str,
}

/// Sends the email to somebody who signs up: a link to confirm, or a note that the address already
/// has an account.
async fn write(
    app: &App,
    mailer: &Mailer,
    room: SendPermit,
    address: String,
    hash: &PasswordHash,
    next: &str,
) -> Result<(), Problem> {
    let letter = match user::find_by_email(&app.db, &address).await? {
        Some(_) => known(app, address),
        None => {
            let link = PlainKey::generate(LINK_PREFIX, &mut rand::rng());
            user::keep_sign_up(&app.db, &address, hash, &link, app.clock.now()).await?;
            confirmation(app, address, &link, next)
        }
    };
    mailer.post(room, letter).map_err(email_unavailable)
}

fn confirmation(app: &App, to: String, link: &PlainKey, next: &str) -> Email {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
    let text = format!(
        "Somebody, hopefully you, has signed up at {base} with this email address.\n\n\
         To continue, open this page within two hours and enter the password that you chose:\n\n\
         {base}/confirm/{}?{query}\n\nIf it was not you, do nothing. No account is created.\n",
        link.reveal(),
        base = app.base_url,
    );
    Email { to, subject: "Confirm your e-mail address", text }
}

fn known(app: &App, to: String) -> Email {
    let text = format!(
        "Somebody, hopefully you, has tried to sign up at {base} with this email address, which already has an account.\n\n\
         Sign in: {base}/sign-in\nSet a new password: {base}/forgot-password\n\nIf it was not you, do nothing.\n",
        base = app.base_url,
    );
    Email { to, subject: "You have an account already", text }
}

/// Returns the problem for an email that cannot be sent, the same for every recipient.
pub fn email_unavailable(error: MailError) -> Problem {
    tracing::warn!(error = &error as &dyn std::error::Error, "an email could not be queued");
    Problem::unavailable("at_capacity", "No email can be sent now.").retry_after(30)
}
