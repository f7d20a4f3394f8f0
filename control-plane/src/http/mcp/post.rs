//! `POST /api/mcp`: checks who calls, how often, and from which pages.

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

/// Maximum size of a request body, in bytes. It is twice the maximum for `POST /api/v1/image-urls`,
/// because an array holds more than one message.
pub const BODY_BYTES_MAX: usize = 128 * 1024;

/// The tools behind the protocol. One value is made for a router.
#[derive(Clone)]
pub struct McpEndpoint(Transport);

impl McpEndpoint {
    pub fn new(app: &App) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            // A request with a key is accepted under every host name that a proxy passes on.
            // Origins of pages are checked in `origins`.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(BODY_BYTES_MAX)
            .with_cancellation_token(app.closing.child_token());
        let app = app.clone();
        McpEndpoint(Transport::new(move || Server::new(app.clone()), Arc::new(NeverSessionManager::default()), config))
    }
}

/// Answers a message, or an array of messages, of the Model Context Protocol.
pub async fn post(
    State(app): State<App>,
    Extension(endpoint): Extension<McpEndpoint>,
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

/// Adds the caller and the permit (turn) of the request for the tools, and removes the key from the
/// headers.
fn handed_on(mut parts: Parts, caller: Caller) -> Parts {
    parts.headers.remove(AUTHORIZATION);
    parts.headers.remove("x-api-key");
    parts.extensions.insert(caller);
    parts.extensions.insert(current_turn());
    parts
}

/// Counts every message before any of them is carried out. Over the limit none is carried out.
async fn count(app: &App, caller: &Caller, requests: usize) -> Result<(), Problem> {
    for _ in 0..requests {
        app.deliveries.count(caller).await.map_err(|error| problem(app, error))?;
    }
    Ok(())
}

async fn counted_refusal(app: &App, caller: &Caller, refusal: Response) -> Response {
    counted(app, caller, async { Ok(refusal) }).await
}
