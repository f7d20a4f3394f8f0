//! The span of a request: inside the caller's, where its `traceparent` names one and the caller is to be believed.

use super::client_ip::is_trusted_peer;
use super::node_caller::is_known_node;
use super::request_id::RequestId;
use super::route_rules::RouteRules;
use crate::app::App;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use cyclorama_core::traces::{KeyValue, SpanKind, TRACEPARENT, Trace};

/// Named and described as OpenTelemetry's conventions for HTTP servers say. As in logs, never the path or the query.
/// None for a probe, and none for what a node asks outside of a job: with an upload for each object they would drown
/// everything else.
pub fn begin(app: &App, request: &Request, route: Option<&str>, rules: RouteRules, request_id: &RequestId) -> Trace {
    let claimed = Trace::named(request.headers().get(TRACEPARENT).and_then(|name| name.to_str().ok()));
    // Whoever is believed decides what is recorded: a stranger could have every request of theirs kept and sent to the collector.
    let is_believed = match rules.is_of_nodes {
        true => is_known_node(app, request.headers()),
        false => is_trusted_peer(app, request.extensions()),
    };
    let caller = if is_believed { claimed.clone() } else { Trace::none() };
    if rules.is_probe || (rules.is_of_nodes && caller.is_none()) {
        return Trace::none();
    }
    let method = known_method(request.method());
    let mut attributes = vec![
        KeyValue::new("http.request.method", method),
        KeyValue::new("cyclorama.request_id", request_id.0.to_string()),
    ];
    attributes.extend(route.map(|route| KeyValue::new("http.route", route.to_owned())));
    if let Some(name) = claimed.traceparent().filter(|_| !is_believed) {
        attributes.push(KeyValue::new("cyclorama.caller_traceparent", name));
    }
    let verb = if method == OTHER_METHOD { "HTTP" } else { method };
    let name = route.map_or_else(|| verb.to_owned(), |route| format!("{verb} {route}"));
    caller.begin(name, SpanKind::Server, attributes)
}

const OTHER_METHOD: &str = "_OTHER";

/// A method as a label: of the words that clients make up there is no end.
pub fn known_method(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];
    known.into_iter().find(|known| *known == method.as_str()).unwrap_or(OTHER_METHOD)
}

/// `code` is that of the problem document, empty where there is none.
pub fn end(trace: &Trace, status: StatusCode, code: &'static str) {
    trace.set(KeyValue::new("http.response.status_code", i64::from(status.as_u16())));
    if !code.is_empty() {
        trace.set(KeyValue::new("error.type", code));
    }
    if status.is_server_error() {
        trace.fail(code);
    }
    trace.end();
}
