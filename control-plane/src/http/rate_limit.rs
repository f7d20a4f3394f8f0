//! Rate limits as clients see them: the fields of a window, and limits per client address. Windows themselves are counted by the
//! meter, exactly and for all processes together.

use super::error::Problem;
use super::extract::{Caller, ClientIp, client_ip, peer};
use super::frame::is_probe;
use super::legacy;
use super::v1::answer::problem;
use crate::app::App;
use crate::delivery;
use crate::ledger::{Charge, Entry, Outcome, RateCount, Window};
use crate::network_counts::Over;
use crate::networks::network_of;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

pub const RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
pub const RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
pub const RATELIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
/// Structured fields (draft-ietf-httpapi-ratelimit-headers-10): the same window in their form.
pub const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
pub const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

const WINDOW_SECONDS: u32 = 60;

/// Whom a window is for, as the structured fields name it.
#[derive(Debug, Clone, Copy)]
pub enum Policy {
    Key,
    Address,
}

impl Policy {
    const fn name(self) -> &'static str {
        match self {
            Policy::Key => "per-key",
            Policy::Address => "per-address",
        }
    }
}

/// Refuses a request of a key whose window is known to be full, before anything is done for it. It is counted like any other.
pub async fn refuse_when_full(app: &App, caller: &mut Caller) -> Result<(), Problem> {
    if !app.meter.is_full(&caller.key_id, app.clock.now()) {
        return Ok(());
    }
    let (window, counted) = delivery::count(app, caller).await;
    if let Err(error) = counted {
        let refusal = problem(app, error);
        let told = window.map(|window| fields(window, Policy::Key)).into_iter().flatten();
        return Err(told.fold(refusal, |refusal, (name, text)| refusal.header(name, &text)));
    }
    caller.is_counted = true;
    Ok(())
}

/// Puts a key's window on an answer, where it is known and the answer is the caller's alone.
pub fn with_window(mut response: Response, window: Option<Window>) -> Response {
    if let Some(window) = window {
        describe(&mut response, window, Policy::Key);
    }
    response
}

/// Puts the fields of a window on an answer, unless shared caches may keep it: they would show one visitor's window to all others.
fn describe(response: &mut Response, window: Window, policy: Policy) {
    if is_shareable(response.headers()) {
        return;
    }
    for (field, text) in fields(window, policy) {
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().insert(field, value);
        }
    }
}

fn is_shareable(headers: &HeaderMap) -> bool {
    let told = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    told.flat_map(|value| value.split(',')).any(|directive| directive.trim().eq_ignore_ascii_case("public"))
}

fn fields(window: Window, policy: Policy) -> [(HeaderName, String); 5] {
    let (limit, remaining, reset) = (window.limit, window.remaining, window.reset_seconds);
    let name = policy.name();
    [
        (RATELIMIT_LIMIT, limit.to_string()),
        (RATELIMIT_REMAINING, remaining.to_string()),
        (RATELIMIT_RESET, reset.to_string()),
        (RATELIMIT_POLICY, format!("\"{name}\";q={limit};w={WINDOW_SECONDS}")),
        (RATELIMIT, format!("\"{name}\";r={remaining};t={reset}")),
    ]
}

/// Counts a request of a key that costs nothing, then answers it. Over the limit nothing else happens.
pub async fn counted(app: &App, caller: &Caller, answer: impl Future<Output = Result<Response, Problem>>) -> Response {
    let (window, counted) = delivery::count(app, caller).await;
    let response = match counted {
        Ok(()) => answer.await.unwrap_or_else(Problem::into_response),
        Err(error) => problem(app, error).into_response(),
    };
    with_window(response, window)
}

/// Counts a request of a client address for one purpose, then answers it.
pub async fn counted_by_address(
    app: &App,
    ip: ClientIp,
    purpose: &'static str,
    limit_per_minute: i64,
    answer: impl Future<Output = Result<Response, Problem>>,
) -> Response {
    if let Err(over) = app.network_counts.write(purpose, ip.0, limit_per_minute, app.clock.now()) {
        return over_limit(over).into_response();
    }
    counted_as(app, format!("{purpose} {}", network_of(ip.0)), limit_per_minute, answer).await
}

/// The refusal of a request that is over what its network may do.
pub fn over_limit(over: Over) -> Problem {
    match over {
        Over::Client(window) => {
            let refusal = Problem::rate_limited(window.reset_seconds.max(1) as u64);
            fields(window, Policy::Address)
                .into_iter()
                .fold(refusal, |refusal, (name, text)| refusal.header(name, &text))
        }
        Over::Everybody { reset_seconds } => {
            let detail = "Too many such requests are coming in from everywhere: try again in a minute.";
            Problem::unavailable("at_capacity", detail).retry_after(reset_seconds.max(1) as u64)
        }
    }
}

const READS: &str = "reads";
/// Counted apart from reads, so that junk keys for pictures do not close the pages to others who share the address.
const REFUSED_PICTURES: &str = "refused pictures";
const HEADS_OF_PICTURES: &str = "heads of pictures";

/// Counts what anybody may read without a key (pages, catalog, documents), by network. Only a refusal carries the fields
/// of the window, because shared caches keep many of the other answers.
pub async fn public_reads(State(app): State<App>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>();
    let count = route.map_or(Count::Nothing, |route| what_counts(request.method(), route.as_str()));
    let (Some(peer), Count::Reads | Count::Refusals) = (peer(request.extensions()), count) else {
        return next.run(request).await;
    };
    let ClientIp(ip) = client_ip(peer, request.headers(), &app.config.listen.trusted_proxies);
    let limit = app.config.limits.public_reads_per_minute;
    if count == Count::Reads {
        return match app.network_counts.read(READS, ip, limit, app.clock.now()) {
            Ok(()) => next.run(request).await,
            Err(over) => over_limit(over).into_response(),
        };
    }
    let is_head = *request.method() == Method::HEAD;
    if is_head && let Err(over) = app.network_counts.read(HEADS_OF_PICTURES, ip, limit, app.clock.now()) {
        return picture_over_limit(&app, over, request, next).await;
    }
    if let Err(over) = app.network_counts.is_over(REFUSED_PICTURES, ip, limit, app.clock.now()) {
        return picture_over_limit(&app, over, request, next).await;
    }
    let response = next.run(request).await;
    if response.status().is_client_error() {
        let _ = app.network_counts.read(REFUSED_PICTURES, ip, limit, app.clock.now());
    }
    response
}

/// Answers a request for a picture from a network that is over its limit: only if it proves a grant, which is looked at before anything else is done.
async fn picture_over_limit(app: &App, over: Over, request: Request, next: Next) -> Response {
    match Proof::of(app, request.uri().query().unwrap_or_default(), request.headers()).await {
        Ok(Some(Proof::Signature)) => next.run(request).await,
        Ok(Some(Proof::Key(mut caller))) => {
            if let Err(refusal) = refuse_when_full(app, &mut caller).await {
                return refusal.into_response();
            }
            let response = next.run(request).await;
            // What was refused before the key was looked at is counted for the key.
            let is_counted = caller.is_counted || response.headers().contains_key(RATELIMIT_LIMIT);
            match response.status().is_client_error() && !is_counted {
                true => counted(app, &caller, async { Ok(response) }).await,
                false => response,
            }
        }
        Err(failure) if failure.status().is_server_error() => failure.into_response(),
        Ok(None) | Err(_) => over_limit(over).into_response(),
    }
}

/// A grant for a picture that was found good.
enum Proof {
    /// A partner has signed the address.
    Signature,
    Key(Caller),
}

impl Proof {
    async fn of(app: &App, query: &str, headers: &HeaderMap) -> Result<Option<Self>, Problem> {
        if legacy::car::is_signed(app, query).await? {
            return Ok(Some(Proof::Signature));
        }
        Ok(Caller::from_headers(app, headers).await?.map(Proof::Key))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    Nothing,
    /// Every request.
    Reads,
    /// Only requests that are refused, in a count of their own, because the good ones of this route are embedded in pages by the dozen; pages embed no
    /// HEAD, and each is counted. Over a limit, every request that proves no grant is refused.
    Refusals,
}

/// What of a route is counted as public reads. The rest has counts of its own (keys, forms), is of nodes, or is a probe or a file at hand.
fn what_counts(method: &Method, route: &str) -> Count {
    let is_get = *method == Method::GET;
    match route {
        _ if !is_get && *method != Method::HEAD => Count::Nothing,
        "/images/car.png" => Count::Refusals,
        "/api/v1/delivery/{token}" if is_get => Count::Nothing,
        "/api/v1/images/car" | "/api/v1/account" | "/api/v1/account/statement" | "/assets/{name}" => Count::Nothing,
        route if is_probe(route) || route.starts_with("/node/") => Count::Nothing,
        _ => Count::Reads,
    }
}

/// Counts a request of somebody without a key, then answers it.
pub async fn counted_as(
    app: &App,
    counted: String,
    limit_per_minute: i64,
    answer: impl Future<Output = Result<Response, Problem>>,
) -> Response {
    let (window, counted) = count_in_window(app, counted, limit_per_minute).await;
    let mut response = match counted {
        Ok(()) => answer.await.unwrap_or_else(Problem::into_response),
        Err(problem) => problem.into_response(),
    };
    // The answer may have been counted in a narrower window, which is the one to keep to.
    if let Some(window) = window
        && !response.headers().contains_key(RATELIMIT_LIMIT)
    {
        describe(&mut response, window, Policy::Address);
    }
    response
}

/// Counts one of something; refused when there have been too many.
pub async fn count(app: &App, counted: String, limit_per_minute: i64) -> Result<(), Problem> {
    count_in_window(app, counted, limit_per_minute).await.1
}

/// Counts one; the window it is in, where that is known, and whether there have been too many.
async fn count_in_window(app: &App, counted: String, limit_per_minute: i64) -> (Option<Window>, Result<(), Problem>) {
    let count = Some(RateCount { counted, limit_per_minute, account_id: None, account_limit_per_minute: None });
    match app.meter.submit(Entry { count, ..Entry::uncounted(Charge::Nothing) }).await {
        Err(error) => (None, Err(problem(app, error.into()))),
        Ok(metered) => match (metered.outcome, metered.window) {
            (Outcome::RateLimited { .. }, Some(window)) => {
                (metered.window, Err(Problem::rate_limited(window.reset_seconds.max(1) as u64)))
            }
            _ => (metered.window, Ok(())),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_told_in_both_forms() {
        let window = Window { limit: 120, remaining: 7, reset_seconds: 30 };
        let response = with_window(Response::default(), Some(window));
        for (field, value) in [
            ("ratelimit-limit", "120"),
            ("ratelimit-remaining", "7"),
            ("ratelimit-reset", "30"),
            ("ratelimit-policy", "\"per-key\";q=120;w=60"),
            ("ratelimit", "\"per-key\";r=7;t=30"),
        ] {
            assert_eq!(response.headers()[field], value);
        }
    }
}
