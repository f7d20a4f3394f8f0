//! Failures as problem documents (RFC 9457).
//!
//! A handler returns a [`Problem`]. The middleware (`frame`) adds what only it knows, the base URL
//! and the request id, and writes the body. Nothing private belongs in `detail`: causes are logged
//! where they are handled.

use crate::ledger::LedgerError;
use crate::plural;
use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, LINK, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

/// One failure. `code` is stable and for programs, `detail` is a sentence for people.
#[derive(Debug, Clone)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    /// A sentence on what to do next, once in the words of the JSON API and once in
    /// those of the MCP tools. It is boxed because a problem is the error type of every
    /// handler and few problems have advice.
    advice: Option<Box<[String; 2]>>,
    members: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Problem {
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Problem { status, code, detail: detail.into(), advice: None, members: Map::new(), headers: Vec::new() }
    }

    /// Returns 400 for one wrong parameter or body member. `detail` should name it too.
    pub fn bad_parameter(parameter: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_parameter", detail).with("parameter", parameter)
    }

    /// Returns 400 for a body that does not parse, or for a broken rule
    /// that concerns no single parameter.
    pub fn bad_request(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    /// Returns 401 with `WWW-Authenticate: Bearer`.
    pub fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", detail).header(WWW_AUTHENTICATE, "Bearer")
    }

    /// Returns 402 with the balance, the credits that the request needs, and the link to buy more.
    pub fn insufficient_credits(balance: i64, required: i64, base_url: &str) -> Self {
        Self::new(
            StatusCode::PAYMENT_REQUIRED,
            "insufficient_credits",
            format!("This request needs {}; the balance is {balance}.", plural::count(required, "credit")),
        )
        .with("balance", balance)
        .with("required_credits", required)
        .with("credits_remaining", balance)
        .with("links", serde_json::json!({ "billing": format!("{base_url}/pricing") }))
        .header(LINK, "</pricing>; rel=payment")
        .advise("", "Ask the user: only a person can buy credits. get_account returns the balance.")
    }

    /// Replaces code and detail, and keeps the status, members and headers.
    pub fn with_code(self, code: &'static str, detail: String) -> Self {
        Problem { code, detail, ..self }
    }

    pub fn forbidden(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, detail)
    }

    pub fn not_found(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, detail)
    }

    pub fn conflict(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, detail)
    }

    pub fn gone(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, code, detail)
    }

    /// Returns 413 for a body over the route's limit.
    pub fn too_large(limit_bytes: usize) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "body_too_large",
            format!("The body is larger than the {limit_bytes} bytes that are allowed here."),
        )
        .with("limit_bytes", limit_bytes)
    }

    /// Returns 429. `retry_after_seconds` is raised to 1 if it is 0.
    pub fn rate_limited(retry_after_seconds: u64) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", "Too many requests in this minute.")
            .retry_after(retry_after_seconds.max(1))
    }

    /// Returns 500 and says that nothing was charged. The caller has logged the cause.
    pub fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "Something went wrong in the service; nothing was charged.",
        )
    }

    /// Returns 502: the render failed, and its credit, if any, was given back.
    pub fn render_failed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "render_failed", detail)
    }

    /// Returns 503. `code` tells the reason, such as `at_capacity`, `daily_budget_spent`,
    /// `dependency_down` or `shutting_down`.
    pub fn unavailable(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail)
    }

    /// Adds a member to the document, such as `suggestions`, `reset_at` or `index`.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a header. A value that is not a valid header value is left out.
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((name, value));
        }
        self
    }

    /// Adds a sentence on what to do next: `api` for clients of the JSON API, `tool` for agents,
    /// which have MCP tools and no URLs. Either may be empty.
    pub fn advise(mut self, api: impl Into<String>, tool: impl Into<String>) -> Self {
        self.advice = Some(Box::new([api.into(), tool.into()]));
        self
    }

    pub fn retry_after(self, seconds: u64) -> Self {
        self.header(RETRY_AFTER, &seconds.to_string())
    }

    /// Returns the number of seconds in `Retry-After`, if the problem has that header.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        let (_, value) = self.headers.iter().find(|(name, _)| *name == RETRY_AFTER)?;
        value.to_str().ok()?.parse().ok()
    }

    pub fn status(&self) -> StatusCode {
        self.status
    }

    pub fn code(&self) -> &'static str {
        self.code
    }

    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Returns the complete problem document for clients of the JSON API.
    pub fn document(&self, base_url: &str, request_id: &str) -> Value {
        self.written(base_url, request_id, self.advice.as_deref().map_or("", |[api, _]| api))
    }

    /// Returns the complete problem document for an agent, with the advice for MCP tools.
    pub fn tool_document(&self, base_url: &str, request_id: &str) -> Value {
        self.written(base_url, request_id, self.advice.as_deref().map_or("", |[_, tool]| tool))
    }

    fn written(&self, base_url: &str, request_id: &str, advice: &str) -> Value {
        let detail = match advice {
            "" => self.detail.clone(),
            advice => format!("{}. {advice}", self.detail.trim_end_matches('.')),
        };
        let mut document = Map::new();
        document.insert("type".to_owned(), format!("{base_url}/docs/errors#{}", self.status.as_u16()).into());
        document.insert("title".to_owned(), self.status.canonical_reason().unwrap_or("Error").into());
        document.insert("status".to_owned(), self.status.as_u16().into());
        document.insert("detail".to_owned(), detail.into());
        document.insert("request_id".to_owned(), request_id.into());
        document.insert("code".to_owned(), self.code.into());
        document.extend(self.members.clone());
        Value::Object(document)
    }

    /// Writes the body into a response that [`IntoResponse`] made, and keeps the
    /// headers that were added since.
    pub(super) fn write_into(&self, response: &mut Response, base_url: &str, request_id: &str) {
        let body = self.document(base_url, request_id).to_string();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        *response.body_mut() = Body::from(body);
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.status;
        for (name, value) in &self.headers {
            response.headers_mut().insert(name.clone(), value.clone());
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// A database error becomes 503 when it may be temporary, and 500 when it is a defect of the
/// service. It is logged here, once, in both cases.
impl From<sqlx::Error> for Problem {
    fn from(error: sqlx::Error) -> Self {
        metrics::counter!("cyclorama_dependency_failures_total", "dependency" => "database").increment(1);
        if crate::db::may_pass(&error) {
            tracing::warn!(error = &error as &dyn std::error::Error, "the database did not answer");
            Problem::unavailable("dependency_down", "The database does not answer; nothing was charged.").retry_after(2)
        } else {
            tracing::error!(error = &error as &dyn std::error::Error, "a database statement failed");
            Problem::internal()
        }
    }
}

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::UnknownAccount(_) => Problem::not_found("unknown_account", format!("{error}.")),
            LedgerError::BadAmount(_) => Problem::bad_parameter("credits", format!("credits: {error}.")),
            LedgerError::ReferenceTaken(_) => Problem::conflict("reference_taken", format!("{error}.")),
            LedgerError::UnknownEntry(_) => Problem::not_found("unknown_entry", format!("{error}.")),
            LedgerError::Database(cause) => cause.into(),
        }
    }
}
