//! Tools that spend credits: if an image cannot be shown for any reason, the balance does not
//! change, and the answer says so.

use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Options, Service, on_both_databases};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use std::time::Duration;

fn call(service: &Service, customer: &Customer, arguments: &Value) -> RequestBuilder {
    let params = json!({ "name": "get_car_image", "arguments": arguments });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let request = service.http.post(format!("{}/api/mcp", service.base_url)).bearer_auth(&customer.key);
    request.header("accept", "application/json").json(&message)
}

/// The structured content of the tool's answer, and whether it is an error.
async fn told(service: &Service, customer: &Customer, arguments: &Value) -> (bool, Value) {
    let answer: Value = call(service, customer, arguments).send().await.unwrap().json().await.unwrap();
    let result = &answer["result"];
    (result["isError"] == true, result["structuredContent"].clone())
}

/// Every way to request one image: with and without a URL, with and without an idempotency key.
fn asked(view: &str) -> Vec<Value> {
    let picture = json!({ "make": "ford", "model": "mustang", "year": 2020, "view": view });
    let mut ways = Vec::new();
    for signed_url in [false, true] {
        for name in [None, Some("a name")] {
            let mut way = picture.clone();
            way["signed_url"] = signed_url.into();
            if let Some(name) = name {
                way["idempotency_key"] = format!("{name} {signed_url}").into();
            }
            ways.push(way);
        }
    }
    ways
}

async fn refused_without_a_charge(service: &Service, customer: &Customer, arguments: &Value, code: &str) {
    let before = service.balance(customer).await.unwrap();
    let (is_error, problem) = told(service, customer, arguments).await;
    assert!(is_error, "{arguments}: {problem}");
    assert_eq!((&problem["status"], &problem["code"]), (&json!(503), &json!(code)), "{arguments}: {problem}");
    assert!(problem["detail"].as_str().unwrap().contains("nothing was charged"), "{problem}");
    let after = service.account_at_rest(customer).await.unwrap();
    assert_eq!((&after["credits"], &after["held"]), (&json!(before), &json!(0)), "{arguments}");
}

/// Waits until a credit of the account is on hold.
async fn held(service: &Service, customer: &Customer) {
    for _ in 0..300 {
        if service.operator(&["account", "show", &customer.account_id]).unwrap()["held"] == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nothing is on hold");
}

on_both_databases! {
    async fn a_spent_budget_takes_nothing(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(9).unwrap();
        service.operator(&["budget", "set", "--usd-per-day", "0"]).unwrap();
        for arguments in asked("rear") {
            for _ in 0..2 {
                refused_without_a_charge(&service, &customer, &arguments, "daily_budget_spent").await;
            }
        }
        service.operator(&["budget", "set", "--usd-per-day", "50"]).unwrap();
        // The idempotency key of a call that cost nothing may be used again.
        for (paid, arguments) in asked("rear").into_iter().enumerate() {
            let (is_error, told) = told(&service, &customer, &arguments).await;
            assert!(!is_error, "{told}");
            assert_eq!((&told["credits_charged"], &told["replayed"]), (&json!(1), &json!(false)), "{arguments}");
            assert_eq!(service.balance(&customer).await.unwrap(), 8 - paid as i64);
        }
        let usage = service.get(&customer, "/api/v1/account").send().await.unwrap().json::<Value>().await.unwrap();
        assert_eq!((&usage["data"]["usage_30d"]["images"], &usage["data"]["usage_30d"]["credits_spent"]), (&json!(4), &json!(4)));
    }

    async fn a_render_that_comes_too_late_takes_nothing(db: DatabaseChoice) {
        let service = Service::start_with(db, Options::default().set("CYCLORAMA_RENDER_WAIT_SECONDS", 2)).await.unwrap();
        let customer = service.customer(3).unwrap();
        for arguments in asked("front") {
            refused_without_a_charge(&service, &customer, &arguments, "at_capacity").await;
        }
    }

    async fn a_store_that_is_away_takes_nothing(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        let rendered = service.get(&customer, "/api/v1/images/car?make=ford&model=mustang&year=2020&view=side&w=99&format=jpg");
        assert_eq!(rendered.send().await.unwrap().status(), 200);
        let (objects, away) = (service.data_dir().join("objects"), service.data_dir().join("objects.away"));
        std::fs::rename(&objects, &away).unwrap();
        for arguments in asked("side") {
            refused_without_a_charge(&service, &customer, &arguments, "dependency_down").await;
        }
        let _ = std::fs::remove_dir_all(&objects);
        std::fs::rename(&away, &objects).unwrap();
        for arguments in asked("side") {
            let (is_error, told) = told(&service, &customer, &arguments).await;
            assert!(!is_error && told["credits_charged"] == 1, "{told}");
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 0);
        // An image that was paid for and cannot be shown again costs nothing again, and its
        // idempotency key stays used.
        std::fs::rename(&objects, &away).unwrap();
        service.operator(&["account", "grant", &customer.account_id, "5", "--reason", "test"]).unwrap();
        let mut other = json!({ "make": "ford", "model": "mustang", "year": 2020, "view": "side", "width": 77 });
        other["idempotency_key"] = json!("other");
        refused_without_a_charge(&service, &customer, &other, "dependency_down").await;
        let _ = std::fs::remove_dir_all(&objects);
        std::fs::rename(&away, &objects).unwrap();
        assert_eq!(told(&service, &customer, &other).await.1["credits_charged"], 1);
        assert_eq!(told(&service, &customer, &other).await.1["replayed"], true);
        assert_eq!(service.balance(&customer).await.unwrap(), 4);
    }

    async fn a_client_that_leaves_pays_nothing(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        for arguments in asked("rear-3-4") {
            let waiting = tokio::spawn(call(&service, &customer, &arguments).send());
            held(&service, &customer).await;
            waiting.abort();
            let _ = waiting.await;
            let after = service.account_at_rest(&customer).await.unwrap();
            assert_eq!((&after["credits"], &after["held"]), (&json!(5), &json!(0)), "{arguments}");
        }
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        for (paid, arguments) in asked("rear-3-4").into_iter().enumerate() {
            let (is_error, told) = told(&service, &customer, &arguments).await;
            assert!(!is_error && told["credits_charged"] == 1, "{told}");
            assert_eq!(service.balance(&customer).await.unwrap(), 4 - paid as i64);
        }
        let errors: Vec<String> = service.log().lines().filter(|line| line.contains("ERROR")).map(str::to_owned).collect();
        assert!(errors.is_empty(), "a client that leaves is no trouble of the operator's: {errors:?}");
    }

    async fn a_killed_service_keeps_no_credit_of_a_picture_that_was_not_shown(db: DatabaseChoice) {
        let mut service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        let arguments = asked("front").pop().unwrap();
        let waiting = tokio::spawn(call(&service, &customer, &arguments).send());
        held(&service, &customer).await;
        service.kill();
        let _ = waiting.await;
        service.launch().await.unwrap();
        let after = service.account_at_rest(&customer).await.unwrap();
        assert_eq!((&after["credits"], &after["held"]), (&json!(5), &json!(0)));
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let (is_error, told) = told(&service, &customer, &arguments).await;
        assert!(!is_error && told["credits_charged"] == 1, "{told}");
        // The URL delivers the image, and may be loaded any number of times.
        let url = told["signed_url"]["url"].as_str().unwrap();
        for _ in 0..2 {
            assert_eq!(service.http.get(url).send().await.unwrap().status(), 200);
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 4);
    }
}
