//! Counts and limits, by client network, the requests that need no key.

use super::caller::caller_of_headers;
use super::client_ip::{ClientIp, client_ip, peer};
use super::error::Problem;
use super::key_window::{counted, refuse_when_full};
use super::partner_signature;
use super::rate_limit::over_limit;
use super::route_rules::{PublicReads, RouteRules};
use super::window_fields::RATELIMIT_LIMIT;
use crate::accounts::caller::{Caller, KeyWindow};
use crate::app::App;
use crate::network_counts::Over;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

const READS: &str = "reads";
/// Refused requests for images are counted apart from reads, so that junk keys for images do not
/// close the pages to other clients behind the same address.
const REFUSED_PICTURES: &str = "refused pictures";
const HEADS_OF_PICTURES: &str = "heads of pictures";

/// Counts the requests that need no key (pages, catalog, documents) by client network, and refuses
/// those over the limit. Only a refusal carries the fields of the window, because shared caches
/// keep many of the other responses.
pub async fn public_reads(State(app): State<App>, request: Request, next: Next) -> Response {
    let is_head = *request.method() == Method::HEAD;
    let reads = match request.extensions().get::<RouteRules>() {
        Some(rules) if is_head || *request.method() == Method::GET => rules.public_reads,
        Some(_) | None => PublicReads::None,
    };
    let counts_all = match reads {
        PublicReads::All => true,
        PublicReads::Heads => is_head,
        PublicReads::Refused | PublicReads::None => false,
    };
    let (Some(peer), true) = (peer(request.extensions()), counts_all || reads == PublicReads::Refused) else {
        return next.run(request).await;
    };
    let ClientIp(ip) = client_ip(peer, request.headers(), &app.config.listen.trusted_proxies);
    let limit = app.config.limits.public_reads_per_minute;
    if counts_all {
        return match app.network_counts.read(READS, ip, limit, app.clock.now()) {
            Ok(()) => next.run(request).await,
            Err(over) => over_limit(over).into_response(),
        };
    }
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

/// Handles a request for an image from a network that is over its limit: the request is answered
/// only if it proves a grant, and the grant is checked before any other work is done.
async fn picture_over_limit(app: &App, over: Over, request: Request, next: Next) -> Response {
    let window = request.extensions().get::<KeyWindow>().cloned().unwrap_or_default();
    match Proof::of(app, request.uri().query().unwrap_or_default(), request.headers(), &window).await {
        Ok(Some(Proof::Signature)) => next.run(request).await,
        Ok(Some(Proof::Key(mut caller))) => {
            if let Err(refusal) = refuse_when_full(app, &mut caller).await {
                return refusal.into_response();
            }
            let response = next.run(request).await;
            // A request that was refused before its key was checked is now counted for the key.
            let is_counted =
                caller.is_counted || window.get().is_some() || response.headers().contains_key(RATELIMIT_LIMIT);
            match response.status().is_client_error() && !is_counted {
                true => counted(app, &caller, async { Ok(response) }).await,
                false => response,
            }
        }
        Err(failure) if failure.status().is_server_error() => failure.into_response(),
        Ok(None) | Err(_) => over_limit(over).into_response(),
    }
}

/// A grant for an image that was checked and found valid.
enum Proof {
    /// A partner has signed the URL.
    Signature,
    Key(Caller),
}

impl Proof {
    async fn of(app: &App, query: &str, headers: &HeaderMap, window: &KeyWindow) -> Result<Option<Self>, Problem> {
        if partner_signature::is_signed(app, query).await? {
            return Ok(Some(Proof::Signature));
        }
        Ok(caller_of_headers(app, headers, window).await?.map(Proof::Key))
    }
}
