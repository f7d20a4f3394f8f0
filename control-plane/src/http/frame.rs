//! What every answer has, whatever its handler: a request id, the problem body, security headers, a time limit, one log
//! line, a span and the request metrics.

use super::cross_origin;
use super::error::Problem;
use super::mcp;
use super::refused;
use super::request_id::RequestId;
use super::route_rules::{RouteRules, USUAL};
use super::slow_body::BodyWatch;
use super::trace;
use super::turn_body::Stopped;
use super::web::pages;
use crate::app::App;
use crate::in_flight::Entered;
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

/// The outermost layer of both listeners.
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

    // Counted before the look at `stopping`: whoever waits for the count to fall sees every request that got past it.
    let counted = (!rules.is_of_nodes).then(|| app.in_flight.enter());
    let is_turned_away = app.stopping.is_cancelled() && counted.is_some() && !rules.is_probe;
    if let Some(refusal) = refused::unseen(is_turned_away, &request) {
        let mut response = refusal.into_response();
        finish(&app, rules, &request_id, page, &mut response);
        return response;
    }
    // The route's pattern is logged, never the path or the query: both may hold keys, tokens and signatures.
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
    let outcome = Outcome { status: response.status(), code, elapsed: started.elapsed() };
    record(&method, &route, rules, &request_id, outcome);
    match rules.is_of_tools && is_event_stream(&response) {
        true => in_flight_to_the_end(response, counted),
        false => response,
    }
}

fn is_event_stream(response: &Response) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// The answer to a tool's call is the last event of its stream: until then it is waited for when the service stops.
fn in_flight_to_the_end(response: Response, counted: Option<Entered>) -> Response {
    let (parts, body) = response.into_parts();
    let chunks = body.into_data_stream().inspect(move |_| {
        let _until_dropped = &counted;
    });
    Response::from_parts(parts, Body::from_stream(chunks))
}

/// The handler's answer, or one for it when it panics, takes too long or waits for its client in vain.
async fn answer(request: Request, body: &BodyWatch, next: Next, limit: Duration) -> Response {
    // Nothing is looked at after a panic but what locks and transactions guard.
    let handled = AssertUnwindSafe(next.run(request)).catch_unwind();
    match tokio::time::timeout(limit, handled).await {
        // Whatever it says of a body that it could not read to its end.
        Ok(Ok(response)) => match body.stopped().filter(|_| !response.status().is_success()) {
            Some(Stopped::ClientTooSlow) => body_timed_out(),
            Some(Stopped::NoTurn) => refused::without_turn().into_response(),
            None => refused::named(response).await,
        },
        Ok(Err(_)) => {
            // Its place is in the log already, nothing of it in the answer.
            tracing::error!("a handler panicked");
            Problem::internal().into_response()
        }
        Err(_) if body.is_waiting() => body_timed_out(),
        Err(_) if body.is_waiting_for_turn() => refused::without_turn().into_response(),
        Err(_) => {
            tracing::error!(limit_seconds = limit.as_secs(), "a handler did not finish in time");
            Problem::unavailable("timed_out", "This took too long and was given up; nothing stays charged.")
                .retry_after(5)
                .into_response()
        }
    }
}

/// 408: the client's doing, and no failure of the service's.
fn body_timed_out() -> Response {
    let detail = "The body of the request did not arrive in time; nothing was charged.";
    Problem::new(StatusCode::REQUEST_TIMEOUT, "timed_out", detail).header(CONNECTION, "close").into_response()
}

/// How a request ended: by status, and by the code of its problem document where it has one, which tells a spent budget from a dead store.
struct Outcome {
    status: StatusCode,
    code: &'static str,
    elapsed: Duration,
}

/// The request in metrics and log. Outside its span: with the span's fields told over again, the line costs twice as much.
fn record(method: &Method, route: &Arc<str>, rules: RouteRules, request_id: &RequestId, outcome: Outcome) {
    let Outcome { status, code, elapsed } = outcome;
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

/// Adds what no handler should have to think of. `page`: the one that called the tools, which may read the answer, refusals too.
fn finish(app: &App, rules: RouteRules, request_id: &RequestId, page: Option<mcp::Page>, response: &mut Response) {
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        problem.write_into(response, &app.base_url, &request_id.0);
    }
    if is_event_stream(response) {
        // Nginx gathers events before it passes them on, unless it is told not to.
        response.headers_mut().insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    }
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&request_id.0) {
        headers.insert(RequestId::HEADER, value);
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(REFERRER_POLICY).or_insert(HeaderValue::from_static("strict-origin-when-cross-origin"));
    headers.entry(X_FRAME_OPTIONS).or_insert(HeaderValue::from_static("DENY"));
    // What says nothing of caches is kept by none: they would keep a 404 or 410, for instance, for as long as they think fit (RFC 9110,
    // section 15.1), and the picture that was missing a moment ago would stay so.
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if rules.is_open_to_pages {
        cross_origin::open(headers);
    }
    if let Some(page) = page {
        page.may_read(headers);
    }
    // Pages say what they need; everything else needs nothing.
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
}

/// The answer for a path nobody knows: a page for people, unless it lies where programs ask.
pub async fn unknown_route(id: RequestId, headers: HeaderMap, uri: Uri) -> Response {
    let unknown = Problem::not_found("unknown_route", "There is nothing at this address.");
    let is_for_programs = ["/api/", "/images/", "/node/", "/admin/"].iter().any(|start| uri.path().starts_with(start));
    match !is_for_programs && pages::is_browser(&headers) {
        true => pages::failure(&unknown, &id),
        false => unknown.into_response(),
    }
}

/// The answer for a path that takes other methods; the framework adds `Allow`.
pub async fn wrong_method() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "This address does not take this method.")
}
