//! Traces: the span of a request, below the caller's span if `traceparent`
//! names one and the caller is trusted.

use super::client_ip::is_trusted_peer;
use super::node_caller::is_known_node;
use super::request_id::RequestId;
use super::route_rules::RouteRules;
use crate::app::App;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use cyclorama_core::traces::{KeyValue, SpanKind, TRACEPARENT, Trace};

/// Begins the span of a request, with the name and attributes of OpenTelemetry's conventions for
/// HTTP servers. As in logs, the span never has the path or the query. There is no span for a
/// probe, nor for a call of a node outside of a job: with an upload for each object these would
/// drown everything else.
pub fn begin(app: &App, request: &Request, route: Option<&str>, rules: RouteRules, request_id: &RequestId) -> Trace {
    let claimed = Trace::named(request.headers().get(TRACEPARENT).and_then(|name| name.to_str().ok()));
    // A trusted caller decides what is recorded: a stranger could otherwise have all of their
    // requests stored and sent to the collector.
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

/// Returns the method as a label. Unknown methods share one label, because
/// clients can invent any number of them.
pub fn known_method(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];
    known.into_iter().find(|known| *known == method.as_str()).unwrap_or(OTHER_METHOD)
}

/// Ends the span. `code` is that of the problem document, empty where there is none.
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
