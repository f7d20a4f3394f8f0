//! Streamable HTTP in front of the SDK. It accepts single messages and JSON-RPC arrays, and answers
//! as JSON or as an event stream, as the client accepts.
//!
//! The SDK takes one message in a request, requires that both media types are accepted, and refuses
//! in plain text. This module closes that gap. It knows no tools, keys or limits.

use crate::http::error::Problem;
use crate::http::json::{self, BadJson};
use crate::http::request_id::RequestId;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::header::{ACCEPT, ALLOW, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::future::join_all;
use rmcp::ServerHandler;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use tower::util::BoxCloneSyncService;
use tower::{ServiceExt, service_fn};

/// Maximum number of messages in one array. Each of them may wait for a render.
pub const MESSAGES_MAX: usize = 20;

/// Maximum size of a refusal by the SDK, in bytes. It is a line of text.
const REFUSAL_BYTES_MAX: usize = 4 * 1024;

const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";

type McpService = BoxCloneSyncService<Request, Response, Infallible>;

/// One server of the protocol, with answers as JSON and as event streams.
#[derive(Clone)]
pub struct Transport {
    json: McpService,
    events: McpService,
}

impl Transport {
    /// Makes a transport. `handler` makes the server for one request, or for one session if
    /// `config` keeps sessions.
    pub fn new<S, M>(
        handler: impl Fn() -> S + Clone + Send + Sync + 'static,
        sessions: Arc<M>,
        config: StreamableHttpServerConfig,
    ) -> Self
    where
        S: ServerHandler + Send + 'static,
        M: SessionManager,
    {
        let service = |json| {
            let handler = handler.clone();
            let made = move || Ok(handler());
            let sdk = StreamableHttpService::new(made, sessions.clone(), config.clone().with_json_response(json));
            BoxCloneSyncService::new(service_fn(move |request: Request| {
                let sdk = sdk.clone();
                async move { Ok(sdk.handle(request).await.map(Body::new)) }
            }))
        };
        Transport { json: service(true), events: service(false) }
    }

    /// Answers messages. Each is passed on to the SDK with `parts`, which the reader of the
    /// messages has already checked.
    pub async fn answer(&self, mut parts: Parts, messages: Messages) -> Response {
        let takes_events = AnswerForm::Events.is_taken(&parts.headers) && matches!(messages, Messages::One(_));
        parts.extensions.insert(TakesEvents(takes_events));
        let Some(form) = AnswerForm::wanted(&parts.headers) else {
            let detail = format!("This URL answers with {JSON} or {EVENT_STREAM}; `Accept` allows neither.");
            return Problem::new(StatusCode::NOT_ACCEPTABLE, "not_acceptable", detail).into_response();
        };
        // The SDK requires both media types, whichever it sends.
        parts.headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        match messages {
            Messages::One(message) => {
                let service = match form {
                    AnswerForm::Json => &self.json,
                    AnswerForm::Events => &self.events,
                };
                hand_on(service, Request::from_parts(parts, Body::from(message.to_string()))).await
            }
            Messages::Several(messages) => {
                let answers = messages.into_iter().map(|message| {
                    let mut parts = parts.clone();
                    // The result of each message is recorded under its own id.
                    parts.extensions.insert(RequestId::fresh());
                    hand_on(&self.json, Request::from_parts(parts, Body::from(message.to_string())))
                });
                together(join_all(answers).await, form).await
            }
        }
    }

    /// Passes on a request whose method is not `POST`. A server that keeps sessions answers it,
    /// others refuse it.
    pub async fn other_method(&self, request: Request) -> Response {
        hand_on(&self.events, request).await
    }
}

/// True if the client can receive notifications before the answer. The SDK then sends an event
/// stream.
#[derive(Debug, Clone, Copy)]
pub struct TakesEvents(pub bool);

/// The body of one `POST`.
#[derive(Debug, PartialEq)]
pub enum Messages {
    One(Value),
    /// A JSON-RPC array, which the revisions of the protocol up to 2025-03-26 allow.
    Several(Vec<Value>),
}

impl Messages {
    /// Reads a body. The error is the response with the JSON-RPC error to send.
    pub fn read(body: &[u8]) -> Result<Self, Box<Response>> {
        let refuse = |code, why: String| Err(Box::new(refusal(code, &why)));
        let message = match json::value(body) {
            Ok(message) => message,
            Err(bad @ BadJson::Syntax(_)) => return refuse(ErrorCode::PARSE_ERROR, bad.to_string()),
            Err(bad) => return refuse(ErrorCode::INVALID_REQUEST, bad.to_string()),
        };
        let messages = match message {
            Value::Array(messages) => Messages::Several(messages.into_iter().map(with_arguments_as_object).collect()),
            message => Messages::One(with_arguments_as_object(message)),
        };
        if !(1..=MESSAGES_MAX).contains(&messages.all().len()) {
            return refuse(ErrorCode::INVALID_REQUEST, format!("An array must have 1 to {MESSAGES_MAX} messages."));
        }
        // PostgreSQL does not accept NUL in text, and no name of anything contains it.
        let nul = messages.all().iter().find_map(|message| Some((message, json::path_of_nul(message, "")?)));
        if let Some((message, path)) = nul {
            let why = format!("`{path}` contains the character NUL (`\\u0000`).");
            let id = message.get("id").filter(|id| id.is_number() || id.is_string()).filter(|_| path != "id");
            return Err(Box::new(refusal_of(id, ErrorCode::INVALID_PARAMS, &why)));
        }
        match messages.all().iter().all(is_message) {
            true => Ok(messages),
            false => refuse(ErrorCode::INVALID_REQUEST, "The body is not a JSON-RPC 2.0 message.".to_owned()),
        }
    }

    fn all(&self) -> &[Value] {
        match self {
            Messages::One(message) => std::slice::from_ref(message),
            Messages::Several(messages) => messages,
        }
    }

    /// Returns how many messages expect an answer. It is at least one, because a notification also
    /// is a request to the service.
    pub fn requests(&self) -> usize {
        self.all().iter().filter(|message| message.get("id").is_some()).count().max(1)
    }
}

/// Reads arguments of a tool call that some hosts do not write as an object: JSON in a string
/// becomes that object, and an empty string or list becomes null.
fn with_arguments_as_object(mut message: Value) -> Value {
    if message["method"] != "tools/call" {
        return message;
    }
    let Some(arguments) = message.pointer_mut("/params/arguments") else { return message };
    let read = match arguments {
        Value::String(text) if text.trim().is_empty() => Some(Value::Null),
        Value::String(text) => json::value(text.as_bytes()).ok(),
        Value::Array(items) if items.is_empty() => Some(Value::Null),
        _ => None,
    };
    if let Some(read @ (Value::Object(_) | Value::Null)) = read {
        *arguments = read;
    }
    message
}

fn is_message(value: &Value) -> bool {
    serde_json::from_value::<ClientJsonRpcMessage>(value.clone()).is_ok()
}

/// Returns a JSON-RPC error that belongs to no message in particular.
fn refusal(code: ErrorCode, why: &str) -> Response {
    refusal_of(None, code, why)
}

/// Returns a JSON-RPC error that belongs to the message with this id.
fn refusal_of(id: Option<&Value>, code: ErrorCode, why: &str) -> Response {
    let body = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code.0, "message": why } });
    (StatusCode::BAD_REQUEST, [(CONTENT_TYPE, JSON)], body.to_string()).into_response()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerForm {
    Json,
    Events,
}

impl AnswerForm {
    /// Returns the form that the client accepts, or JSON if it accepts both. Returns `None` if it
    /// accepts neither.
    fn wanted(headers: &HeaderMap) -> Option<Self> {
        let says_nothing = !headers.contains_key(ACCEPT);
        if says_nothing || AnswerForm::Json.is_taken(headers) {
            return Some(AnswerForm::Json);
        }
        AnswerForm::Events.is_taken(headers).then_some(AnswerForm::Events)
    }

    fn is_taken(self, headers: &HeaderMap) -> bool {
        let ranges = match self {
            AnswerForm::Json => [JSON, "application/*"],
            AnswerForm::Events => [EVENT_STREAM, "text/*"],
        };
        let accepted: Vec<String> = headers
            .get_all(ACCEPT)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .filter_map(|range| {
                let mut parts = range.split(';').map(|part| part.trim().to_ascii_lowercase().replace(' ', ""));
                let media = parts.next().filter(|media| !media.is_empty())?;
                let is_refused =
                    |weight: &str| weight.strip_prefix("q=").and_then(|q| q.parse::<f32>().ok()) == Some(0.0);
                (!parts.any(|part| is_refused(&part))).then_some(media)
            })
            .collect();
        accepted.iter().any(|range| range == "*/*" || ranges.contains(&range.as_str()))
    }
}

async fn hand_on(service: &McpService, request: Request) -> Response {
    let response = match service.clone().oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    match crate::http::refused::is_bare(&response) {
        true => as_problem(response).await,
        false => response,
    }
}

/// Turns a refusal by the SDK into a problem document.
async fn as_problem(response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, REFUSAL_BYTES_MAX).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let detail = text.split_once(": ").map_or(&*text, |(_, detail)| detail);
    if parts.status.is_server_error() {
        tracing::error!(detail, "the protocol's server failed");
        return Problem::internal().into_response();
    }
    let code = match parts.status {
        StatusCode::FORBIDDEN => "forbidden",
        StatusCode::NOT_FOUND => "unknown_session",
        StatusCode::METHOD_NOT_ALLOWED => "method_not_allowed",
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "unsupported_media_type",
        _ => "invalid_request",
    };
    let problem = Problem::new(parts.status, code, format!("{}.", detail.trim_end_matches('.')));
    let mut response = problem.into_response();
    if let Some(allow) = parts.headers.get(ALLOW) {
        response.headers_mut().insert(ALLOW, allow.clone());
    }
    response
}

/// Combines the answers to an array. A response that is no answer to a single message, such as a
/// refusal by the SDK, becomes the answer to all.
async fn together(responses: Vec<Response>, form: AnswerForm) -> Response {
    let mut answers = Vec::with_capacity(responses.len());
    for response in responses {
        let is_json =
            response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(JSON.as_bytes()));
        match (is_json, response.status()) {
            (true, _) => {}
            (false, StatusCode::ACCEPTED) => continue,
            (false, _) => return response,
        }
        // The body was made in this process, so its size is not limited.
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap_or_default();
        answers.push(serde_json::from_slice::<Value>(&bytes).unwrap_or(Value::Null));
    }
    if answers.is_empty() {
        return StatusCode::ACCEPTED.into_response();
    }
    let (kind, body) = match form {
        AnswerForm::Json => (JSON, Value::Array(answers).to_string()),
        AnswerForm::Events => {
            (EVENT_STREAM, answers.iter().map(|answer| format!("event: message\ndata: {answer}\n\n")).collect())
        }
    };
    ([(CONTENT_TYPE, kind)], Bytes::from(body)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_as_the_client_accepts_them() {
        for (accept, form) in [
            (None, Some(AnswerForm::Json)),
            (Some("application/json, text/event-stream"), Some(AnswerForm::Json)),
            (Some("text/event-stream, application/json"), Some(AnswerForm::Json)),
            (Some("application/json"), Some(AnswerForm::Json)),
            (Some("APPLICATION/JSON; charset=utf-8"), Some(AnswerForm::Json)),
            (Some("*/*"), Some(AnswerForm::Json)),
            (Some("text/event-stream"), Some(AnswerForm::Events)),
            (Some("text/*"), Some(AnswerForm::Events)),
            (Some("application/json;q=0, text/event-stream"), Some(AnswerForm::Events)),
            (Some("text/html"), None),
            (Some("application/json; q=0.0"), None),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(accept) = accept {
                headers.insert(ACCEPT, HeaderValue::from_str(accept).expect("a header"));
            }
            assert_eq!(AnswerForm::wanted(&headers), form, "{accept:?}");
        }
    }

    #[test]
    fn bodies_are_messages_or_short_arrays_of_them() {
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        let notice = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        for (body, requests) in [
            (ping.clone(), Some(1)),
            (notice.clone(), Some(1)),
            (json!([ping]), Some(1)),
            (json!([ping, notice, ping]), Some(2)),
            (json!([notice]), Some(1)),
            (Value::Array(vec![ping.clone(); MESSAGES_MAX]), Some(MESSAGES_MAX)),
            (Value::Array(vec![ping.clone(); MESSAGES_MAX + 1]), None),
            (json!([]), None),
            (json!([ping, 7]), None),
            (json!({ "method": "ping" }), None),
            (json!("ping"), None),
        ] {
            let read = Messages::read(body.to_string().as_bytes()).ok().map(|messages| messages.requests());
            assert_eq!(read, requests, "{body}");
        }
        assert!(Messages::read(b"{").is_err());
    }
}
