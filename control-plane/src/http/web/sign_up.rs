//! `GET` and `POST /sign-up`: an account for an e-mail address and a password.

use super::form::Form;
use super::next::{self, Way};
use super::sign_in_fields::{Button, Fields, busy, buttons};
use super::visit::Visit;
use crate::accounts::account::{self, AccountError};
use crate::accounts::attempts::{self, Attempt};
use crate::accounts::password::{Password, PasswordHash};
use crate::accounts::sign_up_counts::{self, Counted};
use crate::accounts::token::PlainKey;
use crate::accounts::user::{self, LINK_PREFIX};
use crate::app::App;
use crate::clock::{DAY_MS, UnixMs};
use crate::http::client_ip::ClientIp;
use crate::http::error::Problem;
use crate::http::rate_limit::counted_by_address;
use crate::ledger::Credits;
use crate::mail::{Letter, MailError, Mailer, Room};
use crate::networks::{neighbours_of, network_of};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Serialize;

pub async fn get(State(app): State<App>, visit: Visit, Query(way): Query<Way>) -> Result<Response, Problem> {
    let next = next::local(&way.next);
    match visit.user {
        Some(_) => Ok(Redirect::to(&next).into_response()),
        None => show(&app, &visit, StatusCode::OK, Fields { next, ..Fields::default() }).await,
    }
}

#[derive(Serialize)]
struct Page {
    #[serde(flatten)]
    fields: Fields,
    providers: Vec<Button>,
    free_credits: i64,
    /// Whether the address has to be proven first.
    is_proven_by_mail: bool,
}

async fn show(app: &App, visit: &Visit, status: StatusCode, fields: Fields) -> Result<Response, Problem> {
    let page = Page {
        fields,
        providers: buttons(app),
        free_credits: app.config.prices.free_credits,
        is_proven_by_mail: app.mailer.is_some(),
    };
    visit.form(app, "sign_up.html", status, &page).await
}

pub async fn post(State(app): State<App>, ip: ClientIp, visit: Visit, form: Form) -> Response {
    let limit = app.config.limits.sign_up_per_minute;
    counted_by_address(&app, ip, "sign-up", limit, sign_up(&app, ip, &visit, &form)).await
}

async fn sign_up(app: &App, ip: ClientIp, visit: &Visit, form: &Form) -> Result<Response, Problem> {
    let email = form.text("email").trim();
    let next = next::local(form.text("next"));
    let refuse = |status, wrong: String| {
        show(app, visit, status, Fields { email: email.to_owned(), next: next.clone(), wrong: Some(wrong) })
    };
    let Some(address) = account::normal_email(email) else {
        return refuse(StatusCode::BAD_REQUEST, "This is no e-mail address.".to_owned()).await;
    };
    let password = match Password::choose(form.text("password"), email) {
        Ok(password) => password,
        Err(weak) => return refuse(StatusCode::BAD_REQUEST, weak.to_string()).await,
    };
    let now = app.clock.now();
    let networks = admit(app, ip).await?;
    let hash = app.passwords.hash(password).await.map_err(busy)?;
    if let Some(mailer) = &app.mailer {
        if !attempts::count(&app.db, Attempt::SignUpMail { email }, now).await? {
            let wrong = "This address has been sent several letters already. Look for them, or try again in a quarter of an hour.";
            return refuse(StatusCode::TOO_MANY_REQUESTS, wrong.to_owned()).await;
        }
        let room = mailer.room().map_err(no_letter)?;
        // The letter counts, also the one to an address that has an account: the count would tell which has.
        sign_up_counts::count(&app.db, &networks, now).await.map_err(|error| refused(error, now))?;
        let (app, mailer) = (app.clone(), mailer.clone());
        // The same page for every address, and beside it the letter: neither what the page says nor how long it takes tells whether the
        // address has an account. What goes wrong is logged where it arises.
        tokio::spawn(async move { write(&app, &mailer, room, address, &hash, &next).await.ok() });
        return Ok(visit.page("check_mail.html", &CheckMail { email }));
    }
    let free = Credits(app.config.prices.free_credits);
    match user::sign_up(&app.db, email, &hash, free, &networks, now).await {
        Ok(user) => {
            tracing::info!(account_id = user.account_id, "account made by its user");
            visit.sign_in(app, &user).await?;
            Ok(Redirect::to(&next).into_response())
        }
        Err(AccountError::EmailTaken) => {
            refuse(
                StatusCode::CONFLICT,
                "This address cannot be used for a new account. If it is yours, sign in.".to_owned(),
            )
            .await
        }
        Err(error) => Err(refused(error, now)),
    }
}

/// Whether a new account may be made: refused when the service, the client or the network around it has made as many
/// as it may in a day. Answers the networks that the account, or the letter that leads to it, is to be counted for
/// when it is made.
pub async fn admit(app: &App, ClientIp(ip): ClientIp) -> Result<[Counted; 2], Problem> {
    let (limits, now) = (&app.config.limits, app.clock.now());
    // Counted without a lock: a few more than the limit are no harm.
    if user::made_since(&app.db, now.plus_ms(-DAY_MS)).await? >= limits.sign_ups_per_day {
        let detail = "As many accounts were made today as this service takes in a day: try again tomorrow.";
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
    let detail = "As many accounts were made from your network today as one network may make in a day: try again tomorrow, or ask the operator \
                  of this service for an account.";
    let seconds = sign_up_counts::seconds_left(now);
    Problem::rate_limited(seconds).because("rate_limited", detail.to_owned())
}

#[derive(Serialize)]
pub struct CheckMail<'a> {
    pub email: &'a str,
}

/// The letter to somebody who signs up.
async fn write(
    app: &App,
    mailer: &Mailer,
    room: Room,
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
    mailer.post(room, letter).map_err(no_letter)
}

fn confirmation(app: &App, to: String, link: &PlainKey, next: &str) -> Letter {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
    let text = format!(
        "Somebody, hopefully you, has signed up at {base} with this address.\n\nTo go on, open this page within two hours and give the password that was chosen:\n\n{base}/confirm/{}?{query}\n\nIf it was not you, do nothing: no account is made.\n",
        link.reveal(),
        base = app.base_url,
    );
    Letter { to, subject: "Confirm your e-mail address", text }
}

fn known(app: &App, to: String) -> Letter {
    let text = format!(
        "Somebody, hopefully you, has tried to sign up at {base} with this address, which has an account already.\n\nSign in: {base}/sign-in\nSet a new password: {base}/forgot-password\n\nIf it was not you, do nothing.\n",
        base = app.base_url,
    );
    Letter { to, subject: "You have an account already", text }
}

/// No letter, whoever it was for.
pub fn no_letter(error: MailError) -> Problem {
    tracing::warn!(error = &error as &dyn std::error::Error, "a letter was not taken");
    Problem::unavailable("at_capacity", "No letter can be sent now.").retry_after(30)
}
