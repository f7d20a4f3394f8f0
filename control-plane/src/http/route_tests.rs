//! Tests that every route has its line in the table of access rights, is called here with and
//! without those rights, and is in the OpenAPI document if it is part of the client API. A route
//! that is added to the router and forgotten elsewhere fails these tests.

use super::openapi;
use super::router;
use super::tests::{empty, send, service, visit};
use crate::accounts::Scope;
use axum::extract::ConnectInfo;
use std::collections::BTreeSet;
use std::net::SocketAddr;

/// The callers that a route accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Anyone,
    /// A key with the scope.
    Key(Scope),
    /// Any key; the tools behind the route check scopes.
    AnyKey,
    /// Grants of several kinds, a key among them.
    Grants,
    Node,
    /// The secret in the URL.
    Secret,
    /// A signed-in user; everybody else is redirected to sign in.
    Session,
    /// A form of our own pages.
    Form,
    Operator,
    /// Stripe, which signs its events.
    SignedByStripe,
}

use Access::{AnyKey, Anyone, Form, Grants, Key, Node, Operator, Secret, Session, SignedByStripe};

const PUBLIC: &[(&str, &str, Access)] = &[
    ("GET", "/", Anyone),
    ("GET", "/pricing", Anyone),
    ("GET", "/playground", Anyone),
    ("GET", "/playground/list", Anyone),
    ("POST", "/playground/list", Form),
    ("GET", "/status", Anyone),
    ("GET", "/docs", Anyone),
    ("GET", "/docs/quick-start", Anyone),
    ("GET", "/docs/errors", Anyone),
    ("GET", "/openapi.json", Anyone),
    ("GET", "/llms.txt", Anyone),
    ("GET", "/agents.md", Anyone),
    ("GET", "/assets/{name}", Anyone),
    ("GET", "/api/examples", Anyone),
    ("GET", "/sign-up", Anyone),
    ("POST", "/sign-up", Form),
    ("GET", "/sign-in", Anyone),
    ("POST", "/sign-in", Form),
    ("GET", "/sign-in/{provider}", Secret),
    ("GET", "/sign-in/{provider}/callback", Secret),
    ("HEAD", "/sign-in/{provider}/callback", Anyone),
    // Somebody who is signed out already has nothing to confirm.
    ("POST", "/sign-out", Session),
    ("GET", "/confirm/{link}", Secret),
    ("POST", "/confirm/{link}", Form),
    ("GET", "/forgot-password", Anyone),
    ("POST", "/forgot-password", Form),
    ("GET", "/reset-password/{link}", Secret),
    ("POST", "/reset-password/{link}", Form),
    ("GET", "/device", Anyone),
    ("POST", "/device", Session),
    ("GET", "/pay/{page}", Secret),
    ("POST", "/pay/{page}", Form),
    ("GET", "/dashboard", Session),
    ("GET", "/dashboard/deliveries", Session),
    ("GET", "/dashboard/urls", Session),
    ("GET", "/dashboard/keys", Session),
    ("POST", "/dashboard/keys", Session),
    ("GET", "/dashboard/keys/{key_id}", Session),
    ("POST", "/dashboard/keys/{key_id}/rotate", Session),
    ("POST", "/dashboard/keys/{key_id}/revoke", Session),
    ("POST", "/dashboard/keys/{key_id}/cap", Session),
    ("POST", "/dashboard/partner-secrets/{partner_secret_id}/revoke", Session),
    ("GET", "/dashboard/billing", Session),
    ("POST", "/dashboard/billing", Session),
    ("POST", "/dashboard/billing/auto-reload", Session),
    ("POST", "/dashboard/billing/alerts", Session),
    ("POST", "/dashboard/billing/portal", Session),
    ("GET", "/dashboard/statement.csv", Session),
    ("GET", "/dashboard/password", Session),
    ("POST", "/dashboard/password", Session),
    ("POST", "/dashboard/password/providers/{provider}", Session),
    ("POST", "/dashboard/password/providers/{provider}/unlink", Session),
    ("POST", "/api/v1/billing/checkout", Key(Scope::BillingWrite)),
    ("POST", "/api/v1/billing/portal", Key(Scope::BillingWrite)),
    ("POST", "/api/auth/device/code", Anyone),
    ("POST", "/api/auth/device/token", Anyone),
    ("GET", "/images/car.png", Grants),
    ("HEAD", "/images/car.png", Grants),
    ("GET", "/api/health", Anyone),
    ("GET", "/healthz", Anyone),
    ("GET", "/readyz", Anyone),
    ("GET", "/api/v1/images/car", Key(Scope::ImagesRead)),
    ("HEAD", "/api/v1/images/car", Key(Scope::ImagesRead)),
    ("GET", "/api/v1/images/options", Anyone),
    ("POST", "/api/v1/images/resolve", Key(Scope::AccountRead)),
    ("POST", "/api/v1/vehicles/check", Key(Scope::AccountRead)),
    ("GET", "/api/v1/vehicles", Anyone),
    ("GET", "/api/v1/vehicles/vin/{vin}", Anyone),
    ("GET", "/api/v1/vehicles/{id}", Anyone),
    ("POST", "/api/v1/image-urls", Key(Scope::ImagesRead)),
    ("GET", "/api/v1/delivery/{token}", Secret),
    ("HEAD", "/api/v1/delivery/{token}", Secret),
    ("GET", "/api/v1/account", Key(Scope::AccountRead)),
    ("GET", "/api/v1/account/statement", Key(Scope::AccountRead)),
    ("POST", "/api/v1/feedback", Key(Scope::AccountRead)),
    ("POST", "/api/v1/events", Anyone),
    ("POST", "/api/mcp", AnyKey),
    ("POST", "/webhooks/stripe", SignedByStripe),
    ("POST", "/node/v1/nodes", Node),
    ("DELETE", "/node/v1/nodes/{node_id}", Node),
    ("POST", "/node/v1/nodes/{node_id}/leases", Node),
    ("POST", "/node/v1/nodes/{node_id}/heartbeat", Node),
    ("POST", "/node/v1/jobs/{job_id}/result", Node),
    ("POST", "/node/v1/jobs/{job_id}/failure", Node),
    ("PUT", "/node/v1/uploads/{secret}/{name}", Secret),
    ("GET", "/node/v1/layers/{secret}", Secret),
];

const OPERATOR: &[(&str, &str, Access)] = &[
    ("GET", "/console", Session),
    ("GET", "/console/events", Session),
    ("GET", "/console/pictures/{render_id}", Session),
    ("GET", "/console/pictures/{render_id}/candidate", Session),
    ("POST", "/console/renders/{render_id}/approve", Session),
    ("POST", "/console/renders/{render_id}/rerender", Session),
    ("POST", "/console/renders/{render_id}/candidates", Session),
    ("POST", "/console/renders/{render_id}/candidates/{revision}/accept", Session),
    ("POST", "/console/renders/{render_id}/candidates/{revision}/reject", Session),
    ("GET", "/console/sign-in", Anyone),
    ("POST", "/console/sign-in", Form),
    ("POST", "/console/sign-out", Session),
    ("GET", "/assets/{name}", Anyone),
    ("GET", "/healthz", Anyone),
    ("GET", "/readyz", Anyone),
    ("GET", "/metrics", Anyone),
    ("POST", "/admin/accounts", Operator),
    ("GET", "/admin/accounts", Operator),
    ("GET", "/admin/accounts/{account_id}/keys", Operator),
    ("GET", "/admin/accounts/{account_id}", Operator),
    ("POST", "/admin/accounts/{account_id}/grants", Operator),
    ("POST", "/admin/accounts/{account_id}/purchases", Operator),
    ("GET", "/admin/accounts/{account_id}/statement", Operator),
    ("POST", "/admin/keys", Operator),
    ("PUT", "/admin/keys/{key_id}/cap", Operator),
    ("POST", "/admin/keys/{key_id}/revoke", Operator),
    ("POST", "/admin/node-tokens", Operator),
    ("POST", "/admin/node-tokens/{token_id}/revoke", Operator),
    ("POST", "/admin/partner-secrets", Operator),
    ("POST", "/admin/partner-secrets/{partner_secret_id}/revoke", Operator),
    ("POST", "/admin/password-links", Operator),
    ("POST", "/admin/signing-keys/rotate", Operator),
    ("POST", "/admin/catalog/reload", Operator),
    ("GET", "/admin/catalog/wanted", Operator),
    ("GET", "/admin/ledger/verify", Operator),
    ("GET", "/admin/nodes", Operator),
    ("POST", "/admin/nodes/{node_id}/drain", Operator),
    ("POST", "/admin/nodes/{node_id}/lock", Operator),
    ("POST", "/admin/nodes/{node_id}/resume", Operator),
    ("GET", "/admin/budget", Operator),
    ("PUT", "/admin/budget", Operator),
    ("GET", "/admin/payments/refused", Operator),
    ("POST", "/admin/prewarm/plan", Operator),
    ("POST", "/admin/prewarm/batches", Operator),
    ("GET", "/admin/prewarm/batches", Operator),
    ("GET", "/admin/prewarm/batches/{batch_id}", Operator),
    ("GET", "/admin/prewarm/batches/{batch_id}/rows", Operator),
    ("POST", "/admin/prewarm/batches/{batch_id}/pause", Operator),
    ("POST", "/admin/prewarm/batches/{batch_id}/resume", Operator),
    ("POST", "/admin/prewarm/batches/{batch_id}/cancel", Operator),
    ("GET", "/admin/renders", Operator),
    ("GET", "/admin/renders/flagged", Operator),
    ("GET", "/admin/renders/{render_id}", Operator),
    ("POST", "/admin/renders/{render_id}/approve", Operator),
    ("POST", "/admin/renders/{render_id}/rerender", Operator),
    ("POST", "/admin/renders/{render_id}/candidates", Operator),
    ("POST", "/admin/renders/{render_id}/candidates/{revision}/accept", Operator),
    ("POST", "/admin/renders/{render_id}/candidates/{revision}/reject", Operator),
];

/// Returns method and path of every route that a function of the router's source adds, directly or
/// through another function that it merges.
fn routes_of(function: &str) -> BTreeSet<(String, String)> {
    let source = include_str!("router.rs");
    let body =
        source.split_once(&format!("fn {function}(")).and_then(|(_, rest)| rest.split_once("\n}")).expect(function).0;
    let merged = body.split(".merge(").skip(1).filter_map(|merge| merge.split_once("()"));
    let mut routes: BTreeSet<_> = merged.flat_map(|(function, _)| routes_of(function)).collect();
    for route in body.split(".route(").skip(1) {
        let (path, methods) = route.split_once("\", ").expect(route);
        let path = path.trim().trim_start_matches('"');
        for (call, method) in
            [("get(", "GET"), ("post(", "POST"), ("put(", "PUT"), ("delete(", "DELETE"), ("head(", "HEAD")]
        {
            let added =
                methods.match_indices(call).any(|(at, _)| methods[..at].ends_with(['(', ' ', '.', '\n']) || at == 0);
            if added {
                routes.insert((method.to_owned(), path.to_owned()));
            }
        }
    }
    routes
}

fn named(table: &[(&str, &str, Access)]) -> BTreeSet<(String, String)> {
    table.iter().map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned())).collect()
}

#[test]
fn every_route_is_in_the_table() {
    for (router, table) in [("public", PUBLIC), ("operator", OPERATOR)] {
        let (routes, named) = (routes_of(router), named(table));
        let missing: Vec<_> = routes.difference(&named).collect();
        let gone: Vec<_> = named.difference(&routes).collect();
        assert!(
            missing.is_empty() && gone.is_empty(),
            "{router} router: without a line in the table {missing:?}, without a route {gone:?}"
        );
    }
}

#[test]
fn the_client_api_is_documented_to_the_last_route() {
    let document = openapi::document("http://images.test", &[]);
    assert_eq!(
        (document["info"]["version"].as_str(), document["openapi"].as_str().map(|v| &v[..4])),
        (Some("2.0.0"), Some("3.1."))
    );
    let mut documented = BTreeSet::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("item") {
            documented.insert((method.to_uppercase(), path.clone()));
            for (status, answer) in operation["responses"].as_object().expect("responses") {
                assert!(answer["headers"]["X-Request-Id"].is_object(), "{method} {path} {status}");
                assert!(
                    answer["description"].as_str().is_some_and(|text| !text.is_empty()),
                    "{method} {path} {status}"
                );
                let is_problem = answer["content"]["application/problem+json"].is_object();
                // Errors of the device login have the form of its own protocol (RFC 8628).
                let is_device_error = path == "/api/auth/device/token" && ["400", "429"].contains(&status.as_str());
                assert_eq!(is_problem, status.as_str() >= "400" && !is_device_error, "{method} {path} {status}");
            }
        }
    }
    let is_client_api = |path: &str| {
        ["/api/v1/", "/api/auth/"].iter().any(|start| path.starts_with(start))
            || ["/images/car.png", "/api/health"].contains(&path)
    };
    let expected: BTreeSet<_> = named(PUBLIC).into_iter().filter(|(_, path)| is_client_api(path)).collect();
    assert_eq!(documented, expected);
    for (method, path, access) in PUBLIC.iter().filter(|(_, path, _)| is_client_api(path)) {
        let security = document["paths"][path][method.to_lowercase()]["security"].to_string();
        let expected = match access {
            Key(scope) => format!("[{{\"bearer\":[\"{scope}\"]}},{{\"apiKey\":[\"{scope}\"]}}]"),
            Grants => "[{},{\"bearer\":[\"images:read\"]},{\"apiKey\":[\"images:read\"]}]".to_owned(),
            _ => "[{}]".to_owned(),
        };
        assert_eq!(security, expected, "{method} {path}");
    }
}

#[tokio::test]
async fn nobody_is_let_in_who_is_not_in_the_table() {
    let service = service().await;
    let scopeless = |scope: Scope| Scope::ALL.into_iter().filter(move |other| *other != scope).collect::<Vec<_>>();
    let all = service.key(&Scope::ALL).await;
    let tables = [(router::public(service.app.clone()), PUBLIC), (router::operator(service.app.clone()), OPERATOR)];
    for (router, table) in tables {
        for (method, path, access) in table {
            let path = path.replace("{token}", "x").replace(['{', '}'], "");
            let call = |key: Option<&str>| {
                let request = visit(method, &path);
                let request = match key {
                    Some(key) => request.header("authorization", format!("Bearer {key}")),
                    None => request,
                };
                let mut request = empty(request);
                request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([203, 0, 113, 9], 1))));
                send(router.clone(), request)
            };
            let without = call(None).await.0.status().as_u16();
            match access {
                Anyone => assert!(without != 401 && without != 403, "{method} {path}: {without}"),
                // A query that names no image is refused before any grant is checked.
                Grants => assert_eq!(without, 400, "{method} {path}"),
                Session => assert_eq!(without, 303, "{method} {path}"),
                Form => assert_eq!(without, 403, "{method} {path}"),
                SignedByStripe => assert_eq!(without, 400, "{method} {path}"),
                Secret => assert!([403, 404].contains(&without), "{method} {path}: {without}"),
                Key(scope) => {
                    assert_eq!(without, 401, "{method} {path}");
                    let others = service.key(&scopeless(*scope)).await;
                    assert_eq!(call(Some(others.reveal())).await.0.status().as_u16(), 403, "{method} {path}");
                    let fits = call(Some(all.reveal())).await.0.status().as_u16();
                    assert!(fits != 401 && fits != 403, "{method} {path}: {fits}");
                }
                AnyKey => {
                    assert_eq!(without, 401, "{method} {path}");
                    let scopeless = service.key(&[]).await;
                    let fits = call(Some(scopeless.reveal())).await.0.status().as_u16();
                    assert!(fits != 401 && fits != 403, "{method} {path}: {fits}");
                }
                Node | Operator => {
                    assert_eq!(without, 401, "{method} {path}");
                    assert_eq!(call(Some(all.reveal())).await.0.status().as_u16(), 401, "{method} {path}");
                }
            }
        }
    }
}
