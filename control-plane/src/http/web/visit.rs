//! Identifies who requests a page: an anonymous visitor or a signed-in user. Only this module knows
//! the cookies and what they permit. Passwords and sign-ups belong to `accounts`.

use super::known_device as device;
use super::pages::{self, CommonValues};
use super::visitor;
use crate::accounts::openid::{FLOW_LIFETIME_MS, Flow};
use crate::accounts::session::Sessions;
use crate::accounts::user::{self, User};
use crate::app::App;
use crate::clock::UnixMs;
use crate::http::error::Problem;
use crate::http::rate_limit;
use axum::extract::FromRequestParts;
use axum::http::header::{CACHE_CONTROL, COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use subtle::ConstantTimeEq;
use time::Duration;
use tower_cookies::Cookies;
use tower_cookies::cookie::{Cookie, SameSite};
use tower_sessions::{Expiry, Session, SessionManagerLayer};

/// Lifetime of a session. It expires when it has not been used to sign in again for this long.
const SESSION_LIFETIME: Duration = Duration::days(14);

/// How long a sign-in proves that the browser is in the hands of the account's holder, in
/// milliseconds.
const FRESH_MS: i64 = 300_000;

/// Key of the signed-in user ([`SignedIn`]) in a session.
const USER: &str = "user";
/// Key of a sign-in at a provider that is under way ([`Flow`]) in a session.
const FLOW: &str = "openid";

#[derive(Serialize, Deserialize)]
struct SignedIn {
    account_id: String,
    /// Version of the password that was given at sign-in. A new password ends the session.
    password_version: i64,
    /// Time of the sign-in. Sessions from before this member existed count as old.
    #[serde(default)]
    at_ms: i64,
}

/// Returns the full name of one of our cookies. Over HTTPS it has the prefix `__Host-`, which keeps
/// other hosts of the domain from setting it.
fn cookie_name(app: &App, name: &'static str) -> String {
    match is_https(app) {
        true => format!("__Host-{name}"),
        false => name.to_owned(),
    }
}

const SESSION_COOKIE: &str = "session";
const VISITOR_COOKIE: &str = "visitor";
const DEVICE_COOKIE: &str = "device";

fn is_https(app: &App) -> bool {
    app.base_url.starts_with("https://")
}

/// Returns the layer that gives the handlers behind it a session. The browser sends the cookie
/// along with links from other sites, but never with their forms, images or scripts.
pub fn sessions(app: &App) -> SessionManagerLayer<Sessions> {
    SessionManagerLayer::new(Sessions::new(app.db.clone(), app.clock))
        .with_name(cookie_name(app, SESSION_COOKIE))
        .with_secure(is_https(app))
        .with_same_site(SameSite::Lax)
        .with_http_only(true)
        .with_expiry(Expiry::OnInactivity(SESSION_LIFETIME))
}

/// One request for a page, with the user who is signed in.
#[derive(Clone)]
pub struct PageSession {
    pub user: Option<User>,
    session: Session,
    cookies: Cookies,
}

impl FromRequestParts<App> for PageSession {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        // A handler's `PageSession` is extracted before its form, which needs the visit as well.
        if let Some(visit) = parts.extensions.get::<PageSession>() {
            return Ok(visit.clone());
        }
        let (Some(session), Some(cookies)) = (parts.extensions.get::<Session>(), parts.extensions.get::<Cookies>())
        else {
            tracing::error!("a page was requested on a router without sessions");
            return Err(Problem::internal());
        };
        let (session, cookies) = (session.clone(), cookies.clone());
        let user = match session.id() {
            Some(_) => read_user(app, &session).await?,
            None => None,
        };
        let visit = PageSession { user, session, cookies };
        parts.extensions.insert(visit.clone());
        Ok(visit)
    }
}

async fn read_user(app: &App, session: &Session) -> Result<Option<User>, Problem> {
    let Some(signed_in) = session.get::<SignedIn>(USER).await.map_err(no_session)? else { return Ok(None) };
    let user = user::find(&app.db, &signed_in.account_id).await?;
    Ok(user.filter(|user| user.password_version == signed_in.password_version))
}

fn no_session(error: tower_sessions::session::Error) -> Problem {
    tracing::error!(error = &error as &dyn std::error::Error, "a session could not be read or written");
    Problem::unavailable("dependency_down", "The database does not respond.").retry_after(2)
}

impl PageSession {
    /// Begins a session of the user under a new id, so that an id that somebody knew before is
    /// worthless.
    pub async fn sign_in(&self, app: &App, user: &User) -> Result<(), Problem> {
        let signed_in = SignedIn {
            account_id: user.account_id.clone(),
            password_version: user.password_version,
            at_ms: app.clock.now().0,
        };
        self.add_cookie(app, DEVICE_COOKIE, device::remember(app, &user.account_id).await?, device::LIFETIME);
        self.session.clear().await;
        self.session.cycle_id().await.map_err(no_session)?;
        self.session.insert(USER, signed_in).await.map_err(no_session)
    }

    /// Returns true if somebody signed in in this browser within the last `FRESH_MS`.
    pub async fn is_fresh(&self, now: UnixMs) -> Result<bool, Problem> {
        let signed_in = self.session.get::<SignedIn>(USER).await.map_err(no_session)?;
        Ok(signed_in.is_some_and(|signed_in| (0..FRESH_MS).contains(&(now.0 - signed_in.at_ms))))
    }

    /// Returns the name of this browser if the account's holder has signed in with it before.
    pub async fn known_device(&self, app: &App, account_id: &str) -> Result<Option<String>, Problem> {
        match self.cookies.get(&cookie_name(app, DEVICE_COOKIE)) {
            Some(cookie) => Ok(device::recognise(app, cookie.value(), account_id).await?),
            None => Ok(None),
        }
    }

    fn add_cookie(&self, app: &App, name: &'static str, value: String, lifetime: Duration) {
        let cookie = Cookie::build((cookie_name(app, name), value))
            .path("/")
            .http_only(true)
            .secure(is_https(app))
            .same_site(SameSite::Lax)
            .max_age(lifetime);
        self.cookies.add(cookie.build().into_owned());
    }

    /// Stores a sign-in at a provider in the session until the browser comes back. A session holds
    /// one at a time.
    pub async fn keep_flow(&self, flow: &Flow) -> Result<(), Problem> {
        if self.user.is_none() {
            self.session.set_expiry(Some(Expiry::OnInactivity(Duration::milliseconds(FLOW_LIFETIME_MS))));
        }
        self.session.insert(FLOW, flow).await.map_err(no_session)
    }

    /// Removes the stored sign-in at a provider from the session and returns it.
    pub async fn take_flow(&self) -> Result<Option<Flow>, Problem> {
        self.session.remove(FLOW).await.map_err(no_session)
    }

    pub async fn sign_out(&self) -> Result<(), Problem> {
        match self.session.id() {
            Some(_) => self.session.flush().await.map_err(no_session),
            None => Ok(()),
        }
    }

    /// Renders a page without a form of its own.
    pub fn page<T: Serialize>(&self, name: &str, context: &T) -> Response {
        let csrf = self.session_cookie().map(page_token).unwrap_or_default();
        self.render(name, StatusCode::OK, &csrf, context)
    }

    /// Renders a page with a form that only this browser can send.
    pub async fn form<T: Serialize>(
        &self,
        app: &App,
        name: &str,
        status: StatusCode,
        context: &T,
    ) -> Result<Response, Problem> {
        let csrf = match self.session_cookie() {
            Some(session) => page_token(session),
            None => page_token(self.issue_visitor_cookie(app).await?),
        };
        Ok(self.render(name, status, &csrf, context))
    }

    fn render<T: Serialize>(&self, name: &str, status: StatusCode, csrf: &str, context: &T) -> Response {
        let email = self.user.as_ref().map(|user| user.email.as_str());
        let mut response = pages::render(name, status, &CommonValues { email, csrf, is_known: true }, context);
        if email.is_some() || !csrf.is_empty() {
            // The page belongs to one person. It is stored nowhere, also not for the back button
            // after signing out.
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        }
        response
    }

    /// Returns the visitor's cookie, and issues one if there is none.
    pub async fn issue_visitor_cookie(&self, app: &App) -> Result<String, Problem> {
        let name = cookie_name(app, VISITOR_COOKIE);
        if let Some(cookie) = self.cookies.get(&name)
            && visitor::is_known(app, cookie.value()).await?
        {
            return Ok(cookie.value().to_owned());
        }
        let value = visitor::welcome(app).await?;
        self.add_cookie(app, VISITOR_COOKIE, value.clone(), Duration::milliseconds(visitor::LIFETIME_MS));
        Ok(value)
    }

    /// Returns true if a form's token belongs to this browser.
    pub async fn owns_form(&self, app: &App, token: &str) -> Result<bool, Problem> {
        let expected = match self.session_cookie() {
            Some(session) => form_token(session),
            None => match self.cookies.get(&cookie_name(app, VISITOR_COOKIE)) {
                Some(cookie) if visitor::is_known(app, cookie.value()).await? => form_token(cookie.value()),
                _ => return Ok(false),
            },
        };
        Ok(expected.as_bytes().ct_eq(of_browser(token).as_bytes()).into())
    }

    /// Returns the session id of a signed-in user, from which the user's form tokens are made.
    fn session_cookie(&self) -> Option<String> {
        self.user.as_ref().and(self.session.id()).map(|id| id.to_string())
    }
}

/// Returns the token that a page's forms send: the token of the browser, and a random number that
/// no other page has.
fn page_token(cookie: impl AsRef<str>) -> String {
    format!("{}.{:016x}", form_token(cookie), rand::random::<u64>())
}

/// Returns the part of a form's token that identifies the browser.
fn of_browser(token: &str) -> &str {
    token.split_once('.').map_or(token, |(browser, _)| browser)
}

/// Returns true if a form's token identifies the page that it comes from.
pub fn is_of_one_page(token: &str) -> bool {
    token.contains('.')
}

/// The cookie from which a form's token was made.
pub enum FormCookie {
    Session(String),
    Visitor(String),
}

impl FormCookie {
    pub fn secret(&self) -> &str {
        let (FormCookie::Session(secret) | FormCookie::Visitor(secret)) = self;
        secret
    }
}

/// Returns the cookie in these headers from which a form's token was made. The service may not have
/// issued it: see [`is_given`].
pub fn cookie_of_form(app: &App, headers: &HeaderMap, token: &str) -> Option<FormCookie> {
    let cookies = cookies_of(headers);
    let own = |name: &'static str| {
        let value = first_of(&cookies, &cookie_name(app, name))?;
        bool::from(form_token(value).as_bytes().ct_eq(of_browser(token).as_bytes())).then(|| value.to_owned())
    };
    own(SESSION_COOKIE).map(FormCookie::Session).or_else(|| own(VISITOR_COOKIE).map(FormCookie::Visitor))
}

/// Returns true if the service issued the cookie and it is still valid.
pub async fn is_given(app: &App, cookie: &FormCookie) -> Result<bool, Problem> {
    match cookie {
        FormCookie::Session(session) => Ok(user_of(app, session).await?.is_some()),
        FormCookie::Visitor(visitor) => Ok(visitor::is_known(app, visitor).await?),
    }
}

/// Returns the user of a session's cookie where no session layer has read it.
async fn user_of(app: &App, session: &str) -> Result<Option<User>, Problem> {
    let Ok(id) = session.parse() else { return Ok(None) };
    let store = Arc::new(Sessions::new(app.db.clone(), app.clock));
    read_user(app, &Session::new(Some(id), store, None)).await
}

fn cookies_of(headers: &HeaderMap) -> Vec<Cookie<'_>> {
    headers
        .get_all(COOKIE)
        .iter()
        .flat_map(|header| Cookie::split_parse(header.to_str().unwrap_or_default()).flatten())
        .collect()
}

/// Returns the first cookie of a name. Only the first counts, because each one is looked up and a
/// request may hold hundreds.
fn first_of<'c>(cookies: &'c [Cookie<'_>], name: &str) -> Option<&'c str> {
    cookies.iter().find(|cookie| cookie.name() == name).map(Cookie::value)
}

/// Returns the browser's token for forms: a hash of the cookie that the browser sends, which no
/// other site can read or set.
fn form_token(cookie: impl AsRef<str>) -> String {
    hex::encode(Sha256::new().chain_update("form ").chain_update(cookie.as_ref()).finalize())
}

/// A visit by a signed-in user. Everybody else is redirected to the sign-in page and brought back
/// afterwards.
pub struct SignedInVisit {
    pub user: User,
    pub visit: PageSession,
}

impl FromRequestParts<App> for SignedInVisit {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let visit = PageSession::from_request_parts(parts, app).await.map_err(IntoResponse::into_response)?;
        match visit.user.clone() {
            Some(user) => {
                let (counted, limit) =
                    (format!("dashboard page {}", user.account_id), app.config.limits.dashboard_per_minute);
                rate_limit::count(app, counted, limit).await.map_err(IntoResponse::into_response)?;
                Ok(SignedInVisit { user, visit })
            }
            // A form that was being sent is lost. After signing in, the user starts again from the
            // dashboard.
            None => Err(ask_to_sign_in(parts)),
        }
    }
}

fn ask_to_sign_in(parts: &Parts) -> Response {
    let back = match parts.method {
        axum::http::Method::GET | axum::http::Method::HEAD => {
            parts.uri.path_and_query().map_or("/dashboard", |path| path.as_str())
        }
        _ => "/dashboard",
    };
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", back).finish();
    Redirect::to(&format!("/sign-in?{query}")).into_response()
}

/// Why an image is free for a browser, and under whose name its requests are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrowserGrant {
    Visitor,
    Account(String),
}

/// Returns the access to images that a session's or visitor's cookie gives, or `None` if neither is
/// known.
pub async fn grant(app: &App, headers: &HeaderMap) -> Result<Option<BrowserGrant>, Problem> {
    let (session_name, visitor_name) = (cookie_name(app, SESSION_COOKIE), cookie_name(app, VISITOR_COOKIE));
    let cookies = cookies_of(headers);
    if let Some(session) = first_of(&cookies, &session_name)
        && let Some(user) = user_of(app, session).await?
    {
        return Ok(Some(BrowserGrant::Account(user.account_id)));
    }
    match first_of(&cookies, &visitor_name) {
        Some(cookie) if visitor::is_known(app, cookie).await? => Ok(Some(BrowserGrant::Visitor)),
        _ => Ok(None),
    }
}
