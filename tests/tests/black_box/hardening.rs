//! Limits of what one client can hold: time, bytes, connections.

use cyclorama_tests::{Browser, DatabaseChoice, Options, Service, on_both_databases};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

async fn impatient() -> Service {
    let options = Options::default().set("CYCLORAMA_CLIENT_TIMEOUT_SECONDS", 1);
    Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap()
}

async fn connect(service: &Service) -> TcpStream {
    connect_from(service, Ipv4Addr::LOCALHOST).await
}

/// A connection from an address of this machine. Each address is a separate network.
async fn connect_from(service: &Service, from: Ipv4Addr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    socket.connect(service.base_url.strip_prefix("http://").unwrap().parse().unwrap()).await.unwrap()
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
    let mut stream = connect(&service).await;
    let request = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";
    // The service stops reading requests when it cannot send answers, and ends the connection
    // later.
    let ask_for_ever = async { while stream.write_all(request.as_bytes()).await.is_ok() {} };
    let ended = tokio::time::timeout(Duration::from_secs(60), ask_for_ever).await;
    assert!(ended.is_ok(), "the connection ended");
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
        let token = service.operator_token().unwrap();
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

    async fn characters_that_no_text_may_hold_are_no_failure_of_the_service(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let token = service.node_token().unwrap();
        let call = |path: String, body: String| {
            let request = service.http.post(format!("{}/node/v1/{path}", service.base_url)).bearer_auth(&token);
            request.header("content-type", "application/json").body(body).send()
        };
        // Nodes' own names may not have control characters; NUL in their reports is replaced.
        let join = |name: &str, version: &str, pipeline: &str, device: &str| {
            json!({
                "name": name, "version": version, "slots": 1, "pipelines": [{"id": pipeline, "digest": "0"}],
                "device": {"name": device, "backend": "none"},
            })
        };
        let bad = ["a\0b", "\u{1b}[2J", "a\nb", "\u{7f}", "\u{9b}31m"];
        for bad in &bad[1..] {
            for body in [join(bad, "1", "p", "d"), join("n", bad, "p", "d"), join("n", "1", bad, "d"), join("n", "1", "p", bad)] {
                let answer = call("nodes".to_owned(), body.to_string()).await.unwrap();
                assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{body}");
            }
        }
        let joined = call("nodes".to_owned(), join("näme 赤", "1", "p", "d").to_string()).await.unwrap();
        assert_eq!(joined.status(), StatusCode::CREATED);
        let node_id = joined.json::<Value>().await.unwrap()["node_id"].as_str().unwrap().to_owned();

        // The node's report is stored with something else in their place.
        let customer = service.customer(9).unwrap();
        for (n, bad) in bad.into_iter().enumerate() {
            let view = ["front", "rear", "side", "front-3-4", "rear-3-4"][n];
            let path = format!("/api/v1/images/car?make=toyota&model=prius&year=2012&view={view}");
            let request = tokio::spawn(service.get(&customer, &path).send());
            let leased = call(format!("nodes/{node_id}/leases"), json!({"free": 1, "wait_seconds": 10}).to_string()).await.unwrap();
            let job = leased.json::<Value>().await.unwrap()["jobs"][0].clone();
            let (job_id, fence) = (job["job_id"].as_str().unwrap(), &job["fence"]);
            let stage = json!({
                "state": "busy", "device": {bad: bad},
                "jobs": [{"job_id": job_id, "fence": fence, "stage": bad}, {"job_id": bad, "fence": 1, "stage": "x"}],
            });
            let beat = call(format!("nodes/{node_id}/heartbeat"), stage.to_string()).await.unwrap();
            assert_eq!(beat.status(), StatusCode::OK, "{bad:?}");
            let result = json!({"fence": fence, "objects": [{"name": bad, "sha256": bad, "bytes": 1}], "receipt": {bad: [bad]}});
            let result = call(format!("jobs/{job_id}/result"), result.to_string()).await.unwrap();
            assert_eq!(result.status(), StatusCode::UNPROCESSABLE_ENTITY, "{bad:?}");
            let failure = json!({"fence": fence, "kind": "model", "detail": format!("it says {bad}")});
            let failure = call(format!("jobs/{job_id}/failure"), failure.to_string()).await.unwrap();
            assert_eq!(failure.status(), StatusCode::NO_CONTENT, "{bad:?}");
            assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::BAD_GATEWAY);
        }
        let shown = service.operator(&["node", "list"]).unwrap().to_string();
        assert!(shown.contains("näme") && !shown.contains("\\u0000"), "{shown}");

        // Clients and operators get an error.
        let operator = service.operator_token().unwrap();
        let admin = |path: &str| service.http.post(format!("{}{path}", service.admin_url())).bearer_auth(&operator);
        let public = |path: &str| service.http.post(format!("{}{path}", service.base_url)).bearer_auth(&customer.key);
        for (request, body) in [
            (admin("/admin/accounts"), json!({"email": "a\0b@example.com"})),
            (admin("/admin/node-tokens"), json!({"name": "a\0b"})),
            (admin("/admin/keys"), json!({"account_id": "a\0b", "name": "n"})),
            (admin(&format!("/admin/accounts/{}/grants", customer.account_id)), json!({"credits": 1, "reason": "a\0b"})),
            (public("/api/v1/feedback"), json!({"request_id": "a\0b", "verdict": "bad", "reason": "a\0b"})),
            (public("/api/v1/image-urls"), json!({"make": "a\0b", "model": "x", "year": 2020})),
            (public("/api/v1/images/resolve"), json!({"query": "\0"})),
            (public("/api/v1/events"), json!({"events": [{"name": "a\0b"}]})),
            (public("/api/auth/device/token"), json!({"device_code": "a\0b"})),
            (public("/api/mcp"), json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a\0b"}})),
        ] {
            let answer = request.json(&body).send().await.unwrap();
            let (status, url) = (answer.status(), answer.url().path().to_owned());
            assert!(status.is_client_error(), "{url} {body}: {status} {}", answer.text().await.unwrap());
        }
        // The error names the text.
        for (request, body, parameter, index) in [
            (public("/api/v1/billing/checkout"), json!({"credits": 5000, "note": {"to": ["x", "a\0b"]}}), "note.to[1]", json!(1)),
            (admin("/admin/accounts"), json!({"email": "a\0b@example.com"}), "email", Value::Null),
            (admin("/admin/keys"), json!({"account_id": "x", "a\0b": 1}), "a\u{fffd}b", Value::Null),
        ] {
            let problem: Value = request.json(&body).send().await.unwrap().json().await.unwrap();
            assert_eq!((&problem["code"], &problem["parameter"]), (&json!("invalid_text"), &json!(parameter)), "{problem}");
            assert_eq!(problem["index"], index, "{problem}");
        }
        let call = |arguments: Value| json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "resolve_vehicle", "arguments": arguments}});
        for arguments in [json!({"query": "a\0b"}), json!(json!({"query": "a\0b"}).to_string())] {
            let answer = public("/api/mcp").json(&call(arguments)).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
            let answer: Value = answer.json().await.unwrap();
            assert_eq!((&answer["jsonrpc"], &answer["id"], &answer["error"]["code"]), (&json!("2.0"), &json!(7), &json!(-32602)), "{answer}");
            assert!(answer["error"]["message"].as_str().unwrap().contains("`params.arguments.query`"), "{answer}");
        }
        let form = service.http.post(format!("{}/sign-in", service.base_url)).form(&[("email", "a\0b@example.com"), ("password", "x")]);
        let problem: Value = form.send().await.unwrap().json().await.unwrap();
        assert_eq!((&problem["code"], &problem["parameter"]), (&json!("invalid_text"), &json!("email")), "{problem}");
        let form = service.http.post(format!("{}/sign-in", service.base_url)).form(&[("email", "a\0b@example.com"), ("password", "x\0y")]);
        assert!(form.send().await.unwrap().status().is_client_error());
        assert_eq!(service.balance(&customer).await.unwrap(), 9);
        assert!(!service.log().contains("invalid byte sequence"), "{}", service.log());
    }
}

/// Sends the head of a request on a separate connection that stays open.
async fn send(service: &Service, head: &str) -> TcpStream {
    let mut stream = connect(service).await;
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// The first line of the answer, within half a minute.
async fn status_line(stream: &mut TcpStream) -> String {
    let mut line = Vec::new();
    let read = async {
        while let Ok(byte) = stream.read_u8().await {
            if byte == b'\r' {
                break;
            }
            line.push(byte);
        }
    };
    tokio::time::timeout(Duration::from_secs(30), read).await.expect("an answer");
    String::from_utf8(line).unwrap()
}

/// Uses a separate connection, because a persistent one may be closed just when it is used again.
async fn probe(service: &Service, path: &str) -> StatusCode {
    let http = cyclorama_tests::service::http_client().unwrap();
    let request = http.get(format!("{}{path}", service.base_url)).timeout(Duration::from_secs(10));
    request.send().await.expect(path).status()
}

#[tokio::test(flavor = "multi_thread")]
async fn probes_are_answered_whatever_clients_hold() {
    let options = Options::default().set("CYCLORAMA_CONNECTIONS_MAX", 16);
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    // A statement that is larger than any socket's buffer, and that nobody reads.
    let mut browser = Browser::new(&service);
    browser.sign_up("ada@example.com", "a long way to Tipperary").await.unwrap();
    let mut database = service.database().await.unwrap();
    let account: String = sqlx::query_scalar("select id from accounts").fetch_one(&mut database).await.unwrap();
    let fill = "insert into ledger_entries (id, account_id, number, kind, credits, balance, at_ms, reason)
        with recursive places (place) as (select 0 union all select place + 1 from places where place < 89999)
        select printf('01938e6c-0000-7000-8000-%012x', place), $1, place + 2, 'grant', 1, place + 101, 1, 'one of many' from places";
    sqlx::query(fill).bind(&account).execute(&mut database).await.unwrap();
    let book = "update balances set credits = credits + 90000, entries = entries + 90000";
    sqlx::query(book).execute(&mut database).await.unwrap();
    let cookies: Vec<String> = browser.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let statement =
        format!("GET /dashboard/statement.csv HTTP/1.1\r\nHost: x\r\nCookie: {}\r\n\r\n", cookies.join("; "));
    let mut held = Vec::new();
    for number in 0..16 {
        // One network has half of the permits.
        let mut stream = connect_from(&service, Ipv4Addr::new(127, 0, 0, 1 + number % 2)).await;
        stream.write_all(statement.as_bytes()).await.unwrap();
        held.push(stream);
    }
    for stream in &mut held {
        assert!(status_line(stream).await.contains("200"));
    }
    let mut others = Vec::new();
    for round in 0..4 {
        // Sockets that send nothing, half a head, or requests that wait for a permit.
        for number in 0..60 {
            others.push(match number % 3 {
                0 => connect(&service).await,
                1 => send(&service, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Half: ").await,
                _ => send(&service, "GET /docs/errors HTTP/1.1\r\nHost: x\r\n\r\n").await,
            });
        }
        for path in ["/healthz", "/readyz", "/api/health"] {
            assert_eq!(probe(&service, path).await, StatusCode::OK, "{path}, round {round}");
        }
    }
    // Requests that are being answered go on.
    let (mut read, mut whole) = (held.pop().unwrap(), Vec::new());
    let to_the_end =
        async { while !whole.ends_with(b"\r\n0\r\n\r\n") && read.read_buf(&mut whole).await.unwrap() > 0 {} };
    tokio::time::timeout(Duration::from_secs(180), to_the_end).await.expect("all of it");
    assert_eq!(whole.windows(11).filter(|words| words == b"one of many").count(), 90_000);
    // If too many wait, the oldest are refused, and the youngest get a permit when there is one.
    let mut last = send(&service, "GET /docs/errors HTTP/1.1\r\nHost: x\r\n\r\n").await;
    // One of the same network.
    drop(held.swap_remove(0));
    let line = status_line(&mut last).await;
    assert!(line.contains("200"), "{line}");
    let line = status_line(&mut others[2]).await;
    assert!(line.contains("503"), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_make_room_for_requests() {
    let options = Options::default().set("CYCLORAMA_CONNECTIONS_MAX", 16);
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    let mut idle = Vec::new();
    for number in 0..400 {
        idle.push(match number % 2 {
            0 => connect(&service).await,
            _ => send(&service, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await,
        });
        if number % 100 == 99 {
            assert_eq!(probe(&service, "/docs/errors").await, StatusCode::OK, "{number}");
        }
    }
    let (line, first) = (status_line(&mut idle[399]).await, &mut idle[0]);
    assert!(line.contains("200"), "{line}");
    assert_eq!(first.read(&mut [0; 1]).await.unwrap_or(0), 0, "the longest idle was closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_come_is_the_clients_fault() {
    let service = impatient().await;
    let customer = service.customer(1).unwrap();
    for (path, kind) in [
        ("/api/v1/image-urls", "application/json"),
        ("/api/v1/events", "application/json"),
        ("/api/auth/device/token", "application/x-www-form-urlencoded"),
        ("/api/mcp", "application/json"),
        ("/sign-in", "application/x-www-form-urlencoded"),
    ] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nAccept: application/json\r\nContent-Type: {kind}\r\nContent-Length: 100\r\n\r\n{{",
            service.base_url.trim_start_matches("http://"),
            customer.key
        );
        let mut stream = send(&service, &head).await;
        let line = status_line(&mut stream).await;
        assert!(line.contains("408"), "{path}: {line}");
        let mut rest = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut rest)).await.expect("is closed");
        assert!(String::from_utf8_lossy(&rest).contains("\"timed_out\""), "{path}: {}", String::from_utf8_lossy(&rest));
    }
    assert_eq!(service.balance(&customer).await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_names_its_host_once() {
    let service = impatient().await;
    for (head, expected) in [
        ("GET /api/health HTTP/1.1\r\nHost: x\r\n", "200"),
        ("GET /api/health HTTP/1.0\r\n", "200"),
        ("GET /api/health HTTP/1.1\r\n", "400"),
        ("GET /healthz HTTP/1.1\r\nHost: x\r\nHost: x\r\n", "400"),
        ("GET /api/v1/vehicles HTTP/1.1\r\nHost: a b\r\n", "400"),
        ("POST /api/v1/events HTTP/1.1\r\nContent-Length: 0\r\n", "400"),
    ] {
        let mut stream = send(&service, &format!("{head}\r\n")).await;
        let line = status_line(&mut stream).await;
        assert!(line.contains(expected), "{head:?}: {line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_cannot_be_read_is_refused_by_name() {
    let service = Service::start(DatabaseChoice::Sqlite).await.unwrap();
    for (path, status) in [
        ("/api/v1/delivery/%ff", StatusCode::FORBIDDEN),
        ("/api/v1/delivery/a%80b", StatusCode::FORBIDDEN),
        ("/sign-in/%ff", StatusCode::BAD_REQUEST),
        ("/confirm/%c3%28", StatusCode::BAD_REQUEST),
        ("/pay/%fe", StatusCode::BAD_REQUEST),
        ("/assets/%ff", StatusCode::BAD_REQUEST),
    ] {
        let answer = service.visit(path).send().await.unwrap();
        assert_eq!(answer.status(), status, "{path}");
        let problem: Value = answer.json().await.unwrap();
        assert!(problem["code"] != "refused" && problem["detail"] != "Bad Request", "{path}: {problem}");
        // HEAD has the headers of GET (RFC 9110, section 9.3.2).
        let [get, head] = [Method::GET, Method::HEAD].map(|method| {
            service.http.request(method, format!("{}{path}", service.base_url)).header("connection", "close").send()
        });
        let (get, head) = (get.await.unwrap(), head.await.unwrap());
        assert_eq!(head.status(), get.status(), "{path}");
        for header in ["content-length", "content-type", "cache-control"] {
            assert_eq!(head.headers().get(header), get.headers().get(header), "{header} of {path}");
        }
    }
    let operator = service.operator_token().unwrap();
    for (path, parameter) in [
        ("/admin/renders?limit=junk", "limit"),
        ("/admin/accounts/%ff", "account_id"),
        ("/admin/prewarm/batches/%ff", "batch_id"),
    ] {
        let request = service.http.get(format!("{}{path}", service.admin_url()));
        let answer = request.bearer_auth(&operator).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{path}");
        let problem: Value = answer.json().await.unwrap();
        assert_eq!(
            (&problem["code"], &problem["parameter"]),
            (&"invalid_parameter".into(), &parameter.into()),
            "{path}"
        );
        assert!(problem["detail"].as_str().unwrap().contains(parameter), "{path}: {problem}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_behind_one_proxy_are_told_apart_however_it_writes_their_address() {
    let options =
        Options::default().set("CYCLORAMA_TRUSTED_PROXIES", "127.0.0.1").set("CYCLORAMA_DEVICE_CODE_PER_MINUTE", 1);
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    service.early_in_a_minute().await;
    for (forwarded, status) in [
        ("203.0.113.9:1", 201),
        ("203.0.113.9:2", 429),
        ("203.0.113.9", 429),
        ("198.51.100.7:2", 201),
        ("[2001:db8::1]:443", 201),
        ("2001:db8::2", 429),
        ("[2001:db8:0:1::1]", 201),
        ("\"[2001:db8:0:2::1]:80\"", 201),
        ("8.8.8.8, 198.51.100.8:9", 201),
        ("::ffff:198.51.100.8", 429),
        ("198.51.100.9, unknown", 201),
        ("198.51.100.10, unknown", 429),
    ] {
        let request = service.http.post(format!("{}/api/auth/device/code", service.base_url));
        let answer = request.header("x-forwarded-for", forwarded).send().await.unwrap();
        assert_eq!(answer.status(), status, "{forwarded}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_that_come_by_https_are_told_to_come_by_nothing_else() {
    for (base_url, seconds, expected) in [
        ("https://images.example.com", "31536000", Some("max-age=31536000")),
        ("https://images.example.com", "600", Some("max-age=600")),
        ("https://images.example.com", "0", None),
        ("http://images.example.com", "31536000", None),
    ] {
        let options = Options::default()
            .set("CYCLORAMA_BASE_URL", base_url)
            .set("CYCLORAMA_PAYMENTS", "off")
            .set("CYCLORAMA_HSTS_SECONDS", seconds);
        let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
        for path in ["/", "/healthz", "/nothing", "/api/v1/account"] {
            let answer = service.visit(path).send().await.unwrap();
            let said = answer.headers().get("strict-transport-security").map(|value| value.to_str().unwrap());
            assert_eq!(said, expected, "{base_url} {path}");
        }
        let operator = service.http.get(format!("{}/healthz", service.admin_url())).send().await.unwrap();
        assert!(!operator.headers().contains_key("strict-transport-security"));
    }
}
