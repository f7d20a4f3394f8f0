//! `POST /api/v1/events`: events are accepted first and written later; the limits for each client
//! address are exact.

use cyclorama_tests::{DatabaseChoice, Options, Service, on_both_databases};
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use sqlx::Row;
use std::time::Duration;

fn report(service: &Service, body: &Value) -> RequestBuilder {
    service.http.post(format!("{}/api/v1/events", service.base_url)).json(body)
}

async fn send(service: &Service, body: &Value) -> Response {
    report(service, body).send().await.unwrap()
}

async fn rows(service: &Service) -> Vec<(String, Option<String>)> {
    let mut connection = service.database().await.unwrap();
    let rows = sqlx::query("select event, url from events order by event").fetch_all(&mut connection).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

on_both_databases! {
    async fn accepted_at_once_and_written_after(db: DatabaseChoice) {
        let mut service = Service::start(db).await.unwrap();
        let batch = json!({ "events": [
            { "event": "page_view", "source": "web", "anonymous_id": "a", "session_id": "s", "properties": { "n": [1, { "x": "\u{0}" }] },
              "url": "https://shop.example/cars?key=secret", "referrer": "https://x.example/#y", "utm": { "source": "mail" }, "later": 1 },
            { "event": "cli_login" },
        ] });
        // As a page would send it: from another origin, and as text with sendBeacon.
        let answer = report(&service, &batch).header("origin", "https://shop.example").header("content-type", "text/plain").send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::ACCEPTED);
        assert_eq!(answer.headers()["access-control-allow-origin"], "*");
        assert_eq!(answer.headers()["ratelimit-limit"], "120");
        assert_eq!(answer.json::<Value>().await.unwrap(), json!({ "accepted": 2 }));
        let asked = service.http.request(reqwest::Method::OPTIONS, format!("{}/api/v1/events", service.base_url))
            .header("origin", "https://shop.example").header("access-control-request-method", "POST")
            .header("access-control-request-headers", "content-type").send().await.unwrap();
        assert!(asked.status().is_success() && asked.headers()["access-control-allow-methods"] == "POST");
        // Accepted events survive an orderly stop.
        assert!(service.terminate().await.unwrap().success());
        service.launch().await.unwrap();
        let written = rows(&service).await;
        assert_eq!(written, [("cli_login".to_owned(), None), ("page_view".to_owned(), Some("https://shop.example/cars".to_owned()))]);
    }

    async fn wrong_batches_are_refused_whole(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let good = json!({ "event": "page_view" });
        for (body, parameter, index) in [
            (json!({}), json!("events"), Value::Null),
            (json!({ "events": [] }), json!("events"), Value::Null),
            (json!({ "events": vec![good.clone(); 21] }), json!("events"), Value::Null),
            (json!([good]), json!("events"), Value::Null),
            (json!({ "events": [good, {}] }), json!("event"), json!(1)),
            (json!({ "events": [good, { "event": "page_view", "source": "fax" }] }), json!("source"), json!(1)),
            (json!({ "events": [{ "event": 7 }] }), json!("event"), json!(0)),
        ] {
            let answer = send(&service, &body).await;
            assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{body}");
            let mut problem: Value = answer.json().await.unwrap();
            assert_eq!((problem["parameter"].take(), problem["index"].take()), (parameter, index), "{body}");
        }
        let large = report(&service, &json!({ "events": [{ "event": "x", "properties": { "x": "y".repeat(33_000) } }] })).send().await.unwrap();
        assert_eq!(large.status(), StatusCode::PAYLOAD_TOO_LARGE);
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(rows(&service).await, []);
    }

    async fn the_limit_of_an_address_is_exact_and_cannot_be_forged(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_EVENTS_PER_MINUTE", 10).set("CYCLORAMA_TRUSTED_PROXIES", "10.0.0.0/8");
        let service = Service::start_with(db, options).await.unwrap();
        service.early_in_a_minute().await;
        let batch = json!({ "events": [{ "event": "page_view" }] });
        // Nobody on this connection is a trusted proxy, so the addresses in the header are ignored.
        let sent = futures::future::join_all((0..25).map(|n| report(&service, &batch).header("x-forwarded-for", format!("198.51.100.{n}")).send())).await;
        let mut accepted = 0;
        for answer in sent {
            let answer = answer.unwrap();
            match answer.status() {
                StatusCode::ACCEPTED => accepted += 1,
                StatusCode::TOO_MANY_REQUESTS => {
                    let wait: u64 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
                    assert!((1..=60).contains(&wait));
                    assert_eq!(answer.headers()["ratelimit-remaining"], "0");
                    assert!(answer.headers()["ratelimit"].to_str().unwrap().starts_with("\"per-address\";r=0;t="));
                }
                other => panic!("{other}"),
            }
        }
        assert_eq!(accepted, 10);
    }

    async fn a_trusted_proxy_says_who_its_clients_are(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_EVENTS_PER_MINUTE", 3).set("CYCLORAMA_TRUSTED_PROXIES", "127.0.0.1");
        let service = Service::start_with(db, options).await.unwrap();
        service.early_in_a_minute().await;
        let batch = json!({ "events": [{ "event": "page_view" }] });
        for (client, accepted) in [("198.51.100.1", 3), ("198.51.100.2", 3), ("2001:db8::1, 2001:db8::2", 3), ("203.0.113.7, 2001:db8::3", 0)] {
            let mut passed = 0;
            for _ in 0..5 {
                let answer = report(&service, &batch).header("x-forwarded-for", client).send().await.unwrap();
                passed += i32::from(answer.status() == StatusCode::ACCEPTED);
            }
            assert_eq!(passed, accepted, "{client}");
        }
    }
}
