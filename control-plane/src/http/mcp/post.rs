//! `POST /api/mcp`: who calls, how often, and from which pages.

use super::origins;
use super::server::Server;
use super::transport::{Messages, Transport};
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::http::body::read_any_body;
use crate::http::delivery_problem::problem;
use crate::http::error::Problem;
use crate::http::key_window::counted;
use crate::turns::waiting::current_turn;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use std::sync::Arc;

/// Twice the largest body of signed addresses: an array holds more than one message.
pub const BODY_BYTES_MAX: usize = 128 * 1024;

/// The tools behind the protocol, made once for a router.
#[derive(Clone)]
pub struct Endpoint(Transport);

impl Endpoint {
    pub fn new(app: &App) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            // A request with a key is let in under whatever name a proxy passes on; pages are looked at in `origins`.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(BODY_BYTES_MAX)
            .with_cancellation_token(app.closing.child_token());
        let app = app.clone();
        Endpoint(Transport::new(move || Server::new(app.clone()), Arc::new(NeverSessionManager::default()), config))
    }
}

/// A message, or an array of them, of the Model Context Protocol
pub async fn post(
    State(app): State<App>,
    Extension(endpoint): Extension<Endpoint>,
    mut caller: Caller,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    if let Err(refusal) = origins::refuse(&app.base_url, &parts.headers) {
        return counted_refusal(&app, &caller, refusal.into_response()).await;
    }
    let body = read_any_body(Request::from_parts(parts.clone(), body), &app).await;
    let messages = match body.map(|body| Messages::read(&body)) {
        Ok(Ok(messages)) => messages,
        Ok(Err(refusal)) => return counted_refusal(&app, &caller, *refusal).await,
        Err(problem) => return counted_refusal(&app, &caller, problem.into_response()).await,
    };
    if let Err(refusal) = count(&app, &caller, messages.requests()).await {
        return refusal.into_response();
    }
    caller.is_counted = true;
    let mut response = endpoint.0.answer(handed_on(parts, caller), messages).await;
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    response
}

/// Gives the tools the caller and the turn of the request, and takes the key out of it.
fn handed_on(mut parts: Parts, caller: Caller) -> Parts {
    parts.headers.remove(AUTHORIZATION);
    parts.headers.remove("x-api-key");
    parts.extensions.insert(caller);
    parts.extensions.insert(current_turn());
    parts
}

/// Counts every message before any of them is looked at; over the limit nothing else happens.
async fn count(app: &App, caller: &Caller, requests: usize) -> Result<(), Problem> {
    for _ in 0..requests {
        app.deliveries.count(caller).await.map_err(|error| problem(app, error))?;
    }
    Ok(())
}

async fn counted_refusal(app: &App, caller: &Caller, refusal: Response) -> Response {
    counted(app, caller, async { Ok(refusal) }).await
}
