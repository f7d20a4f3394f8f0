//! Every route of both listeners, one line each.

use super::admin;
use super::admin::prewarm::{self, batches};
use super::auth::device;
use super::body::limited;
use super::console;
use super::health;
use super::key_window::window_headers;
use super::legacy;
use super::mcp;
use super::metrics;
use super::middleware::{frame, unknown_route, wrong_method};
use super::node::{jobs, layers, nodes, uploads};
use super::operator_host;
use super::public_reads::public_reads;
use super::public_text::sent_well;
use super::route_rules::{
    EMBEDDED_PICTURE, KEYED_PICTURE, NO_PUBLIC_READ, NODES_HEARTBEAT, NODES_UPLOAD, NODES_WORK, OF_NODES, PROBE,
    Routes, SIGNED_PICTURE, TOOLS, USUAL, ruled,
};
use super::v1::{account, billing, delivery, events, feedback, image_urls, images, vehicles};
use super::web::{self, dashboard, playground_list as list};
use super::webhooks;
use crate::app::App;
use axum::http::header::{CONTENT_TYPE, STRICT_TRANSPORT_SECURITY};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::response::Response;
use axum::routing::{MethodRouter, delete, get, post, put};
use axum::{Extension, Router};
use tower_http::cors::{Any, CorsLayer};

/// Builds the router for clients and render nodes. Routes with a body limit of
/// their own are wrapped: `limited(post(handler), 4 * KIB)`. All other properties
/// of a route are in its `route_rules`. Routes before the session layers know the signed-in user or
/// the visitor.
pub fn public(app: App) -> Router {
    let tools = Extension(mcp::McpEndpoint::new(&app));
    let routes = Routes::with(USUAL)
        .route("/", get(web::home::get))
        .route("/playground", get(web::playground::get))
        .route("/playground/list", limited(get(list::get).post(list::post), list::BODY_BYTES_MAX))
        .route("/pricing", get(web::pricing::get))
        .route("/status", get(web::status::get))
        .route("/docs", get(web::docs::get).layer(Extension(web::docs::Made::default())))
        .route("/docs/quick-start", get(web::quick_start::get))
        .route("/docs/errors", get(web::errors::get))
        .route("/sign-up", get(web::sign_up::get).post(web::sign_up::post))
        .route("/sign-in", get(web::sign_in::get).post(web::sign_in::post))
        .route("/sign-in/{provider}", get(web::openid::begin))
        .route("/sign-in/{provider}/callback", get(web::openid::callback).head(web::openid::head_of_callback))
        .route("/sign-out", post(web::sign_in::sign_out))
        .route("/confirm/{link}", get(web::confirm::get).post(web::confirm::post))
        .route("/forgot-password", get(web::reset_password::ask).post(web::reset_password::post_link))
        .route("/reset-password/{link}", get(web::reset_password::get).post(web::reset_password::post))
        .route("/device", get(web::device::get).post(web::device::post))
        .route("/pay/{page}", get(web::pay::get).post(web::pay::post))
        .route("/dashboard", get(dashboard::overview::get))
        .route("/dashboard/deliveries", get(dashboard::deliveries::get))
        .route("/dashboard/urls", get(dashboard::urls::get))
        .route("/dashboard/keys", get(dashboard::keys::get).post(dashboard::keys::create))
        .route("/dashboard/keys/{key_id}", get(dashboard::keys::ask))
        .route("/dashboard/keys/{key_id}/rotate", post(dashboard::keys::rotate))
        .route("/dashboard/keys/{key_id}/revoke", post(dashboard::keys::revoke))
        .route("/dashboard/keys/{key_id}/cap", post(dashboard::keys::cap))
        .route("/dashboard/partner-secrets/{partner_secret_id}/revoke", post(dashboard::partner_secrets::revoke))
        .route("/dashboard/billing", get(dashboard::billing::get).post(dashboard::billing::buy))
        .route("/dashboard/billing/auto-reload", post(dashboard::auto_reload::post))
        .route("/dashboard/billing/alerts", post(dashboard::alerts::post))
        .route("/dashboard/billing/portal", post(dashboard::billing::portal))
        .route("/dashboard/statement.csv", get(dashboard::billing::statement))
        .route("/dashboard/password", get(dashboard::password::get).post(dashboard::password::post))
        .route("/dashboard/password/providers/{provider}", post(dashboard::identities::link))
        .route("/dashboard/password/providers/{provider}/unlink", post(dashboard::identities::unlink))
        .within(|pages| {
            pages
                .layer(web::visit::sessions(&app))
                .layer(from_fn_with_state(app.clone(), web::once::once))
                .layer(from_fn_with_state(app.clone(), web::pages::failures_as_pages))
        })
        .route("/assets/{name}", ruled(NO_PUBLIC_READ, get(web::assets::get)))
        .route("/api/examples", get(web::examples::get))
        .route("/images/car.png", ruled(EMBEDDED_PICTURE, get(legacy::car::get).head(legacy::car::head)))
        .route("/openapi.json", get(web::docs::document))
        .route("/llms.txt", get(web::llms::llms))
        .route("/agents.md", get(web::llms::agents))
        .route("/api/auth/device/code", limited(post(device::code::post), device::code::BODY_BYTES_MAX))
        .route("/api/auth/device/token", limited(post(device::token::post), device::token::BODY_BYTES_MAX))
        .route("/api/health", ruled(PROBE, get(health::status)))
        .route("/healthz", ruled(PROBE, get(health::live)))
        .route("/readyz", ruled(PROBE, get(health::ready)))
        .route("/api/v1/images/car", ruled(KEYED_PICTURE, get(images::car::get).head(images::car::head)))
        .merge(catalog())
        .route("/api/v1/image-urls", limited(post(image_urls::post::post), image_urls::post::BODY_BYTES_MAX))
        .route("/api/v1/delivery/{token}", ruled(SIGNED_PICTURE, get(delivery::get::get).head(delivery::get::head)))
        .route("/api/v1/account", ruled(NO_PUBLIC_READ, get(account::get::get)))
        .route("/api/v1/account/statement", ruled(NO_PUBLIC_READ, get(account::statement::get)))
        .route("/api/v1/billing/checkout", limited(post(billing::checkout::post), billing::checkout::BODY_BYTES_MAX))
        .route("/api/v1/billing/portal", post(billing::portal::post))
        .route("/api/v1/feedback", limited(post(feedback::post::post), feedback::post::BODY_BYTES_MAX))
        .route("/api/v1/events", open_to_pages(limited(post(events::post::post), events::post::BODY_BYTES_MAX)))
        .route("/api/mcp", ruled(TOOLS, limited(post(mcp::post), mcp::BODY_BYTES_MAX).layer(tools)))
        .route("/webhooks/stripe", limited(post(webhooks::stripe::post), webhooks::stripe::BODY_BYTES_MAX))
        .merge(nodes());
    let routes =
        routes.within(|public| public.layer(from_fn(sent_well)).layer(from_fn_with_state(app.clone(), public_reads)));
    let strict_transport = strict_transport(&app);
    let framed = framed(routes, app);
    match strict_transport {
        None => framed,
        Some(value) => framed.layer(map_response(move |mut response: Response| {
            response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, value.clone());
            async move { response }
        })),
    }
}

/// Routes about the catalog: which vehicles it has, and which one a request means.
fn catalog() -> Routes {
    Routes::with(USUAL)
        .route("/api/v1/images/options", get(images::options::get))
        .route("/api/v1/images/resolve", limited(post(images::resolve::post), images::resolve::BODY_BYTES_MAX))
        .route("/api/v1/vehicles", get(vehicles::get::get))
        .route("/api/v1/vehicles/check", limited(post(vehicles::check::post), vehicles::check::BODY_BYTES_MAX))
        .route("/api/v1/vehicles/vin/{vin}", get(vehicles::vin::get))
        .route("/api/v1/vehicles/{id}", get(vehicles::show::get))
}

/// Routes that render nodes call.
fn nodes() -> Routes {
    Routes::with(OF_NODES)
        .route("/node/v1/nodes", post(nodes::join::join))
        .route("/node/v1/nodes/{node_id}", delete(nodes::leave::leave))
        .route("/node/v1/nodes/{node_id}/leases", ruled(NODES_WORK, post(nodes::lease::lease)))
        .route("/node/v1/nodes/{node_id}/heartbeat", ruled(NODES_HEARTBEAT, post(nodes::heartbeat::heartbeat)))
        .route("/node/v1/jobs/{job_id}/result", limited(post(jobs::result::result), jobs::result::BODY_BYTES_MAX))
        .route("/node/v1/jobs/{job_id}/failure", post(jobs::failure::failure))
        .route("/node/v1/uploads/{secret}/{name}", ruled(NODES_UPLOAD, put(uploads::put::put)))
        .route("/node/v1/layers/{secret}", get(layers::get::get))
}

/// Returns the value of `Strict-Transport-Security` (RFC 6797) if clients
/// connect by HTTPS: browsers then use nothing else. Other hosts of the domain
/// are not ours, so they are not included.
fn strict_transport(app: &App) -> Option<HeaderValue> {
    let seconds = app.config.listen.hsts_seconds;
    let is_sent = seconds > 0 && app.base_url.starts_with("https://");
    is_sent.then(|| HeaderValue::try_from(format!("max-age={seconds}")).ok()).flatten()
}

/// Builds the router for operators, which has an address of its own. Everything under `/admin`
/// takes the operator token; `/console` takes a browser session that was opened with that token.
pub fn operator(app: App) -> Router {
    let routes = Routes::with(USUAL)
        .route("/console", get(console::page::get))
        .route("/console/events", get(console::events::get))
        .route("/console/pictures/{render_id}", get(console::pictures::get))
        .route("/console/pictures/{render_id}/candidate", get(console::pictures::candidate))
        .route("/console/renders/{render_id}/approve", post(console::review::approve))
        .route("/console/renders/{render_id}/rerender", post(console::review::rerender))
        .route("/console/renders/{render_id}/candidates", post(console::review::candidate))
        .route("/console/renders/{render_id}/candidates/{revision}/accept", post(console::review::accept))
        .route("/console/renders/{render_id}/candidates/{revision}/reject", post(console::review::reject))
        .route("/console/sign-in", get(console::session::get).post(console::session::sign_in))
        .route("/console/sign-out", post(console::session::sign_out))
        .within(|console| console.layer(from_fn_with_state(app.clone(), web::pages::failures_as_pages)))
        .route("/assets/{name}", ruled(NO_PUBLIC_READ, get(web::assets::get)))
        .route("/healthz", ruled(PROBE, get(health::live)))
        .route("/readyz", ruled(PROBE, get(health::ready)))
        .route("/metrics", ruled(PROBE, get(metrics::get)))
        .route("/admin/accounts", post(admin::accounts::create::create).get(admin::accounts::show::find))
        .route("/admin/accounts/{account_id}", get(admin::accounts::show::show))
        .route("/admin/accounts/{account_id}/grants", post(admin::accounts::grant_credits::grant))
        .route("/admin/accounts/{account_id}/purchases", post(admin::accounts::purchase::purchase))
        .route("/admin/accounts/{account_id}/statement", get(admin::accounts::statement::get))
        .route("/admin/accounts/{account_id}/keys", get(admin::accounts::keys::list))
        .route("/admin/keys", post(admin::keys::create::create))
        .route("/admin/keys/{key_id}/cap", put(admin::keys::cap::set))
        .route("/admin/keys/{key_id}/revoke", post(admin::keys::revoke::revoke))
        .route("/admin/node-tokens", post(admin::node_tokens::create::create))
        .route("/admin/node-tokens/{token_id}/revoke", post(admin::node_tokens::revoke::revoke))
        .route("/admin/partner-secrets", post(admin::partner_secrets::create::create))
        .route("/admin/partner-secrets/{partner_secret_id}/revoke", post(admin::partner_secrets::revoke::revoke))
        .route("/admin/password-links", post(admin::password_links::create::create))
        .route("/admin/signing-keys/rotate", post(admin::signing_keys::rotate::rotate))
        .route("/admin/catalog/reload", post(admin::catalog::reload::reload))
        .route("/admin/catalog/wanted", get(admin::catalog::wanted::show))
        .route("/admin/ledger/verify", get(admin::ledger::verify::verify))
        .route("/admin/nodes", get(admin::nodes::list::list))
        .route("/admin/nodes/{node_id}/drain", post(admin::nodes::order::drain))
        .route("/admin/nodes/{node_id}/lock", post(admin::nodes::order::lock))
        .route("/admin/nodes/{node_id}/resume", post(admin::nodes::order::resume))
        .route("/admin/budget", get(admin::budget::show::show).put(admin::budget::set::set))
        .route("/admin/payments/refused", get(admin::payments::refused::list))
        .route("/admin/prewarm/plan", limited(post(prewarm::plan::plan), prewarm::BODY_BYTES_MAX))
        .route("/admin/prewarm/batches", limited(post(batches::create), prewarm::BODY_BYTES_MAX).get(batches::list))
        .route("/admin/prewarm/batches/{batch_id}", get(batches::show))
        .route("/admin/prewarm/batches/{batch_id}/rows", get(prewarm::rows::list))
        .route("/admin/prewarm/batches/{batch_id}/pause", post(prewarm::order::pause))
        .route("/admin/prewarm/batches/{batch_id}/resume", post(prewarm::order::resume))
        .route("/admin/prewarm/batches/{batch_id}/cancel", post(prewarm::order::cancel))
        .route("/admin/renders", get(admin::renders::list::list))
        .route("/admin/renders/flagged", get(admin::renders::review::flagged))
        .route("/admin/renders/{render_id}", get(admin::renders::show::show))
        .route("/admin/renders/{render_id}/approve", post(admin::renders::review::approve))
        .route("/admin/renders/{render_id}/rerender", post(admin::renders::review::rerender))
        .route("/admin/renders/{render_id}/candidates", post(admin::renders::review::candidate))
        .route("/admin/renders/{render_id}/candidates/{revision}/accept", post(admin::renders::review::accept))
        .route("/admin/renders/{render_id}/candidates/{revision}/reject", post(admin::renders::review::reject))
        .within(|operator| operator.layer(from_fn_with_state(app.clone(), operator_host::check)));
    framed(routes, app)
}

/// Lets scripts of any page call a route (the Fetch standard's CORS
/// protocol). No cookie or key is involved.
fn open_to_pages(route: MethodRouter<App>) -> MethodRouter<App> {
    // The layer answers preflight requests, but only of a route that accepts the method OPTIONS.
    route
        .options(async || StatusCode::NO_CONTENT)
        .layer(CorsLayer::new().allow_origin(Any).allow_methods([Method::POST]).allow_headers([CONTENT_TYPE]))
}

pub(super) fn framed(routes: impl Into<Routes>, app: App) -> Router {
    let frame = from_fn_with_state(app.clone(), frame);
    let framed = routes.into().finish(|routes| {
        routes
            .fallback(unknown_route)
            .method_not_allowed_fallback(wrong_method)
            .layer(from_fn(window_headers))
            .layer(frame)
    });
    framed.with_state(app)
}
