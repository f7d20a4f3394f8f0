//! Pictures on pages of other sites: what the answers of routes that serve them (`route_rules`) say to browsers (the
//! Fetch standard's CORS protocol, and the cross-origin policies of HTML). Every answer of such a route says it,
//! refusals and redirects too: a page with `Cross-Origin-Embedder-Policy: require-corp` is shown nothing that one hop
//! of the way does not allow, and a script reads the problem document of a refusal only where it is allowed to.
//!
//! Any origin may read (`*`), although `/images/car.png` honours our cookies: a browser gives no script the answer with
//! `*` to a request that carried cookies, and ours are `SameSite=Lax`, which pages of other sites do not send with
//! pictures. `Authorization` is not among the headers that a page may send: a key in a page is everybody's key, and
//! pages get signed addresses from their own server. For the same reason `/api/v1/images/car`, which answers keys
//! alone, is not among these routes.
//!
//! Why: `docs/decisions/api.md` (CORS: which origins may call which routes).

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

const METHODS: &str = "GET, HEAD, OPTIONS";

/// Beside those that need no permission. The last two are what scripts that measure pages add to every request.
const REQUEST_HEADERS: &str = "If-None-Match, If-Modified-Since, Cache-Control, Range, Traceparent, Tracestate";

/// Beside those that every script may read (`Cache-Control`, `Content-Length`, `Content-Type` and a few more).
const RESPONSE_HEADERS: &str = "Accept-Ranges, Content-Location, ETag, RateLimit, RateLimit-Limit, RateLimit-Policy, RateLimit-Remaining, \
                                RateLimit-Reset, Retry-After, X-Ignored-Parameters, X-Image-Height, X-Image-Source, X-Image-Width, X-Request-Id, X-Vehicle-Likeness";

/// How long a browser may remember the answer to its preflight, in seconds. Browsers shorten it to two hours or a day.
const PREFLIGHT_SECONDS: &str = "86400";

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const TIMING_ALLOW_ORIGIN: HeaderName = HeaderName::from_static("timing-allow-origin");

/// Lets pages of any site use the answer that has these headers.
pub fn open(headers: &mut HeaderMap) {
    for (name, value) in [
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS),
        (CROSS_ORIGIN_RESOURCE_POLICY, "cross-origin"),
        (TIMING_ALLOW_ORIGIN, "*"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// `OPTIONS` of a route that serves pictures: what a page may send. A browser asks before a request with `If-None-Match`.
pub async fn preflight() -> Response {
    let allowed = [
        (ALLOW, METHODS),
        (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS),
        (ACCESS_CONTROL_MAX_AGE, PREFLIGHT_SECONDS),
    ];
    (StatusCode::NO_CONTENT, allowed).into_response()
}
