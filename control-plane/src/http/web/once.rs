//! Carries out a form once even if it is sent twice. A double click, an impatient second try and a
//! reload of the response all get the first response.
//!
//! On a double click the browser throws the first response away and shows the second. For a form
//! that makes an API key, that response is the only place where the key is shown. The response is
//! therefore kept for a minute, encrypted with a key that is derived from the browser's cookie and
//! the form. Neither of them is stored here, so the database alone decrypts nothing, and any
//! process of a farm can answer.

use super::form::TOKEN;
use super::visit::{self, FormCookie};
use crate::accounts::form_answers::{self, FormState};
use crate::app::App;
use crate::http::body::read_any_body;
use crate::http::client_ip::{ClientIp, client_ip, peer};
use crate::http::error::Problem;
use crate::http::rate_limit::over_limit;
use axum::body::{Body, Bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::time::Duration;
use tracing::Instrument;

/// Routes of visitors' forms that make or decide something.
const ONCE_OF_VISITORS: [&str; 3] = ["/sign-up", "/confirm/{link}", "/reset-password/{link}"];

/// Routes of signed-in users' forms that make, replace, end or decide something. Forms that only
/// set values, and those that sign in, may be carried out again.
const ONCE_OF_USERS: [&str; 8] = [
    "/device",
    "/dashboard/keys",
    "/dashboard/keys/{key_id}/rotate",
    "/dashboard/keys/{key_id}/revoke",
    "/dashboard/partner-secrets/{partner_secret_id}/revoke",
    "/dashboard/billing",
    "/dashboard/password",
    "/dashboard/password/providers/{provider}/unlink",
];

/// How long the second submission waits for the first.
const WAIT: Duration = Duration::from_secs(10);
/// Pause between two checks of whether the first submission is finished.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Maximum size of a response that is kept, in bytes. All our pages are smaller.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

const NONCE_BYTES: usize = 12;

/// A response in the form in which it is encrypted.
#[derive(Serialize, Deserialize)]
struct StoredResponse {
    status: u16,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

/// One submission of a form, from one page in one browser. The forms of every page have another
/// token, so only a repeated submission has the same id and key.
struct SubmittedForm {
    /// Id of the row in the database. It reveals nothing about the cookie or the form.
    id: String,
    key: [u8; 32],
    cookie: FormCookie,
}

impl SubmittedForm {
    fn new(cookie: FormCookie, path: &str, body: &[u8]) -> Self {
        let digest = |purpose: &str| {
            Sha256::new()
                .chain_update(purpose)
                .chain_update(Sha256::digest(cookie.secret()))
                .chain_update(Sha256::digest(path))
                .chain_update(Sha256::digest(body))
                .finalize()
        };
        let (id, key) = (hex::encode(digest("form sent once: id")), digest("form sent once: key").into());
        SubmittedForm { id, key, cookie }
    }

    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&CHACHA20_POLY1305, &self.key).ok().map(LessSafeKey::new)
    }

    /// Encrypts `answer`. Returns the nonce and the ciphertext, in hex.
    fn seal(&self, mut answer: Vec<u8>, nonce: [u8; NONCE_BYTES]) -> Option<String> {
        let sealing = Nonce::assume_unique_for_key(nonce);
        self.cipher()?.seal_in_place_append_tag(sealing, Aad::empty(), &mut answer).ok()?;
        Some(hex::encode(nonce) + &hex::encode(answer))
    }

    /// Decrypts what `seal` returned. Returns `None` if another submission sealed it.
    fn unseal(&self, sealed: &str) -> Option<Vec<u8>> {
        let mut bytes = hex::decode(sealed).ok()?;
        let mut answer = bytes.split_off(NONCE_BYTES.min(bytes.len()));
        let nonce = Nonce::try_assume_unique_for_key(&bytes).ok()?;
        Some(self.cipher()?.open_in_place(nonce, Aad::empty(), &mut answer).ok()?.to_vec())
    }
}

/// Middleware that carries out the forms listed above once, and repeats their responses.
pub async fn once(State(app): State<App>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let form =
        route.as_ref().filter(|_| request.method() == Method::POST).and_then(|route| FormKind::of(route.as_str()));
    let Some(kind) = form else { return next.run(request).await };
    let (parts, body) = request.into_parts();
    let body = match read_any_body(Request::from_parts(parts.clone(), body), &app).await {
        Ok(body) => body,
        Err(problem) => return problem.into_response(),
    };
    let sent = sent(&app, &parts.headers, parts.uri.path(), &body);
    let ip = peer(&parts.extensions).map(|peer| client_ip(peer, &parts.headers, &app.config.listen.trusted_proxies));
    let request = Request::from_parts(parts, Body::from(body));
    match sent {
        Some(sent) => answer(app, kind, ip, sent, request, next).await.unwrap_or_else(IntoResponse::into_response),
        // The form's own handler refuses the token.
        None => next.run(request).await,
    }
}

/// Kind of sender that a form accepts. It selects the rate limit of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormKind {
    SignUp,
    /// Somebody who was sent a link.
    Link,
    /// A signed-in user.
    User,
}

impl FormKind {
    /// Returns the kind of the route's form, or `None` if the form may be carried out again.
    fn of(route: &str) -> Option<Self> {
        match route {
            "/sign-up" => Some(FormKind::SignUp),
            route if ONCE_OF_VISITORS.contains(&route) => Some(FormKind::Link),
            route => ONCE_OF_USERS.contains(&route).then_some(FormKind::User),
        }
    }
}

/// Returns the submission if its token was made from a cookie that the browser sends.
fn sent(app: &App, headers: &HeaderMap, path: &str, body: &Bytes) -> Option<SubmittedForm> {
    let token = url::form_urlencoded::parse(body).find(|(name, _)| name == TOKEN).map(|(_, value)| value)?;
    let cookie = visit::cookie_of_form(app, headers, &token).filter(|_| visit::is_of_one_page(&token))?;
    Some(SubmittedForm::new(cookie, path, body))
}

async fn answer(
    app: App,
    kind: FormKind,
    ip: Option<ClientIp>,
    sent: SubmittedForm,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let begun = tokio::time::Instant::now();
    let mut is_counted = false;
    loop {
        let state = form_answers::find(&app.db, &sent.id, app.clock.now()).await?;
        if let FormState::Done(sealed) = &state
            && let Some(kept) = unkeep(&sent, sealed)
        {
            // The response is sent without a check of the session, because the first submission may
            // have ended it.
            return Ok(kept);
        }
        if state == FormState::Unknown && !is_counted {
            if !may_claim(&app, kind, &sent.cookie).await? {
                return Ok(next.run(request).await);
            }
            count(&app, kind, ip)?;
            is_counted = true;
        }
        if state == FormState::Unknown && form_answers::claim(&app.db, &sent.id, app.clock.now()).await? {
            // The task continues after the browser has closed the connection, as it does with the
            // first of two clicks.
            let work = async move {
                let response = next.run(request).await;
                keep(&app, &sent, response).await
            };
            return tokio::spawn(work.in_current_span()).await.map_err(|error| {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "a submitted form was not processed to its end"
                );
                Problem::internal()
            });
        }
        if begun.elapsed() > WAIT {
            let detail = "This form was sent twice, and the first submission is still in progress. Open the page again to see its result.";
            return Err(Problem::conflict("form_in_progress", detail));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Returns true if the form can be carried out, so that its response is worth a row. The form of a
/// signed-in user needs a session.
async fn may_claim(app: &App, kind: FormKind, cookie: &FormCookie) -> Result<bool, Problem> {
    match (kind, cookie) {
        (FormKind::User, FormCookie::Visitor(_)) => Ok(false),
        _ => visit::is_given(app, cookie).await,
    }
}

/// Counts a row that is about to be written, against the limits of the client's network, of the
/// networks around it and of all clients together. The form's own handler also counts what it does,
/// but later.
fn count(app: &App, kind: FormKind, ip: Option<ClientIp>) -> Result<(), Problem> {
    let limits = &app.config.limits;
    let (purpose, limit) = match kind {
        FormKind::SignUp => ("sign-up forms", limits.sign_up_per_minute),
        FormKind::Link => ("forms of links", limits.sign_in_per_minute),
        FormKind::User => ("forms of users", limits.dashboard_per_minute),
    };
    let Some(ClientIp(ip)) = ip else { return Err(Problem::internal()) };
    app.network_counts.write(purpose, ip, limit, app.clock.now()).map_err(over_limit)
}

/// Stores the response of a form that was carried out. After a refusal or a failure nothing is
/// stored, and a repeated submission is tried again. Returns the response itself.
async fn keep(app: &App, sent: &SubmittedForm, response: Response) -> Response {
    let is_done = response.status().is_success() || (response.status().is_redirection() && !asks_to_sign_in(&response));
    let (parts, body) = response.into_parts();
    let Ok(body) = axum::body::to_bytes(body, usize::MAX).await else { return Problem::internal().into_response() };
    let sealed = (is_done && body.len() <= ANSWER_BYTES_MAX)
        .then(|| {
            let headers = parts.headers.iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()));
            let answer =
                StoredResponse { status: parts.status.as_u16(), headers: headers.collect(), body: body.to_vec() };
            postcard::to_stdvec(&answer).ok().and_then(|answer| sent.seal(answer, rand::random()))
        })
        .flatten();
    let written = match sealed {
        Some(sealed) => form_answers::keep(&app.db, &sent.id, sealed).await,
        None => form_answers::drop_claim(&app.db, &sent.id).await,
    };
    if let Err(error) = written {
        tracing::warn!(error = &error as &dyn std::error::Error, "the answer to a submitted form could not be stored");
    }
    Response::from_parts(parts, Body::from(body))
}

/// Returns true if the form was not carried out because the browser's session has ended.
fn asks_to_sign_in(response: &Response) -> bool {
    let leads_to = response.headers().get(LOCATION).map(HeaderValue::as_bytes).unwrap_or_default();
    leads_to.starts_with(b"/sign-in")
}

/// Decrypts a stored response.
fn unkeep(sent: &SubmittedForm, sealed: &str) -> Option<Response> {
    let answer: StoredResponse = postcard::from_bytes(&sent.unseal(sealed)?).ok()?;
    let mut response = Response::new(Body::from(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).ok()?;
    for (name, value) in answer.headers {
        response.headers_mut().append(HeaderName::try_from(name).ok()?, HeaderValue::from_bytes(&value).ok()?);
    }
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_browser_and_form_open_an_answer() {
        let sent = SubmittedForm::new(FormCookie::Visitor("cookie".to_owned()), "/dashboard/keys", b"csrf=1.2&name=x");
        let sealed = sent.seal(b"cyc_secret".to_vec(), [7; NONCE_BYTES]).expect("seals");
        assert!(!sealed.contains(&hex::encode("cyc_secret")));
        assert_eq!(sent.unseal(&sealed).as_deref(), Some(b"cyc_secret".as_slice()));
        for (cookie, path, body) in [
            ("another", "/dashboard/keys", "csrf=1.2&name=x"),
            ("cookie", "/dashboard/keys/1/rotate", "csrf=1.2&name=x"),
            ("cookie", "/dashboard/keys", "csrf=1.3&name=x"),
        ] {
            let other = SubmittedForm::new(FormCookie::Visitor(cookie.to_owned()), path, body.as_bytes());
            assert_ne!(other.id, sent.id);
            assert_eq!(other.unseal(&sealed), None, "{cookie} {path} {body}");
        }
        for odd in ["", "zz", "00", &sealed[..30]] {
            assert_eq!(sent.unseal(odd), None, "{odd}");
        }
    }
}
