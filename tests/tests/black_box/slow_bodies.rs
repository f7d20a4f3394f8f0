//! Request bodies that come slowly, or are not read, and renders that take long: a request that
//! waits for them holds nothing that other clients need.

use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, FakeStripe, Options, Service};
use futures::future::join_all;
use serde_json::Value;
use sqlx::AnyConnection;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";
const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;
const THERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const PROXY: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// Sends text on a new connection from an address of this machine.
async fn send(service: &Service, from: Ipv4Addr, text: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    let address = service.base_url.strip_prefix("http://").unwrap().parse().unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

/// The head of a request with a body of this many bytes.
fn head(path: &str, kind: &str, bytes: usize) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {bytes}\r\n\r\n")
}

/// A request for an image that nobody has rendered yet.
async fn car(service: &Service, from: Ipv4Addr, customer: &Customer, year: usize) -> TcpStream {
    let head = format!(
        "GET /api/v1/images/car?make=honda&model=civic&year={year} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\r\n",
        customer.key
    );
    send(service, from, &head).await
}

/// Waits until `expected` requests have got as far as their renders.
async fn until_held(service: &Service, customer: &Customer, expected: i64) {
    let mut shown = Value::Null;
    for _ in 0..200 {
        shown = service.operator(&["account", "show", &customer.account_id]).unwrap();
        if shown["held"].as_i64() >= Some(expected) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(shown["held"], expected, "{shown}");
}

/// Locks the service's database, so that it answers nothing until this is dropped, and sends
/// requests of two networks that take all sixteen permits.
async fn take_all_turns(service: &Service) -> (AnyConnection, Vec<TcpStream>) {
    let customers: Vec<_> = (0..16).map(|_| service.customer(1).unwrap()).collect();
    let mut database = service.database().await.unwrap();
    for statement in ["begin", "lock table api_keys in access exclusive mode"] {
        sqlx::query(statement).execute(&mut database).await.unwrap();
    }
    let mut held = Vec::new();
    for (number, customer) in customers.iter().enumerate() {
        let key = &customer.key;
        let head = format!("GET /api/v1/account HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n");
        held.push(send(service, if number < 8 { HERE } else { THERE }, &head).await);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    (database, held)
}

/// Reads everything until the service closes the connection.
async fn to_the_end(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let read = stream.read_to_end(&mut text);
    let _ = tokio::time::timeout(Duration::from_secs(20), read).await.expect("is closed");
    String::from_utf8_lossy(&text).into_owned()
}

/// The answer to one of our requests whose connection stays open: its head, in lower case, without
/// its body.
async fn answer(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let read = async {
        while !text.ends_with(b"\r\n\r\n") {
            text.push(stream.read_u8().await.expect("an answer"));
        }
    };
    tokio::time::timeout(Duration::from_secs(40), read).await.expect("an answer in time");
    let head = String::from_utf8(text).unwrap().to_ascii_lowercase();
    let bytes = head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()).unwrap();
    let mut body = vec![0; bytes.parse().unwrap()];
    stream.read_exact(&mut body).await.unwrap();
    head
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_comes_slowly_takes_no_turn() {
    let stripe = FakeStripe::start().await.unwrap();
    let options = stripe.options().set("CYCLORAMA_CONNECTIONS_MAX", 16);
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    for (path, kind, is_read_first) in [
        ("/sign-in", FORM, true),
        ("/forgot-password", FORM, true),
        ("/sign-up", FORM, true),
        ("/webhooks/stripe", JSON, true),
        ("/dashboard/keys", FORM, true),
        ("/api/v1/events", JSON, false),
        ("/api/auth/device/token", JSON, false),
    ] {
        let begun = head(path, kind, 20) + "x";
        let mut held = Vec::new();
        for _ in 0..200 {
            held.push(send(&service, HERE, &begun).await);
        }
        for round in 0..10 {
            // One more byte of each, so that none of them is idle.
            for stream in &mut held {
                let _ = stream.write_all(b"x").await;
            }
            for good in ["/api/v1/images/options", "/readyz", "/healthz", "/docs/errors"] {
                let visit = format!("GET {good} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
                let answered = answer(&mut send(&service, HERE, &visit).await).await;
                assert!(answered.starts_with("http/1.1 200"), "{good}, round {round} of {path}: {answered}");
            }
        }
        if !is_read_first {
            // Counted before their bodies are read; that many at once do not all get as far.
            continue;
        }
        // The first ones have made room, and got an error if their requests had begun. The last one
        // is still waited for.
        let mut last = held.pop().unwrap();
        held.truncate(20);
        let first = join_all(held.iter_mut().map(to_the_end)).await;
        assert!(first.iter().any(|told| told.contains("timed_out")), "{path}: {first:?}");
        assert!(first.iter().all(|told| told.is_empty() || told.starts_with("HTTP/1.1 408")), "{path}: {first:?}");
        last.write_all(&[b'x'; 9]).await.unwrap();
        let answered = answer(&mut last).await;
        assert!(["http/1.1 4", "http/1.1 303"].iter().any(|start| answered.starts_with(start)), "{path}: {answered}");
        assert!(!answered.starts_with("http/1.1 408"), "{path}: {answered}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_wait_for_a_render_take_no_turn() {
    let options = Options::default().set("CYCLORAMA_CONNECTIONS_MAX", 16).set("CYCLORAMA_TRUSTED_PROXIES", "127.0.0.3");
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    let customer = service.customer(100).unwrap();
    let address = service
        .http
        .post(format!("{}/api/v1/image-urls", service.base_url))
        .bearer_auth(&customer.key)
        .json(&serde_json::json!({ "make": "honda", "model": "civic", "year": 2019 }))
        .send()
        .await
        .unwrap();
    let address: Value = address.json().await.unwrap();
    let address = address["data"][0]["url"].as_str().unwrap_or_else(|| panic!("{address}"));
    let load = address.split_once("/api/v1/delivery/").unwrap().1;
    let load = format!("GET /api/v1/delivery/{load} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n");
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_car_image","arguments":{"make":"honda","model":"civic","year":2019}}}"#;
    let call = format!(
        "POST /api/mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nAccept: application/json, text/event-stream\r\nContent-Type: {JSON}\r\nContent-Length: {}\r\n\r\n{call}",
        customer.key,
        call.len()
    );
    // There is no node. Images for a key, by two networks; loads of one URL by a client of a proxy;
    // tools.
    let mut held = Vec::new();
    for number in 0..20 {
        held.push(car(&service, if number < 10 { HERE } else { THERE }, &customer, 2000 + number % 20).await);
        held.push(send(&service, PROXY, &load).await);
    }
    let mut calls = Vec::new();
    for _ in 0..10 {
        calls.push(send(&service, THERE, &call).await);
    }
    until_held(&service, &customer, 30).await;
    for from in [HERE, THERE, PROXY] {
        let mut other = send(&service, from, "GET /docs/errors HTTP/1.1\r\nHost: x\r\n\r\n").await;
        let answered = answer(&mut other).await;
        assert!(answered.starts_with("http/1.1 200"), "{from}: {answered}");
    }
    let _node = FakeNode::join(&service, Behaviour::Deliver).await.expect("a node finds a turn");
    for stream in &mut held {
        let answered = answer(stream).await;
        assert!(answered.starts_with("http/1.1 200"), "{answered}");
    }
    for stream in &mut calls {
        let mut start = [0; 12];
        stream.read_exact(&mut start).await.unwrap();
        assert_eq!(&start, b"HTTP/1.1 200");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_service_is_not_the_slowness_of_a_client() {
    let options = Options::default().set("CYCLORAMA_CONNECTIONS_MAX", 16).set("CYCLORAMA_CLIENT_TIMEOUT_SECONDS", 20);
    let service = Service::start_with(DatabaseChoice::Postgres, options).await.unwrap();
    let body = r#"{"events":[{"event":"page_view"}]}"#;
    let mut waiting = send(&service, HERE, &(head("/api/v1/events", JSON, body.len()) + &body[..9])).await;
    let _held = take_all_turns(&service).await;
    // The whole body comes before its time is over, but there is no permit until after that.
    waiting.write_all(&body.as_bytes()[9..]).await.unwrap();
    let refused = answer(&mut waiting).await;
    assert!(refused.starts_with("http/1.1 503") && refused.contains("retry-after: 1"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_that_takes_places_loses_its_own() {
    let options = Options::default().set("CYCLORAMA_CONNECTIONS_MAX", 16);
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    let customer = service.customer(100).unwrap();
    // These wait for a render.
    for waiting in [0, 70] {
        let body = r#"{"events":[{"event":"page_view"}]}"#;
        let mut slow = send(&service, THERE, &(head("/api/v1/events", JSON, body.len()) + &body[..9])).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let mut held = Vec::new();
        for number in 0..waiting {
            held.push(car(&service, HERE, &customer, 2000 + number % 20).await);
        }
        for _ in 0..200 {
            held.push(send(&service, HERE, "").await);
        }
        slow.write_all(&body.as_bytes()[9..]).await.expect("is still there");
        let answered = answer(&mut slow).await;
        assert!(answered.starts_with("http/1.1 2") || answered.starts_with("http/1.1 4"), "{waiting}: {answered}");
        assert!(!answered.starts_with("http/1.1 408"), "{waiting}: {answered}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_all_wait_for_renders_those_that_lose_their_place_are_told() {
    let options = Options::default().set("CYCLORAMA_CONNECTIONS_MAX", 16);
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    let customer = service.customer(200).unwrap();
    let mut held = Vec::new();
    for number in 0..115 {
        held.push(car(&service, HERE, &customer, 2000 + number % 20).await);
    }
    let mut refused = 0;
    for stream in &mut held {
        let mut text = String::new();
        let closed = tokio::time::timeout(Duration::from_millis(100), stream.read_to_string(&mut text)).await;
        if closed.is_ok() {
            assert!(text.starts_with("HTTP/1.1 503") && text.contains("at_capacity"), "{text}");
            refused += 1;
        }
    }
    assert!((1..60).contains(&refused), "{refused} of 115");
    // They cost nothing.
    until_held(&service, &customer, 115 - refused).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_before_the_body_was_read_leaves_the_connection_of_use_or_says_that_it_closes() {
    let service = Service::start(DatabaseChoice::Sqlite).await.unwrap();
    let next = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    for path in ["/api/v1/image-urls", "/api/mcp", "/healthz", "/api/v1/nowhere", "/node/v1/nodes"] {
        // A small body that comes behind its head is read to its end.
        let mut stream = send(&service, HERE, &(head(path, JSON, 4) + "ab")).await;
        stream.write_all(b"cd").await.unwrap();
        let refused = answer(&mut stream).await;
        assert!(refused.starts_with("http/1.1 40") && !refused.contains("connection: close"), "{path}: {refused}");
        stream.write_all(next.as_bytes()).await.unwrap();
        assert!(answer(&mut stream).await.starts_with("http/1.1 200"), "{path}");
        // A large body is not read, nor one that does not come, nor one whose client waits for
        // permission to send it.
        let large = head(path, JSON, 10_000_000);
        let absent = head(path, JSON, 100);
        let expecting = absent.replace("Host: x", "Host: x\r\nExpect: 100-continue");
        for text in [large, absent, expecting] {
            let refused = to_the_end(&mut send(&service, HERE, &text).await).await.to_ascii_lowercase();
            assert!(refused.starts_with("http/1.1 40") && refused.contains("connection: close"), "{text}{refused}");
        }
    }
}
