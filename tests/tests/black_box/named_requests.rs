//! `Idempotency-Key` on `POST /api/v1/image-urls`: the request is done once, and then answered from
//! the stored answer.

use cyclorama_tests::service::Customer;
use cyclorama_tests::{DatabaseChoice, Options, Service, on_both_databases};
use futures::future::join_all;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

fn civic(color: &str) -> Value {
    json!({ "make": "honda", "model": "civic", "year": 2018, "color": color })
}

async fn make(service: &Service, customer: &Customer, name: &str, body: &Value) -> Response {
    let address = format!("{}/api/v1/image-urls", service.base_url);
    let request = service.http.post(address).bearer_auth(&customer.key).header("idempotency-key", name);
    request.json(body).send().await.unwrap()
}

/// Makes a catalog release of these models of Honda's, of 2018.
fn release(service: &Service, folder: &std::path::Path, models: &[&str]) {
    let package = folder.join(models.join("-"));
    std::fs::create_dir_all(package.join("dist")).unwrap();
    std::fs::write(package.join("package.json"), r#"{"name":"test","version":"1.0.0"}"#).unwrap();
    let rows: Vec<Value> = (0..models.len()).map(|number| json!([2018, 1, number + 1, number, 1, 1])).collect();
    let data = json!({
        "sources": [{ "source_id": "s", "source_name": "s", "source_url": "https://example.com", "license": "CC0", "region": "US" }],
        "vehicleTypes": [{ "vehicle_type_id": 1, "vehicle_type_name": "Passenger Car" }],
        "makes": [{ "make_id": 1, "make_name": "Honda" }], "modelNames": models, "models": rows,
    });
    std::fs::write(package.join("dist/data.js"), format!("const data = {data};")).unwrap();
    let [package, sources, out] =
        [package, folder.join("sources"), folder.join("vehicles.bin")].map(|path| path.display().to_string());
    service.operator(&["catalog", "import", "--package", &package, "--sources", &sources, "--out", &out]).unwrap();
}

on_both_databases! {
    // The charge was made and its answer lost; meanwhile the operator loads a release without the
    // model.
    async fn what_was_charged_is_answered_again_whatever_the_catalog_has_now(db: DatabaseChoice) {
        let folder = tempfile::tempdir().unwrap();
        // The command that makes releases needs no service, but this service needs a release.
        let maker = Service::start(db).await.unwrap();
        release(&maker, folder.path(), &["Civic", "Accord"]);
        drop(maker);
        let service = Service::start_with(db, Options::default().set("CYCLORAMA_CATALOG", folder.path().join("vehicles.bin").display())).await.unwrap();
        let customer = service.customer(10).unwrap();
        let tool = async |key: &str, color: &str| {
            let arguments = json!({ "images": [civic(color)], "idempotency_key": key });
            let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "create_car_image_urls", "arguments": arguments } });
            let sent = service.http.post(format!("{}/api/mcp", service.base_url)).bearer_auth(&customer.key).json(&message);
            sent.send().await.unwrap().json::<Value>().await.unwrap()["result"]["structuredContent"].clone()
        };
        let first = make(&service, &customer, "order-1", &civic("red")).await;
        assert_eq!(first.status(), StatusCode::CREATED);
        let (first, of_tool) = (first.text().await.unwrap(), tool("order-2", "red").await);
        assert_eq!((&of_tool["replayed"], service.balance(&customer).await.unwrap()), (&json!(false), 8));
        release(&service, folder.path(), &["Accord"]);
        assert_eq!(service.operator(&["catalog", "reload"]).unwrap()["changed"], true);

        for _ in 0..2 {
            let again = make(&service, &customer, "order-1", &civic("red")).await;
            assert_eq!((again.status(), &again.headers()["idempotent-replayed"]), (StatusCode::CREATED, &"true".parse().unwrap()));
            assert!(again.headers().contains_key("ratelimit-remaining"));
            assert_eq!(again.text().await.unwrap(), first);
            let again = tool("order-2", "red").await;
            assert_eq!((&again["replayed"], &again["data"]), (&json!(true), &of_tool["data"]), "{again}");
        }
        // Another request, another idempotency key, or another account's key gets the present
        // catalog's answer.
        let neighbour = service.customer(10).unwrap();
        for (customer, name, color) in [(&customer, "order-1", "blue"), (&customer, "order-3", "red"), (&neighbour, "order-1", "red")] {
            let refused = make(&service, customer, name, &civic(color)).await;
            assert_eq!(refused.status(), StatusCode::NOT_FOUND, "{name} {color}");
        }
        assert_eq!(tool("order-2", "blue").await["status"], 404);
        assert_eq!((service.balance(&customer).await.unwrap(), service.balance(&neighbour).await.unwrap()), (8, 10));
    }

    async fn what_was_charged_is_answered_again_whatever_the_settings_are_now(db: DatabaseChoice) {
        let mut service = Service::start(db).await.unwrap();
        let customer = service.customer(10).unwrap();
        let first = make(&service, &customer, "order-1", &civic("red")).await;
        assert_eq!(first.status(), StatusCode::CREATED);
        let first = first.text().await.unwrap();
        service.kill();
        service.options = service.options.clone().set("CYCLORAMA_DELIVERY_TTL_DEFAULT", 600);
        service.launch().await.unwrap();
        let again = make(&service, &customer, "order-1", &civic("red")).await;
        assert_eq!((again.status(), again.text().await.unwrap()), (StatusCode::CREATED, first));
        assert_eq!(make(&service, &customer, "order-1", &civic("blue")).await.status(), StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(service.balance(&customer).await.unwrap(), 9);
    }

    async fn the_same_request_again_is_the_same_answer_for_nothing(db: DatabaseChoice) {
        let mut service = Service::start(db).await.unwrap();
        let customer = service.customer(10).unwrap();
        let first = make(&service, &customer, "order-1", &civic("red")).await;
        assert_eq!(first.status(), StatusCode::CREATED);
        assert!(!first.headers().contains_key("idempotent-replayed"));
        let first = first.text().await.unwrap();
        // Also after the service was killed, because the answer was stored with the charge.
        for round in 0..3 {
            let again = make(&service, &customer, "order-1", &civic("red")).await;
            assert_eq!(again.status(), StatusCode::CREATED);
            assert_eq!(again.headers()["idempotent-replayed"], "true");
            assert!(again.headers().contains_key("ratelimit-remaining"));
            assert_eq!(again.text().await.unwrap(), first);
            if round == 1 {
                service.kill();
                service.launch().await.unwrap();
            }
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 9);

        let other = make(&service, &customer, "order-1", &civic("blue")).await;
        assert_eq!(other.status(), StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(other.json::<Value>().await.unwrap()["code"], "idempotency_key_reused");
        let long = make(&service, &customer, &"x".repeat(256), &civic("red")).await;
        assert_eq!(long.status(), StatusCode::BAD_REQUEST);
        assert_eq!(long.json::<Value>().await.unwrap()["parameter"], "Idempotency-Key");
        // Each account has its own idempotency keys.
        let neighbour = service.customer(10).unwrap();
        let theirs = make(&service, &neighbour, "order-1", &civic("blue")).await;
        assert_eq!(theirs.status(), StatusCode::CREATED);
        assert_eq!(service.balance(&neighbour).await.unwrap(), 9);
        assert_eq!(service.balance(&customer).await.unwrap(), 9);
    }

    async fn forty_at_once_are_charged_once(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(10).unwrap();
        let body = json!({ "images": [civic("red"), civic("blue")] });
        let answers = join_all((0..40).map(|_| make(&service, &customer, "batch", &body))).await;
        let mut made = Vec::new();
        for answer in answers {
            match answer.status() {
                StatusCode::CREATED => made.push(answer.text().await.unwrap()),
                StatusCode::CONFLICT => assert_eq!(answer.json::<Value>().await.unwrap()["code"], "idempotency_key_in_use"),
                other => panic!("{other}"),
            }
        }
        assert!(!made.is_empty() && made.iter().all(|answer| *answer == made[0]));
        assert_eq!(service.balance(&customer).await.unwrap(), 8);
    }

    async fn what_charged_nothing_may_be_tried_again(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(0).unwrap();
        for _ in 0..2 {
            assert_eq!(make(&service, &customer, "later", &civic("red")).await.status(), StatusCode::PAYMENT_REQUIRED);
            // The client gives up while the request runs in the background.
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        let wrong = make(&service, &customer, "later", &json!({ "make": "honda", "model": "civic", "year": 1889 })).await;
        assert_eq!(wrong.status(), StatusCode::BAD_REQUEST);
        service.operator(&["account", "grant", &customer.account_id, "5", "--reason", "test"]).unwrap();
        let paid = make(&service, &customer, "later", &civic("red")).await;
        assert_eq!(paid.status(), StatusCode::CREATED);
        assert_eq!(service.balance(&customer).await.unwrap(), 4);
    }

    async fn the_same_request_written_otherwise_is_the_same(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(20).unwrap();
        let send = async |key: &str, body: &str| {
            let address = format!("{}/api/v1/image-urls", service.base_url);
            let request = service.http.post(address).bearer_auth(&customer.key).header("idempotency-key", key);
            let answer = request.header("content-type", "application/json").body(body.to_owned()).send().await.unwrap();
            let replayed = answer.headers().contains_key("idempotent-replayed");
            (answer.status().as_u16(), replayed, answer.text().await.unwrap())
        };
        let (status, _, first) = send("one", r#"{"images":[{"make":"honda","model":"civic","year":2018,"color":"red","size":"small"}],"ttl_seconds":3600,"max_uses":1000}"#).await;
        assert_eq!(status, 201, "{first}");
        for same in [
            r#"{"max_uses":1000,"ttl_seconds":3600,"images":[{"size":"small","color":"red","year":2018,"model":"civic","make":"honda"}]}"#,
            "{ \"images\" : [ {\n\"make\":\"honda\",\"model\":\"civic\",\"year\":2018,\"color\":\"red\",\"size\":\"small\"} ],\"ttl_seconds\":3600,\"max_uses\":1000 }",
            r#"{"images":[{"make":"honda","model":"civic","year":2.018e3,"color":"red","size":"small"}],"ttl_seconds":3600.0,"max_uses":1e3}"#,
            r#"{"images":[{"brand":"Honda","model":"Civic","year":2018,"color":"RED","width":512,"view":"hero","format":"png"}],"max_uses":1000}"#,
        ] {
            assert_eq!(send("one", same).await, (201, true, first.clone()), "{same}");
        }
        for other in [
            r#"{"images":[{"make":"honda","model":"civic","year":2018,"color":"red","size":"small"}],"ttl_seconds":3600,"max_uses":999}"#,
            r#"{"images":[{"make":"honda","model":"civic","year":2018,"color":"red","size":"thumb"}],"ttl_seconds":3600,"max_uses":1000}"#,
            r#"{"images":[{"make":"honda","model":"civic","year":2019,"color":"red","size":"small"}],"ttl_seconds":3600,"max_uses":1000}"#,
        ] {
            assert_eq!(send("one", other).await.0, 422, "{other}");
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 19);
        // The tool for URLs makes the same request: one charge for both.
        let tool = async |key: &str, images: Value| {
            let arguments = json!({ "images": images, "max_uses": "1000", "idempotency_key": key });
            let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "create_car_image_urls", "arguments": arguments } });
            let sent = service.http.post(format!("{}/api/mcp", service.base_url)).bearer_auth(&customer.key).json(&message);
            let answer: Value = sent.send().await.unwrap().json().await.unwrap();
            answer["result"]["structuredContent"].clone()
        };
        let red = json!([{ "make": "honda", "model": "civic", "year": "2018", "color": "red", "size": "small" }]);
        let told = tool("one", red.clone()).await;
        assert_eq!((&told["replayed"], &told["billing"]["credits_charged"]), (&json!(true), &json!(0)), "{told}");
        let first: Value = serde_json::from_str(&first).unwrap();
        assert_eq!(told["data"], first["data"]);
        let made = tool("two", red.clone()).await;
        assert_eq!((&made["replayed"], &made["billing"]["credits_charged"]), (&json!(false), &json!(1)), "{made}");
        let text = json!({ "images": red.to_string(), "max_uses": 1000.0, "ttl_seconds": null, "idempotency_key": " two " });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "create_car_image_urls", "arguments": text.to_string() } });
        let sent = service.http.post(format!("{}/api/mcp", service.base_url)).bearer_auth(&customer.key).json(&message);
        let again: Value = sent.send().await.unwrap().json().await.unwrap();
        assert_eq!(again["result"]["structuredContent"]["data"], made["data"], "{again}");
        let (status, replayed, over_http) = send("two", r#"{"images":[{"make":"honda","model":"civic","year":2018,"color":"red","size":"small"}],"max_uses":1000}"#).await;
        let over_http: Value = serde_json::from_str(&over_http).unwrap();
        assert_eq!((status, replayed, &over_http["data"], &over_http["billing"]["credits_charged"]), (201, true, &made["data"], &json!(1)));
        assert_eq!(service.balance(&customer).await.unwrap(), 18);
    }
}
