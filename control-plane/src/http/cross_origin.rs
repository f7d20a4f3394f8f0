//! Cross-origin headers for images on pages of other sites: the headers that routes which
//! serve images (`route_rules`) send to browsers (the Fetch standard's CORS protocol, and the
//! cross-origin policies of HTML). Every response of such a route has them, refusals and
//! redirects too: a page with `Cross-Origin-Embedder-Policy: require-corp` shows nothing
//! unless every hop of the way allows it, and a script can read the problem document of a
//! refusal only where it is allowed to.
//!
//! Any origin may read (`*`), although `/images/car.png` honours our cookies: a browser gives a
//! script no response with `*` to a request that carried cookies, and our cookies are
//! `SameSite=Lax`, which pages of other sites do not send with images. `Authorization` is not among
//! the headers that a page may send: a key in a page is everybody's key, and pages get signed URLs
//! from their own server. For the same reason `/api/v1/images/car`, which accepts nothing but keys,
//! is not among these routes.
//!
//! Why: `docs/decisions/api.md` (CORS: which origins may call which routes).

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

const METHODS: &str = "GET, HEAD, OPTIONS";

/// Request headers that a page may send, beside those that need no permission. Scripts that measure
/// pages add the last two to every request.
const REQUEST_HEADERS: &str = "If-None-Match, If-Modified-Since, Cache-Control, Range, Traceparent, Tracestate";

/// Response headers that a script may read, beside those that every script may read
/// (`Cache-Control`, `Content-Length`, `Content-Type` and a few more).
const RESPONSE_HEADERS: &str = "Accept-Ranges, Content-Location, ETag, RateLimit, RateLimit-Limit, RateLimit-Policy, RateLimit-Remaining, \
                                RateLimit-Reset, Retry-After, X-Ignored-Parameters, X-Image-Height, X-Image-Source, X-Image-Width, X-Request-Id, X-Vehicle-Likeness";

/// Time for which a browser may remember the response to its preflight, in seconds. Browsers
/// shorten it to two hours or a day.
const PREFLIGHT_SECONDS: &str = "86400";

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const TIMING_ALLOW_ORIGIN: HeaderName = HeaderName::from_static("timing-allow-origin");

/// Adds the headers that let pages of any site use the response.
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

/// Answers `OPTIONS` of a route that serves images with the methods and headers that a page may
/// send. Browsers send this preflight before a request with `If-None-Match`, for example.
pub async fn preflight() -> Response {
    let allowed = [
        (ALLOW, METHODS),
        (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS),
        (ACCESS_CONTROL_MAX_AGE, PREFLIGHT_SECONDS),
    ];
    (StatusCode::NO_CONTENT, allowed).into_response()
}
