//! Tests of the middleware and of access rights, through the real routers of a service with a
//! database of its own.

use super::body::{JsonBody, limited};
use super::caller::caller_of_key;
use super::error::Problem;
use super::request_id::RequestId;
use super::route_rules::{KEYED_PICTURE, Routes, USUAL, ruled};
use super::router;
use crate::accounts::api_key::{self, NewKey};
use crate::accounts::caller::{Caller, KeyWindow};
use crate::accounts::token::PlainKey;
use crate::accounts::{Scope, account, node_token};
use crate::app::App;
use crate::config::{Config, SettingsSource};
use crate::ledger::Credits;
use crate::lifecycle;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, Response, StatusCode};
use axum::routing::{get, post};
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::{Value, json};
use tower::ServiceExt;

pub(super) struct TestService {
    pub(super) app: App,
    /// Deletes the folder when dropped.
    _folder: tempfile::TempDir,
}

pub(super) async fn service() -> TestService {
    let folder = tempfile::tempdir().expect("folder");
    let settings = [
        ("CYCLORAMA_DATA_DIR".to_owned(), folder.path().display().to_string()),
        ("CYCLORAMA_NODE".to_owned(), "none".to_owned()),
        // Both listeners are called by one name here.
        ("CYCLORAMA_ADMIN_HOSTS".to_owned(), "images.test".to_owned()),
        // Nothing listens there: calls to Stripe fail.
        ("CYCLORAMA_PAYMENTS".to_owned(), "stripe".to_owned()),
        ("CYCLORAMA_STRIPE_SECRET_KEY".to_owned(), "sk_test_12345678".to_owned()),
        ("CYCLORAMA_STRIPE_WEBHOOK_SECRET".to_owned(), "whsec_12345678".to_owned()),
        ("CYCLORAMA_STRIPE_API_URL".to_owned(), "http://127.0.0.1:1".to_owned()),
    ];
    let config = Config::from_source(&SettingsSource::gather(None, settings).expect("settings")).expect("config");
    // The process has one recorder; a handle of its own keeps tests apart.
    let metrics = PrometheusBuilder::new().build_recorder().handle();
    let opened = lifecycle::open(config, "http://images.test".to_owned(), "http://127.0.0.1:1", metrics).await;
    TestService { app: opened.expect("the service opens").0, _folder: folder }
}

impl TestService {
    pub(super) async fn key(&self, scopes: &[Scope]) -> PlainKey {
        let email = format!("{}@example.com", uuid::Uuid::now_v7());
        let account_id = account::open(&self.app.db, &email, Credits(1), self.app.clock.now()).await.expect("account");
        let key = PlainKey::generate(api_key::PREFIX, &mut rand::rng());
        let new =
            NewKey { account_id: &account_id, name: "test", scopes, rate_limit_per_minute: None, monthly_cap: None };
        let mut tx = self.app.db.begin().await.expect("begin");
        api_key::create(&mut tx, new, &key, self.app.clock.now()).await.expect("key");
        tx.commit().await.expect("commit");
        key
    }
}

pub(super) async fn send(router: Router, request: Request<Body>) -> (Response<()>, Value) {
    let (parts, body) = router.oneshot(request).await.expect("infallible").into_parts();
    let bytes = axum::body::to_bytes(body, 1 << 20).await.expect("body");
    (Response::from_parts(parts, ()), serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

pub(super) fn visit(method: &str, path: &str) -> axum::http::request::Builder {
    Request::builder().method(method).uri(path).header("host", "images.test")
}

pub(super) fn empty(builder: axum::http::request::Builder) -> Request<Body> {
    builder.body(Body::empty()).expect("request")
}

/// Asserts that the answer is a problem document with this status and code, whose `request_id` is
/// that of the header.
fn assert_problem(answer: &(Response<()>, Value), status: u16, code: &str) {
    let (response, document) = answer;
    assert_eq!(response.status().as_u16(), status, "{document}");
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    assert_eq!(document["type"], format!("http://images.test/docs/errors#{status}"));
    assert_eq!(document["status"], status);
    assert_eq!(document["code"], code);
    assert!(document["title"].is_string() && document["detail"].is_string(), "{document}");
    assert_eq!(response.headers()["x-request-id"].to_str().expect("ascii"), document["request_id"]);
    assert_eq!(response.headers()["x-content-type-options"], "nosniff");
}

#[tokio::test]
async fn every_failure_is_a_problem_document() {
    async fn panics() -> StatusCode {
        panic!("a defect")
    }
    async fn takes_json(JsonBody(body): JsonBody<Value>) -> axum::Json<Value> {
        axum::Json(body)
    }
    async fn is_indexed() -> Problem {
        Problem::bad_parameter("year", "year: 1990 to 2027.").with("index", 3)
    }
    let service = service().await;
    let routes = Router::new()
        .route("/panics", get(panics))
        .route("/json", limited(post(takes_json), 10))
        .route("/indexed", get(is_indexed))
        .route("/file/{name}", get(|axum::extract::Path(name): axum::extract::Path<String>| async move { name }));
    let router = router::framed(routes, service.app.clone());

    assert_problem(&send(router.clone(), empty(visit("GET", "/panics"))).await, 500, "internal");
    assert_problem(&send(router.clone(), empty(visit("GET", "/nothing"))).await, 404, "unknown_route");
    let wrong_method = send(router.clone(), empty(visit("PUT", "/panics"))).await;
    assert_problem(&wrong_method, 405, "method_not_allowed");
    assert_eq!(wrong_method.0.headers()["allow"], "GET,HEAD");
    let no_text = send(router.clone(), empty(visit("GET", "/file/%ff"))).await;
    assert_problem(&no_text, 400, "invalid_parameter");
    assert_eq!(no_text.1["parameter"], "name");
    let indexed = send(router.clone(), empty(visit("GET", "/indexed"))).await;
    assert_problem(&indexed, 400, "invalid_parameter");
    assert_eq!((&indexed.1["parameter"], &indexed.1["index"]), (&json!("year"), &json!(3)));

    let too_large = visit("POST", "/json").body(Body::from("[1,2,3,4,5,6]")).expect("request");
    let too_large = send(router.clone(), too_large).await;
    assert_problem(&too_large, 413, "body_too_large");
    assert_eq!(too_large.1["limit_bytes"], 10);
    let broken = visit("POST", "/json").body(Body::from("[1,")).expect("request");
    assert_problem(&send(router.clone(), broken).await, 400, "invalid_json");
    let fits = visit("POST", "/json").body(Body::from(r#"{"a":[1]}"#)).expect("request");
    assert_eq!(send(router, fits).await.1, json!({ "a": [1] }));
}

#[tokio::test]
async fn keys_open_by_either_header_and_only_with_the_scope() {
    async fn who(State(_): State<App>, caller: Caller) -> Result<axum::Json<Value>, Problem> {
        caller.require(Scope::AccountRead)?;
        Ok(axum::Json(json!({ "limit": caller.rate_limit_per_minute })))
    }
    let service = service().await;
    let router = router::framed(Router::new().route("/who", get(who)), service.app.clone());
    let reader = service.key(&[Scope::AccountRead]).await;
    let buyer = service.key(&[Scope::ImagesRead, Scope::BillingWrite]).await;
    let stranger = PlainKey::generate(api_key::PREFIX, &mut rand::rng());
    let node = PlainKey::generate(node_token::PREFIX, &mut rand::rng());

    for (header, value, status) in [
        ("authorization", format!("Bearer {}", reader.reveal()), 200),
        ("authorization", format!("bearer  {}", reader.reveal()), 200),
        ("x-api-key", reader.reveal().to_owned(), 200),
        ("authorization", format!("Basic {}", reader.reveal()), 401),
        ("authorization", format!("Bearer {}", buyer.reveal()), 403),
        ("authorization", format!("Bearer {}", stranger.reveal()), 401),
        ("authorization", format!("Bearer {}", node.reveal()), 401),
        ("x-api-key", "cyc_short".to_owned(), 401),
        ("x-api-key", String::new(), 401),
        ("x-other", reader.reveal().to_owned(), 401),
    ] {
        let answer = send(router.clone(), empty(visit("GET", "/who").header(header, &value))).await;
        assert_eq!(answer.0.status().as_u16(), status, "{header}");
        match status {
            200 => assert_eq!(answer.1["limit"], 120),
            401 => {
                assert_problem(&answer, 401, "unauthorized");
                assert_eq!(answer.0.headers()["www-authenticate"], "Bearer");
            }
            _ => {
                assert_problem(&answer, 403, "missing_scope");
                assert!(answer.1["detail"].as_str().expect("detail").contains("account:read"));
            }
        }
        assert!(!answer.1.to_string().contains("cyc_"), "no answer repeats a key");
    }
}

#[tokio::test]
async fn request_ids_are_the_clients_on_its_own_route_only() {
    async fn id(id: RequestId) -> String {
        id.0
    }
    let service = service().await;
    let routes =
        Routes::with(USUAL).route("/api/v1/images/car", ruled(KEYED_PICTURE, get(id))).route("/other", get(id));
    let router = router::framed(routes, service.app.clone());
    for (path, given, kept) in [
        ("/api/v1/images/car", "order-7:a", true),
        ("/api/v1/images/car", "not valid", false),
        ("/other", "order-7:a", false),
    ] {
        let request = empty(visit("GET", path).header("x-request-id", given));
        let answered = send(router.clone(), request).await.0.headers()["x-request-id"].clone();
        let answered = answered.to_str().expect("ascii");
        assert_eq!(answered == given, kept, "{path} {given}");
        assert!(kept || uuid::Uuid::parse_str(answered).is_ok_and(|id| id.get_version_num() == 7), "{answered}");
    }
}

#[tokio::test]
async fn the_operator_address_takes_the_operators_token_and_nothing_else() {
    let service = service().await;
    let router = router::operator(service.app.clone());
    let key = service.key(&Scope::ALL).await;
    let admin_routes = [
        ("POST", "/admin/accounts"),
        ("GET", "/admin/accounts/x"),
        ("POST", "/admin/accounts/x/grants"),
        ("POST", "/admin/keys"),
        ("POST", "/admin/keys/x/revoke"),
        ("POST", "/admin/node-tokens"),
        ("POST", "/admin/node-tokens/x/revoke"),
        ("GET", "/admin/nodes"),
        ("POST", "/admin/nodes/x/drain"),
        ("POST", "/admin/nodes/x/lock"),
        ("POST", "/admin/nodes/x/resume"),
        ("GET", "/admin/budget"),
        ("PUT", "/admin/budget"),
        ("GET", "/admin/renders/x"),
    ];
    for (method, path) in admin_routes {
        assert_problem(&send(router.clone(), empty(visit(method, path))).await, 401, "unauthorized");
        let with_key = visit(method, path).header("authorization", format!("Bearer {}", key.reveal()));
        assert_problem(&send(router.clone(), empty(with_key)).await, 401, "unauthorized");
        let on_public = send(router::public(service.app.clone()), empty(visit(method, path))).await;
        assert_problem(&on_public, 404, "unknown_route");
    }
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(send(router.clone(), empty(visit("GET", path))).await.0.status(), StatusCode::OK, "{path}");
    }

    let budget = visit("PUT", "/admin/budget")
        .header("authorization", format!("Bearer {}", service.app.operator_token.reveal()))
        .body(Body::from(r#"{"usd_per_day": 0}"#));
    let (response, document) = send(router, budget.expect("request")).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(document["usd_per_day"], 0.0);
}

#[tokio::test]
async fn a_stopping_service_turns_requests_away_but_not_nodes() {
    let service = service().await;
    let token = PlainKey::generate(node_token::PREFIX, &mut rand::rng());
    let mut tx = service.app.db.begin().await.expect("begin");
    node_token::create(&mut tx, "n", &token, service.app.clock.now()).await.expect("token");
    tx.commit().await.expect("commit");
    service.app.unready.cancel();
    service.app.stopping.cancel();
    let router = router::public(service.app.clone());
    assert_problem(&send(router.clone(), empty(visit("GET", "/nothing"))).await, 503, "shutting_down");
    assert_problem(&send(router.clone(), empty(visit("GET", "/readyz"))).await, 503, "shutting_down");
    assert_eq!(send(router.clone(), empty(visit("GET", "/healthz"))).await.0.status(), StatusCode::OK);
    let left = visit("DELETE", "/node/v1/nodes/x").header("authorization", format!("Bearer {}", token.reveal()));
    assert_problem(&send(router, empty(left)).await, 404, "unknown_node");
    service.app.in_flight.drained().await;
}

#[tokio::test]
async fn addresses_that_nobody_was_told_are_given_back() {
    use crate::delivery::urls::{Terms, UrlOrder};
    use crate::delivery::{ImageRequest, Order};
    use crate::ledger::balance;
    use std::task::Poll;
    let service = service().await;
    let app = &service.app;
    let key = service.key(&[Scope::ImagesRead]).await;
    let caller = caller_of_key(app, key.reveal(), &KeyWindow::default()).await.expect("a caller");
    let request = ImageRequest::parse_query("make=ford&model=mustang&year=2020").expect("reads");
    let order = Order::find(&app.catalog.now(), &app.missing_vehicles, &request).expect("is in the catalog");
    let (orders, terms) = (std::slice::from_ref(&order), Terms::usual(&app.config.delivery));
    let wish = UrlOrder { request_id: "request", orders, terms };
    let unpaid = app.mint.sign(&caller, wish).await.expect("signs");
    let mut paying = Box::pin(app.mint.pay(&caller, unpaid, None));
    // The charge is under way when the client leaves.
    std::future::poll_fn(|context| {
        assert!(paying.as_mut().poll(context).is_pending());
        Poll::Ready(())
    })
    .await;
    drop(paying);
    let refunded = async || {
        let row = sqlx::query("select count(*) from delivery_urls where state = 'consumed'");
        let row = row.fetch_one(&app.db.readers).await.expect("counts");
        sqlx::Row::try_get::<i64, _>(&row, 0).expect("a number") == 1
    };
    for _ in 0..500 {
        if refunded().await {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert!(refunded().await);
    assert_eq!(balance(&app.db.readers, &caller.account_id).await.expect("reads"), Credits(1));
    // A client that stays gets the URLs and pays.
    let unpaid = app.mint.sign(&caller, wish).await.expect("signs");
    assert_eq!(app.mint.pay(&caller, unpaid, None).await.expect("pays"), Credits(0));
}
