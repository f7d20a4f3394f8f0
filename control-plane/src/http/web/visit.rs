//! Who looks at a page: nobody we know, or somebody who is signed in. Cookies and what they are good for are known only here; passwords and
//! sign-ups are `accounts`'.

use super::known_device as device;
use super::pages::{self, Shared};
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

/// A session ends when it has not been used to sign in again for so long.
const SESSION_LIFETIME: Duration = Duration::days(14);

/// How long a sign-in proves that its browser is in the hands of the account's holder.
const FRESH_MS: i64 = 300_000;

/// What a session holds.
const USER: &str = "user";
const FLOW: &str = "openid";

#[derive(Serialize, Deserialize)]
struct SignedIn {
    account_id: String,
    /// Of the password that was given: another one ends the session.
    password_version: i64,
    /// When it was begun. Sessions from before this was kept are old.
    #[serde(default)]
    at_ms: i64,
}

/// Names of our cookies. Over HTTPS they have the prefix that keeps other hosts of the domain from setting them.
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

/// Gives handlers behind it a session. Sent along with links from elsewhere, never with their forms, pictures or scripts.
pub fn sessions(app: &App) -> SessionManagerLayer<Sessions> {
    SessionManagerLayer::new(Sessions::new(app.db.clone(), app.clock))
        .with_name(cookie_name(app, SESSION_COOKIE))
        .with_secure(is_https(app))
        .with_same_site(SameSite::Lax)
        .with_http_only(true)
        .with_expiry(Expiry::OnInactivity(SESSION_LIFETIME))
}

/// One look at a page.
#[derive(Clone)]
pub struct Visit {
    pub user: Option<User>,
    session: Session,
    cookies: Cookies,
}

impl FromRequestParts<App> for Visit {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        // Forms are read after the page has asked who it is.
        if let Some(visit) = parts.extensions.get::<Visit>() {
            return Ok(visit.clone());
        }
        let (Some(session), Some(cookies)) = (parts.extensions.get::<Session>(), parts.extensions.get::<Cookies>())
        else {
            tracing::error!("a page is served without sessions");
            return Err(Problem::internal());
        };
        let (session, cookies) = (session.clone(), cookies.clone());
        let user = match session.id() {
            Some(_) => read_user(app, &session).await?,
            None => None,
        };
        let visit = Visit { user, session, cookies };
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
    Problem::unavailable("dependency_down", "The database does not answer.").retry_after(2)
}

impl Visit {
    /// Begins a session of the user under a new id: whoever knew the old one knows nothing.
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

    /// Whether somebody has signed in in this browser a moment ago.
    pub async fn is_fresh(&self, now: UnixMs) -> Result<bool, Problem> {
        let signed_in = self.session.get::<SignedIn>(USER).await.map_err(no_session)?;
        Ok(signed_in.is_some_and(|signed_in| (0..FRESH_MS).contains(&(now.0 - signed_in.at_ms))))
    }

    /// Names this browser if the account's holder has signed in with it before.
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

    /// Keeps a sign-in by a provider until its browser comes back; one at a time.
    pub async fn keep_flow(&self, flow: &Flow) -> Result<(), Problem> {
        if self.user.is_none() {
            self.session.set_expiry(Some(Expiry::OnInactivity(Duration::milliseconds(FLOW_LIFETIME_MS))));
        }
        self.session.insert(FLOW, flow).await.map_err(no_session)
    }

    /// The sign-in that was kept, once.
    pub async fn take_flow(&self) -> Result<Option<Flow>, Problem> {
        self.session.remove(FLOW).await.map_err(no_session)
    }

    pub async fn sign_out(&self) -> Result<(), Problem> {
        match self.session.id() {
            Some(_) => self.session.flush().await.map_err(no_session),
            None => Ok(()),
        }
    }

    /// A page without a form.
    pub fn page<T: Serialize>(&self, name: &str, context: &T) -> Response {
        let csrf = self.session_cookie().map(page_token).unwrap_or_default();
        self.render(name, StatusCode::OK, &csrf, context)
    }

    /// A page with a form that this browser alone can send.
    pub async fn form<T: Serialize>(
        &self,
        app: &App,
        name: &str,
        status: StatusCode,
        context: &T,
    ) -> Result<Response, Problem> {
        let csrf = match self.session_cookie() {
            Some(session) => page_token(session),
            None => page_token(self.welcome(app).await?),
        };
        Ok(self.render(name, status, &csrf, context))
    }

    fn render<T: Serialize>(&self, name: &str, status: StatusCode, csrf: &str, context: &T) -> Response {
        let email = self.user.as_ref().map(|user| user.email.as_str());
        let mut response = pages::render(name, status, &Shared { email, csrf, is_known: true }, context);
        if email.is_some() || !csrf.is_empty() {
            // Of one person: kept nowhere, also not for the back button after signing out.
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        }
        response
    }

    /// The visitor's cookie, given now if there is none.
    pub async fn welcome(&self, app: &App) -> Result<String, Problem> {
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

    /// Whether a form's token is the one of this browser.
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

    /// The secret of somebody who is signed in.
    fn session_cookie(&self) -> Option<String> {
        self.user.as_ref().and(self.session.id()).map(|id| id.to_string())
    }
}

/// What a page's forms send along: the browser's token, and a number that no other page has.
fn page_token(cookie: impl AsRef<str>) -> String {
    format!("{}.{:016x}", form_token(cookie), rand::random::<u64>())
}

/// The part of a form's token that says whose it is.
fn of_browser(token: &str) -> &str {
    token.split_once('.').map_or(token, |(browser, _)| browser)
}

/// Whether a form's token says which page it comes from.
pub fn is_of_one_page(token: &str) -> bool {
    token.contains('.')
}

/// The cookie that a form's token was made of.
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

/// The cookie of these headers that a form's token was made of, whether or not we gave it.
pub fn cookie_of_form(app: &App, headers: &HeaderMap, token: &str) -> Option<FormCookie> {
    let cookies = cookies_of(headers);
    let own = |name: &'static str| {
        let value = first_of(&cookies, &cookie_name(app, name))?;
        bool::from(form_token(value).as_bytes().ct_eq(of_browser(token).as_bytes())).then(|| value.to_owned())
    };
    own(SESSION_COOKIE).map(FormCookie::Session).or_else(|| own(VISITOR_COOKIE).map(FormCookie::Visitor))
}

/// Whether we gave the cookie, and it is still good.
pub async fn is_given(app: &App, cookie: &FormCookie) -> Result<bool, Problem> {
    match cookie {
        FormCookie::Session(session) => Ok(user_of(app, session).await?.is_some()),
        FormCookie::Visitor(visitor) => Ok(visitor::is_known(app, visitor).await?),
    }
}

/// Who is signed in by the cookie of a session that no layer has read.
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

/// The first of a name alone: each is looked up, and a request may hold hundreds.
fn first_of<'c>(cookies: &'c [Cookie<'_>], name: &str) -> Option<&'c str> {
    cookies.iter().find(|cookie| cookie.name() == name).map(Cookie::value)
}

/// The hash of the cookie that the browser sends, which no other site can read or set.
fn form_token(cookie: impl AsRef<str>) -> String {
    hex::encode(Sha256::new().chain_update("form ").chain_update(cookie.as_ref()).finalize())
}

/// Somebody who is signed in; everybody else is asked to sign in and brought back.
pub struct SignedInVisit {
    pub user: User,
    pub visit: Visit,
}

impl FromRequestParts<App> for SignedInVisit {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let visit = Visit::from_request_parts(parts, app).await.map_err(IntoResponse::into_response)?;
        match visit.user.clone() {
            Some(user) => {
                let (counted, limit) =
                    (format!("dashboard page {}", user.account_id), app.config.limits.dashboard_per_minute);
                rate_limit::count(app, counted, limit).await.map_err(IntoResponse::into_response)?;
                Ok(SignedInVisit { user, visit })
            }
            // What was being sent is lost; its page is the place to start again.
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

/// Why a picture is free for a browser, and whose requests are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    Visitor,
    Account(String),
}

/// The access to a picture that a session or visitor cookie gives; `None` when neither is known.
pub async fn grant(app: &App, headers: &HeaderMap) -> Result<Option<Grant>, Problem> {
    let (session_name, visitor_name) = (cookie_name(app, SESSION_COOKIE), cookie_name(app, VISITOR_COOKIE));
    let cookies = cookies_of(headers);
    if let Some(session) = first_of(&cookies, &session_name)
        && let Some(user) = user_of(app, session).await?
    {
        return Ok(Some(Grant::Account(user.account_id)));
    }
    match first_of(&cookies, &visitor_name) {
        Some(cookie) if visitor::is_known(app, cookie).await? => Ok(Some(Grant::Visitor)),
        _ => Ok(None),
    }
}
