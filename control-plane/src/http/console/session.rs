//! Access to the console, for a browser that was given the operator token: `GET` and
//! `POST /console/sign-in`, `POST /console/sign-out`.
//!
//! The cookie holds the time at which it expires, and a code made from that time and the operator
//! token. It expires at that time, or when the token changes. The service stores nothing, and the
//! token itself stays out of the browser.

use crate::app::App;
use crate::http::body::read_body;
use crate::http::client_ip::ClientIp;
use crate::http::error::Problem;
use crate::http::rate_limit::counted_by_address;
use crate::http::web::pages::{self, CommonValues};
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::header::{COOKIE, ORIGIN, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use sha2::Sha256;
use subtle::ConstantTimeEq;
use tower_cookies::cookie::{Cookie, SameSite};
use url::form_urlencoded;

const COOKIE_NAME: &str = "console";
const LIFETIME_SECONDS: i64 = 7 * 86_400;

/// Returns the code for a purpose: its HMAC-SHA256 (RFC 2104) under the operator token, in hex.
fn code(app: &App, purpose: &str) -> String {
    let token = app.operator_token.reveal();
    Hmac::<Sha256>::new_from_slice(token.as_bytes())
        .map(|mac| hex::encode(mac.chain_update(purpose).finalize().into_bytes()))
        .unwrap_or_default()
}

fn is_equal(one: &str, other: &str) -> bool {
    !one.is_empty() && bool::from(one.as_bytes().ct_eq(other.as_bytes()))
}

/// A request by an operator's browser. Everybody else is redirected to the page that asks for the
/// token.
#[derive(Debug, Clone, Copy)]
pub struct ConsoleOperator;

impl FromRequestParts<App> for ConsoleOperator {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        match is_signed_in(app, &parts.headers) {
            true => Ok(ConsoleOperator),
            false => Err(Redirect::to("/console/sign-in").into_response()),
        }
    }
}

fn is_signed_in(app: &App, headers: &HeaderMap) -> bool {
    headers.get_all(COOKIE).iter().any(|header| {
        let cookies = Cookie::split_parse(header.to_str().unwrap_or_default());
        cookies.flatten().any(|cookie| cookie.name() == COOKIE_NAME && is_good(app, cookie.value()))
    })
}

/// Returns the value of a cookie that is valid until `end_ms`.
fn cookie_value(app: &App, end_ms: i64) -> String {
    format!("{end_ms}.{}", code(app, &format!("console cookie until {end_ms}")))
}

fn is_good(app: &App, value: &str) -> bool {
    let end_ms = value.split_once('.').and_then(|(end_ms, _)| end_ms.parse::<i64>().ok());
    end_ms.is_some_and(|end_ms| app.clock.now().0 < end_ms && is_equal(value, &cookie_value(app, end_ms)))
}

/// Returns the token that the console's forms send.
pub fn form_token(app: &App) -> String {
    code(app, "console form")
}

/// A form of the console that the console's own page sent.
pub struct ConsoleForm;

impl FromRequest<App> for ConsoleForm {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        let body = read_body(request, app).await.map_err(IntoResponse::into_response)?;
        let sent = form_urlencoded::parse(&body).find(|(name, _)| name == "csrf").map(|(_, value)| value.into_owned());
        match is_equal(&sent.unwrap_or_default(), &form_token(app)) {
            true => Ok(ConsoleForm),
            false => {
                Err(Problem::forbidden("form_out_of_date", "This form was not sent by the console.").into_response())
            }
        }
    }
}

#[derive(Serialize)]
struct Page {
    wrong: Option<&'static str>,
}

pub async fn get() -> Response {
    show(StatusCode::OK, None)
}

fn show(status: StatusCode, wrong: Option<&'static str>) -> Response {
    let shared = CommonValues { email: None, csrf: "", is_known: false };
    pages::render("console_sign_in.html", status, &shared, &Page { wrong })
}

/// Signs an operator in. This form needs no form token: another site can only forge it with the
/// operator token, and a session gives no right that the operator token lacks.
pub async fn sign_in(State(app): State<App>, ip: ClientIp, request: Request) -> Response {
    let limit = app.config.limits.sign_in_per_minute;
    counted_by_address(&app, ip, "console", limit, async {
        let is_https = is_from_https(request.headers());
        let body = read_body(request, &app).await?;
        let given =
            form_urlencoded::parse(&body).find(|(name, _)| name == "token").map(|(_, value)| value.into_owned());
        if !app.operator_token.matches(given.unwrap_or_default().trim()) {
            return Ok(show(StatusCode::FORBIDDEN, Some("This is not the operator token.")));
        }
        tracing::info!("operator signed in to the console");
        let value = cookie_value(&app, app.clock.now().0 + LIFETIME_SECONDS * 1000);
        Ok(([(SET_COOKIE, cookie(value, LIFETIME_SECONDS, is_https))], Redirect::to("/console")).into_response())
    })
    .await
}

pub async fn sign_out(_: ConsoleOperator, headers: HeaderMap, _: ConsoleForm) -> Response {
    let cookie = cookie(String::new(), 0, is_from_https(&headers));
    ([(SET_COOKIE, cookie)], Redirect::to("/console/sign-in")).into_response()
}

/// Returns true if the browser sent the form over HTTPS. The operator listener is reached over
/// loopback or a private network, mostly without HTTPS. If a proxy adds HTTPS, the `Origin` of the
/// form shows it.
fn is_from_https(headers: &HeaderMap) -> bool {
    headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"))
}

fn cookie(value: String, seconds: i64, is_https: bool) -> String {
    Cookie::build((COOKIE_NAME, value))
        .path("/console")
        .http_only(true)
        .secure(is_https)
        .same_site(SameSite::Strict)
        .max_age(time::Duration::seconds(seconds))
        .build()
        .to_string()
}
