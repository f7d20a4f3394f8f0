//! Every route of both listeners, one line each.

use super::frame::{frame, panicked, unknown_route, wrong_method};
use super::health;
use crate::app::App;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use tower_http::catch_panic::CatchPanicLayer;

/// What clients and render nodes reach. Routes with a body of their own size are wrapped: `limited(post(handler), 4 * KIB)`.
pub fn public(app: App) -> Router {
    let routes = Router::new()
        .route("/api/health", get(health::status))
        .route("/healthz", get(health::live))
        .route("/readyz", get(health::ready));
    framed(routes, app)
}

/// What operators reach, on an address of its own. Everything under `/admin` takes the operator token.
pub fn admin(app: App) -> Router {
    let routes = Router::new()
        .route("/healthz", get(health::live))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics));
    framed(routes, app)
}

fn framed(routes: Router<App>, app: App) -> Router {
    routes
        .fallback(unknown_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(app.clone(), frame))
        .with_state(app)
}
