//! `GET /sign-in/{provider}` and `GET /sign-in/{provider}/callback`: sign-in through an OpenID
//! provider.
//!
//! A callback is accepted only in the browser that was sent to the provider, only once, and only
//! from that provider. Linking an identity with an account begins with a form of the dashboard, so
//! that no other page can begin it.

use super::next::{self, NextPage};
use super::sign_in;
use super::sign_in_fields::SignInFields;
use super::sign_up;
use super::visit::PageSession;
use crate::accounts::account::AccountError;
use crate::accounts::identity;
use crate::accounts::openid::{FLOW_LIFETIME_MS, Flow, OpenIdError, OpenIdProvider};
use crate::accounts::user::User;
use crate::app::App;
use crate::http::client_ip::ClientIp;
use crate::http::error::Problem;
use crate::http::middleware::wrong_method;
use crate::http::rate_limit::counted_by_address;
use crate::ledger::Credits;
use crate::mail::Email;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::ALLOW;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use subtle::ConstantTimeEq;

pub async fn begin(
    State(app): State<App>,
    ip: ClientIp,
    visit: PageSession,
    Path(provider_id): Path<String>,
    Query(way): Query<NextPage>,
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

/// Begins a sign-in at the provider. Returns the URL that the browser must open, and stores in its
/// session what the callback is checked against.
pub async fn set_out(
    app: &App,
    visit: &PageSession,
    provider: &OpenIdProvider,
    next: String,
    link_account_id: Option<String>,
) -> Result<String, Problem> {
    let begun = provider.begin(next, link_account_id, app.clock.now()).await;
    let (url, flow) = begun.map_err(|error| no_answer(provider, &error))?;
    visit.keep_flow(&flow).await?;
    Ok(url)
}

/// Query with which a provider sends a browser back.
#[derive(Deserialize)]
pub struct Back {
    #[serde(default)]
    state: String,
    code: Option<String>,
    /// Issuer that the provider names (RFC 9207), if it does.
    iss: Option<String>,
}

pub async fn callback(
    State(app): State<App>,
    ip: ClientIp,
    visit: PageSession,
    Path(provider_id): Path<String>,
    Query(back): Query<Back>,
) -> Response {
    let limit = app.config.limits.sign_in_per_minute;
    counted_by_address(&app, ip, "sign-in", limit, come_back(&app, ip, &visit, &provider_id, &back)).await
}

/// Refuses `HEAD`. A callback can be used only once, so a program that only checks URLs must not
/// use it up before the person follows it.
pub async fn head_of_callback() -> Problem {
    wrong_method().await.header(ALLOW, "GET")
}

async fn come_back(
    app: &App,
    ip: ClientIp,
    visit: &PageSession,
    provider_id: &str,
    back: &Back,
) -> Result<Response, Problem> {
    let provider = app.openid.find(provider_id).ok_or_else(unknown_provider)?;
    let now = app.clock.now();
    // The session loses the flow whatever the outcome.
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
                format!("This {} account, or another one, is already linked to an account here.", provider.name());
            return Err(Problem::conflict("identity_taken", detail));
        }
        tracing::info!(account_id = user.account_id, provider_id, "identity linked by its user");
        tell_of_link(app, user, provider);
        return Ok(Redirect::to(&flow.next).into_response());
    }
    if let Some(user) = identity::find(&app.db, &identity).await? {
        visit.sign_in(app, &user).await?;
        return Ok(Redirect::to(&flow.next).into_response());
    }
    let Some(email) = &identity.verified_email else {
        let wrong = format!(
            "{} did not confirm your email address. Sign up with a password; then you can link {0}.",
            provider.name()
        );
        return refuse(app, visit, &flow, StatusCode::FORBIDDEN, &wrong).await;
    };
    let networks = sign_up::admit(app, ip).await?;
    let free = Credits(app.config.prices.free_credits);
    match identity::sign_up(&app.db, &identity, email, free, &networks, now).await {
        Ok(user) => {
            tracing::info!(account_id = user.account_id, provider_id, "account created by its user");
            visit.sign_in(app, &user).await?;
            Ok(Redirect::to(&flow.next).into_response())
        }
        Err(AccountError::EmailTaken) => {
            let wrong = format!(
                "There is already an account with the email address {email}. Sign in with its password; \
                 then you can link {} on the password page.",
                provider.name()
            );
            refuse(app, visit, &flow, StatusCode::CONFLICT, &wrong).await
        }
        Err(AccountError::NetworkFull) => Err(sign_up::network_full(now)),
        Err(error) => Err(error.into()),
    }
}

/// Sends an email to the account's holder, who may not be the one who linked the provider. Errors
/// are only logged: the provider is linked either way.
fn tell_of_link(app: &App, user: &User, provider: &OpenIdProvider) {
    let Some(mailer) = &app.mailer else { return };
    let text = format!(
        "A {name} account can now sign in to your account at {base}.\n\n\
         If you did not link it, set a new password and unlink {name} on the same page: {base}/forgot-password\n",
        name = provider.name(),
        base = app.base_url,
    );
    let letter = Email { to: user.email.clone(), subject: "A way to sign in was added to your account", text };
    if let Err(error) = mailer.room().and_then(|room| mailer.post(room, letter)) {
        tracing::error!(
            error = &error as &dyn std::error::Error,
            account_id = user.account_id,
            "an email could not be queued"
        );
    }
}

/// Returns the sign-in page with the reason, to try again or in another way. For a flow that links
/// an account it returns a problem.
async fn refuse(
    app: &App,
    visit: &PageSession,
    flow: &Flow,
    status: StatusCode,
    wrong: &str,
) -> Result<Response, Problem> {
    if flow.link_account_id.is_some() {
        return Err(Problem::new(status, "not_linked", wrong));
    }
    let fields = SignInFields { email: String::new(), next: flow.next.clone(), wrong: Some(wrong.to_owned()) };
    sign_in::show(app, visit, status, fields).await
}

pub fn unknown_provider() -> Problem {
    Problem::not_found("unknown_provider", "There is no such sign-in provider.")
}

fn out_of_date() -> Problem {
    Problem::bad_request(
        "sign_in_out_of_date",
        "This sign-in has expired, or was started in another browser. Start again.",
    )
}

/// Returns the problem for a provider that fails or refuses. The provider's own words are only
/// logged.
fn no_answer(provider: &OpenIdProvider, error: &OpenIdError) -> Problem {
    tracing::warn!(
        error = error as &dyn std::error::Error,
        provider_id = provider.id(),
        "a sign-in by a provider failed"
    );
    let name = provider.name();
    match error {
        OpenIdError::Down(_) => Problem::unavailable(
            "provider_down",
            format!("{name} does not respond. Try again, or sign in with a password."),
        )
        .retry_after(30),
        OpenIdError::Refused(_) | OpenIdError::NotBelieved(_) => {
            Problem::forbidden("sign_in_refused", format!("The response of {name} could not be verified. Start again."))
        }
    }
}
