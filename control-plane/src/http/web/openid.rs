//! `GET /sign-in/{provider}` and `GET /sign-in/{provider}/callback`: by way of a provider, and back.
//!
//! What comes back is believed only by the browser that was sent, once, and from the provider that it was sent to. Linking an identity with
//! an account begins with a form of the dashboard, so that no other page can begin it.

use super::next::{self, Way};
use super::sign_in;
use super::sign_in_fields::Fields;
use super::sign_up;
use super::visit::Visit;
use crate::accounts::account::AccountError;
use crate::accounts::identity;
use crate::accounts::openid::{FLOW_LIFETIME_MS, Flow, OpenIdError, Provider};
use crate::accounts::user::User;
use crate::app::App;
use crate::http::client_ip::ClientIp;
use crate::http::error::Problem;
use crate::http::frame::wrong_method;
use crate::http::rate_limit::counted_by_address;
use crate::ledger::Credits;
use crate::mail::Letter;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::ALLOW;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use subtle::ConstantTimeEq;

pub async fn begin(
    State(app): State<App>,
    ip: ClientIp,
    visit: Visit,
    Path(provider_id): Path<String>,
    Query(way): Query<Way>,
) -> Response {
    let limit = app.config.limits.sign_in_per_minute;
    let answer = async {
        let provider = app.openid.find(&provider_id).ok_or_else(unknown_provider)?;
        let next = next::local(&way.next);
        if visit.user.is_some() {
            return Ok(Redirect::to(&next).into_response());
        }
        let url = set_out(&app, &visit, provider, next, None).await?;
        Ok(Redirect::to(&url).into_response())
    };
    counted_by_address(&app, ip, "sign-in", limit, answer).await
}

/// Where the browser is to go; its session keeps what it has to come back with.
pub async fn set_out(
    app: &App,
    visit: &Visit,
    provider: &Provider,
    next: String,
    link_account_id: Option<String>,
) -> Result<String, Problem> {
    let begun = provider.begin(next, link_account_id, app.clock.now()).await;
    let (url, flow) = begun.map_err(|error| no_answer(provider, &error))?;
    visit.keep_flow(&flow).await?;
    Ok(url)
}

/// What a provider sends a browser back with.
#[derive(Deserialize)]
pub struct Back {
    #[serde(default)]
    state: String,
    code: Option<String>,
    /// Who it says that it is (RFC 9207), where it does.
    iss: Option<String>,
}

pub async fn callback(
    State(app): State<App>,
    ip: ClientIp,
    visit: Visit,
    Path(provider_id): Path<String>,
    Query(back): Query<Back>,
) -> Response {
    let limit = app.config.limits.sign_in_per_minute;
    counted_by_address(&app, ip, "sign-in", limit, come_back(&app, ip, &visit, &provider_id, &back)).await
}

/// The way back can be taken once; a program that only looks at an address must not take it for the person who is to follow it.
pub async fn head_of_callback() -> Problem {
    wrong_method().await.header(ALLOW, "GET")
}

async fn come_back(
    app: &App,
    ip: ClientIp,
    visit: &Visit,
    provider_id: &str,
    back: &Back,
) -> Result<Response, Problem> {
    let provider = app.openid.find(provider_id).ok_or_else(unknown_provider)?;
    let now = app.clock.now();
    // Whatever comes of it, it is over.
    let flow = visit.take_flow().await?.ok_or_else(out_of_date)?;
    let is_of_here = flow.provider_id == provider_id
        && bool::from(flow.state.as_bytes().ct_eq(back.state.as_bytes()))
        && now.0 - flow.begun_at_ms < FLOW_LIFETIME_MS
        && back.iss.as_ref().is_none_or(|issuer| issuer == provider.issuer());
    if !is_of_here {
        return Err(out_of_date());
    }
    let Some(code) = &back.code else {
        return refuse(app, visit, &flow, StatusCode::FORBIDDEN, &format!("{} did not sign you in.", provider.name()))
            .await;
    };
    let identity = provider.finish(&flow, code, now).await.map_err(|error| no_answer(provider, &error))?;
    if let Some(account_id) = &flow.link_account_id {
        let Some(user) = visit.user.as_ref().filter(|user| user.account_id == *account_id) else {
            return Err(out_of_date());
        };
        if !identity::link(&app.db, &user.account_id, &identity, now).await? {
            let detail =
                format!("This {} account, or another one, is linked with an account here already.", provider.name());
            return Err(Problem::conflict("identity_taken", detail));
        }
        tracing::info!(account_id = user.account_id, provider_id, "identity linked by its holder");
        tell_of_link(app, user, provider);
        return Ok(Redirect::to(&flow.next).into_response());
    }
    if let Some(user) = identity::find(&app.db, &identity).await? {
        visit.sign_in(app, &user).await?;
        return Ok(Redirect::to(&flow.next).into_response());
    }
    let Some(email) = &identity.verified_email else {
        let wrong = format!(
            "{} does not say that your e-mail address is yours. Sign up with a password; you can link {0} then.",
            provider.name()
        );
        return refuse(app, visit, &flow, StatusCode::FORBIDDEN, &wrong).await;
    };
    let networks = sign_up::admit(app, ip).await?;
    let free = Credits(app.config.prices.free_credits);
    match identity::sign_up(&app.db, &identity, email, free, &networks, now).await {
        Ok(user) => {
            tracing::info!(account_id = user.account_id, provider_id, "account made by its user");
            visit.sign_in(app, &user).await?;
            Ok(Redirect::to(&flow.next).into_response())
        }
        Err(AccountError::EmailTaken) => {
            let wrong = format!(
                "There is an account with the address {email}. Sign in to it with its password; then you can link {} on its password page.",
                provider.name()
            );
            refuse(app, visit, &flow, StatusCode::CONFLICT, &wrong).await
        }
        Err(AccountError::NetworkFull) => Err(sign_up::network_full(now)),
        Err(error) => Err(error.into()),
    }
}

/// A letter to the account's holder, who may not be the one who linked it. What goes wrong is logged: it is linked either way.
fn tell_of_link(app: &App, user: &User, provider: &Provider) {
    let Some(mailer) = &app.mailer else { return };
    let text = format!(
        "A {name} account can sign in to your account at {base} from now on.\n\nIf it was not you who linked it, set a new password and end that way to sign in on the same page: {base}/forgot-password\n",
        name = provider.name(),
        base = app.base_url,
    );
    let letter = Letter { to: user.email.clone(), subject: "A way to sign in was added to your account", text };
    if let Err(error) = mailer.room().and_then(|room| mailer.post(room, letter)) {
        tracing::error!(
            error = &error as &dyn std::error::Error,
            account_id = user.account_id,
            "a letter was not taken"
        );
    }
}

/// The page to sign in again, or in another way.
async fn refuse(app: &App, visit: &Visit, flow: &Flow, status: StatusCode, wrong: &str) -> Result<Response, Problem> {
    if flow.link_account_id.is_some() {
        return Err(Problem::new(status, "not_linked", wrong));
    }
    let fields = Fields { email: String::new(), next: flow.next.clone(), wrong: Some(wrong.to_owned()) };
    sign_in::show(app, visit, status, fields).await
}

pub fn unknown_provider() -> Problem {
    Problem::not_found("unknown_provider", "There is no such way to sign in.")
}

fn out_of_date() -> Problem {
    Problem::bad_request(
        "sign_in_out_of_date",
        "This sign-in is out of date, or was begun in another browser. Begin again.",
    )
}

/// A provider that does not do its part. Its own words are for the log.
fn no_answer(provider: &Provider, error: &OpenIdError) -> Problem {
    tracing::warn!(
        error = error as &dyn std::error::Error,
        provider_id = provider.id(),
        "a sign-in by a provider failed"
    );
    let name = provider.name();
    match error {
        OpenIdError::Down(_) => Problem::unavailable(
            "provider_down",
            format!("{name} does not answer. Try again, or sign in with a password."),
        )
        .retry_after(30),
        OpenIdError::Refused(_) | OpenIdError::NotBelieved(_) => {
            Problem::forbidden("sign_in_refused", format!("What {name} answered is not believed. Begin again."))
        }
    }
}
