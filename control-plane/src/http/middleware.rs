//! The middleware around every handler: it gives every request an id, a time limit, a span, one log
//! line and its metrics, and every response the problem body and the security headers.

use super::cross_origin;
use super::error::Problem;
use super::mcp;
use super::refused;
use super::request_id::RequestId;
use super::route_rules::{RouteRules, USUAL};
use super::slow_body::BodyWatch;
use super::trace;
use super::turn_body::StopReason;
use super::web::pages;
use crate::app::App;
use crate::in_flight::RequestInFlight;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::{FutureExt, StreamExt};
use metrics::SharedString;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::Instrument;

const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Runs a request inside the layer that adds its route's rules, and around everything else. Both
/// listeners use it. Only the header `Strict-Transport-Security` is added outside (`router`).
pub async fn frame(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let route: Arc<str> = matched.as_ref().map_or("(none)", MatchedPath::as_str).into();
    let method = request.method().clone();
    let rules = request.extensions().get::<RouteRules>().copied().unwrap_or(USUAL);
    let named = rules.takes_request_id.then(|| RequestId::from_client(request.headers())).flatten();
    let request_id = named.unwrap_or_else(RequestId::fresh);
    request.extensions_mut().insert(request_id.clone());
    let page = rules.is_of_tools.then(|| mcp::Page::of(&app.base_url, request.headers())).flatten();
    let preflight = page.as_ref().and_then(|page| page.preflight(&method, request.headers()));

    // The request is counted before `stopping` is checked: a shutdown that waits for the count to
    // reach zero sees every request that passed the check.
    let counted = (!rules.is_of_nodes).then(|| app.in_flight.enter());
    let is_turned_away = app.stopping.is_cancelled() && counted.is_some() && !rules.is_probe;
    if let Some(refusal) = refused::unseen(is_turned_away, &request) {
        let mut response = refusal.into_response();
        finish(&app, rules, &request_id, page, &mut response);
        return response;
    }
    // The log has the route's pattern, never the path or the query: both may hold keys, tokens and
    // signatures.
    let span = tracing::info_span!("request", request_id = &*request_id.0, method = method.as_str(), route = &*route);
    let trace = trace::begin(&app, &request, matched.as_ref().map(MatchedPath::as_str), rules, &request_id);
    let (request, body) = BodyWatch::of(request, app.config.limits.client_timeout);
    let mut response = match preflight {
        Some(allowed) => allowed,
        None => trace.around(answer(request, &body, next, rules.time_limit.of(&app)).instrument(span)).await,
    };
    let code = response.extensions().get::<Problem>().map_or("", Problem::code);
    trace::end(&trace, response.status(), code);
    finish(&app, rules, &request_id, page, &mut response);
    let outcome = RequestOutcome { status: response.status(), code, elapsed: started.elapsed() };
    record(&method, &route, rules, &request_id, outcome);
    match rules.is_of_tools && is_event_stream(&response) {
        true => in_flight_to_the_end(response, counted),
        false => response,
    }
}

fn is_event_stream(response: &Response) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Counts the request as in flight until its event stream ends. The result of an MCP tool call is
/// the last event of the stream, so a shutdown has to wait for it.
fn in_flight_to_the_end(response: Response, counted: Option<RequestInFlight>) -> Response {
    let (parts, body) = response.into_parts();
    let chunks = body.into_data_stream().inspect(move |_| {
        let _until_dropped = &counted;
    });
    Response::from_parts(parts, Body::from_stream(chunks))
}

/// Returns the handler's response, or a problem document when the handler panics or takes too long,
/// or its client does not send the body in time.
async fn answer(request: Request, body: &BodyWatch, next: Next, limit: Duration) -> Response {
    // A panic leaves no shared state half changed: all of it is behind locks or transactions.
    let handled = AssertUnwindSafe(next.run(request)).catch_unwind();
    match tokio::time::timeout(limit, handled).await {
        // If the body was not read to its end, that decides the refusal, whatever error the
        // handler returned.
        Ok(Ok(response)) => match body.stopped().filter(|_| !response.status().is_success()) {
            Some(StopReason::ClientTooSlow) => body_timed_out(),
            Some(StopReason::NoTurn) => refused::without_turn().into_response(),
            None => refused::named(response).await,
        },
        Ok(Err(_)) => {
            // The panic's location is in the log already, and nothing of it goes into the response.
            tracing::error!("a handler panicked");
            Problem::internal().into_response()
        }
        Err(_) if body.is_waiting() => body_timed_out(),
        Err(_) if body.is_waiting_for_turn() => refused::without_turn().into_response(),
        Err(_) => {
            tracing::error!(limit_seconds = limit.as_secs(), "a handler did not finish in time");
            Problem::unavailable("timed_out", "This took too long and was stopped; nothing stays charged.")
                .retry_after(5)
                .into_response()
        }
    }
}

/// Returns 408: the client was too slow, which is not a failure of the service.
fn body_timed_out() -> Response {
    let detail = "The body of the request did not arrive in time; nothing was charged.";
    Problem::new(StatusCode::REQUEST_TIMEOUT, "timed_out", detail).header(CONNECTION, "close").into_response()
}

/// How a request ended: its HTTP status, and the code of its problem document if there is one. The
/// code distinguishes a spent budget from a broken object store.
struct RequestOutcome {
    status: StatusCode,
    code: &'static str,
    elapsed: Duration,
}

/// Writes the request to the metrics and the log. The log line is written outside the request's
/// span: repeating the span's fields makes the line cost twice as much.
fn record(method: &Method, route: &Arc<str>, rules: RouteRules, request_id: &RequestId, outcome: RequestOutcome) {
    let RequestOutcome { status, code, elapsed } = outcome;
    let (method_label, route_label) = (trace::known_method(method), SharedString::from(route.clone()));
    let seconds = elapsed.as_secs_f64();
    metrics::histogram!("cyclorama_http_request_seconds", "method" => method_label, "route" => route_label.clone())
        .record(seconds);
    let status_label = status.as_str().to_owned();
    metrics::counter!(
        "cyclorama_http_requests_total", "method" => method_label, "route" => route_label, "status" => status_label, "code" => code
    )
    .increment(1);

    let (request_id, method, route) = (&*request_id.0, method.as_str(), &**route);
    let (status, duration_ms) = (status.as_u16(), seconds * 1000.0);
    match rules.is_quiet {
        true => tracing::debug!(request_id, method, route, status, duration_ms, "answered"),
        false => tracing::info!(request_id, method, route, status, duration_ms, "answered"),
    }
}

/// Adds the headers and the problem body that no handler should have to think of. `page` is the web
/// page that called the MCP tools, if one did: its browser lets it read the response, refusals too.
fn finish(app: &App, rules: RouteRules, request_id: &RequestId, page: Option<mcp::Page>, response: &mut Response) {
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        problem.write_into(response, &app.base_url, &request_id.0);
    }
    if is_event_stream(response) {
        // Nginx buffers events before it passes them on, unless this header forbids it.
        response.headers_mut().insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    }
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&request_id.0) {
        headers.insert(RequestId::HEADER, value);
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(REFERRER_POLICY).or_insert(HeaderValue::from_static("strict-origin-when-cross-origin"));
    headers.entry(X_FRAME_OPTIONS).or_insert(HeaderValue::from_static("DENY"));
    // A response without `Cache-Control` must not be cached: caches would keep a 404 or 410, for
    // instance, for as long as they choose (RFC 9110, section 15.1), and an image that was missing
    // a moment ago would stay missing.
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if rules.is_open_to_pages {
        cross_origin::open(headers);
    }
    if let Some(page) = page {
        page.may_read(headers);
    }
    // Pages set a policy of their own. All other responses load nothing.
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
}

/// Answers a path without a route: with a page for browsers, unless the path lies below a prefix
/// that programs call, and with a problem document otherwise.
pub async fn unknown_route(id: RequestId, headers: HeaderMap, uri: Uri) -> Response {
    let unknown = Problem::not_found("unknown_route", "There is nothing at this URL.");
    let is_for_programs = ["/api/", "/images/", "/node/", "/admin/"].iter().any(|start| uri.path().starts_with(start));
    match !is_for_programs && pages::is_browser(&headers) {
        true => pages::failure(&unknown, &id),
        false => unknown.into_response(),
    }
}

/// Answers a known path with the wrong method. The framework adds `Allow`.
pub async fn wrong_method() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "This URL does not accept this method.")
}
