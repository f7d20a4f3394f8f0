//! `GET` and `POST /confirm/{link}`: the last step of a sign-up whose address is proven by email.
//!
//! The page requires the password again: somebody who signs up with another person's address does
//! not get an account by that person's click.

use super::form::Form;
use super::next::{self, NextPage};
use super::sign_in_fields::{SignInFields, busy};
use super::visit::PageSession;
use crate::accounts::password::Password;
use crate::accounts::token::{KeyHash, PlainKey};
use crate::accounts::user::{self, LINK_PREFIX, SignUp};
use crate::app::App;
use crate::http::client_ip::ClientIp;
use crate::http::error::Problem;
use crate::http::rate_limit::counted_by_address;
use crate::ledger::Credits;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};

pub async fn get(
    State(app): State<App>,
    visit: PageSession,
    Path(link): Path<String>,
    Query(way): Query<NextPage>,
) -> Result<Response, Problem> {
    let (_, sign_up) = find(&app, &link).await?;
    let fields = SignInFields { email: sign_up.email, next: next::local(&way.next), wrong: None };
    visit.form(&app, "confirm.html", StatusCode::OK, &fields).await
}

pub async fn post(
    State(app): State<App>,
    ip: ClientIp,
    visit: PageSession,
    Path(link): Path<String>,
    form: Form,
) -> Response {
    let limit = app.config.limits.sign_in_per_minute;
    counted_by_address(&app, ip, "sign-in", limit, confirm(&app, &visit, &link, &form)).await
}

async fn confirm(app: &App, visit: &PageSession, link: &str, form: &Form) -> Result<Response, Problem> {
    let (hash, sign_up) = find(app, link).await?;
    let next = next::local(form.text("next"));
    let typed = Password::typed(form.text("password"));
    if !app.passwords.verify(typed, Some(sign_up.password)).await.map_err(busy)? {
        let wrong = "This is not the password that you chose when you signed up.".to_owned();
        let fields = SignInFields { email: sign_up.email, next, wrong: Some(wrong) };
        return visit.form(app, "confirm.html", StatusCode::FORBIDDEN, &fields).await;
    }
    let free = Credits(app.config.prices.free_credits);
    let user = user::confirm(&app.db, &hash, free, app.clock.now()).await?.ok_or_else(used_up)?;
    tracing::info!(account_id = user.account_id, "email address confirmed");
    visit.sign_in(app, &user).await?;
    Ok(Redirect::to(&next).into_response())
}

async fn find(app: &App, link: &str) -> Result<(KeyHash, SignUp), Problem> {
    let hash = PlainKey::parse(LINK_PREFIX, link).ok_or_else(used_up)?.hash();
    let sign_up = user::find_sign_up(&app.db, &hash, app.clock.now()).await?.ok_or_else(used_up)?;
    Ok((hash, sign_up))
}

/// Returns the problem for a link that was used or has expired. Links that never existed get the
/// same.
pub fn used_up() -> Problem {
    Problem::not_found("unknown_link", "This link was used before or has expired. Request a new one.")
}
