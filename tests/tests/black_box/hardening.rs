//! Bounds on what one client can hold: time, bytes, connections.

use cyclorama_tests::{DatabaseChoice, Options, Service, on_both_databases};
use reqwest::StatusCode;
use serde_json::Value;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn impatient() -> Service {
    let options = Options::default().set("CYCLORAMA_CLIENT_TIMEOUT_SECONDS", 1);
    Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap()
}

async fn connect(service: &Service) -> TcpStream {
    TcpStream::connect(service.base_url.strip_prefix("http://").unwrap()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_never_ends_is_cut_off() {
    let service = impatient().await;
    for start in ["", "GET /heal", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "] {
        let mut stream = connect(&service).await;
        stream.write_all(start.as_bytes()).await.unwrap();
        let began = Instant::now();
        let mut rest = Vec::new();
        // Closed or reset: either way nothing is held any more.
        let _ = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut rest)).await.expect("is cut off");
        assert!(began.elapsed() > Duration::from_millis(800), "{start:?} was given its time");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_is_cut_off() {
    let service = impatient().await;
    let size = service.visit("/openapi.json").send().await.unwrap().bytes().await.unwrap().len();
    let asked = 64 * 1024 * 1024 / size;
    let mut stream = connect(&service).await;
    let request = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(asked);
    // The service stops taking requests when it cannot answer: the rest of ours may not be taken.
    let _ = tokio::time::timeout(Duration::from_secs(3), stream.write_all(request.as_bytes())).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mut answers = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answers)).await;
    assert!(ended.is_ok(), "the connection ended");
    assert!(answers.len() < asked * size, "{} of {} bytes", answers.len(), asked * size);
    assert_eq!(service.visit("/healthz").send().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_long_is_refused_and_named() {
    let service = impatient().await;
    let long = service.visit(&format!("/api/v1/images/car?make={}", "x".repeat(9_000))).send().await.unwrap();
    assert_eq!(long.status(), StatusCode::URI_TOO_LONG);
    assert_eq!(long.json::<Value>().await.unwrap()["code"], "address_too_long");
    let heads = service.visit("/healthz").header("x-long", "x".repeat(300_000)).send().await;
    assert!(heads.is_err() || heads.unwrap().status() == StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    for (path, bytes) in
        [("/api/v1/image-urls", 64 * 1024), ("/api/v1/feedback", 8 * 1024), ("/api/v1/events", 32 * 1024)]
    {
        let customer = service.customer(1).unwrap();
        for (length, refused) in [(bytes, false), (bytes + 1, true)] {
            let address = format!("{}{path}", service.base_url);
            let answer =
                service.http.post(address).bearer_auth(&customer.key).body(" ".repeat(length)).send().await.unwrap();
            assert_eq!(answer.status() == StatusCode::PAYLOAD_TOO_LARGE, refused, "{path} {length}");
        }
    }
}

on_both_databases! {
    async fn a_null_byte_in_an_address_is_nobodys_name(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let file = std::fs::read_to_string(service.data_dir().join("operator.json")).unwrap();
        let token = serde_json::from_str::<Value>(&file).unwrap()["token"].as_str().unwrap().to_owned();
        let at = |path: &str| format!("{}{path}", service.admin_url());
        for path in ["/admin/accounts/%00", "/admin/accounts/%00/statement", "/admin/renders/%00", "/console/pictures/x%00"] {
            let answer = service.http.get(at(path)).bearer_auth(&token).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
        }
        for path in [
            "/admin/keys/%00/revoke", "/admin/nodes/a%00/drain", "/admin/renders/%00/approve", "/admin/renders/%00/rerender",
            "/admin/renders/%00/candidates/1/accept", "/admin/node-tokens/%00/revoke", "/console/renders/%00/approve",
        ] {
            let answer = service.http.post(at(path)).bearer_auth(&token).json(&serde_json::json!({})).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
        }
        assert_eq!(service.visit("/api/v1/delivery/%00").send().await.unwrap().status(), StatusCode::FORBIDDEN, "malformed");
        for path in ["/pay/%00", "/sign-in/%00", "/confirm/%00", "/%00"] {
            assert_eq!(service.visit(path).send().await.unwrap().status(), StatusCode::NOT_FOUND, "{path}");
        }
    }
}
