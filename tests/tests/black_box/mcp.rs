//! `POST /api/mcp`: the tools, their costs and refusals, and both revisions of the protocol by
//! hand.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cyclorama_core::wire::FailureKind;
use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Options, Service, on_both_databases};
use futures::future::join_all;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";

fn post(service: &Service, key: &str) -> RequestBuilder {
    let request = service.http.post(format!("{}/api/mcp", service.base_url)).bearer_auth(key);
    request.header("accept", "application/json, text/event-stream")
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A request of the old revision, without a handshake before it.
async fn ask(service: &Service, key: &str, method: &str, params: Value) -> Value {
    let answer =
        post(service, key).header("mcp-protocol-version", OLD).json(&request(1, method, params)).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["content-type"], "application/json");
    let answer: Value = answer.json().await.unwrap();
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(1)));
    answer
}

async fn call(service: &Service, customer: &Customer, tool: &str, arguments: Value) -> Value {
    let answer = ask(service, &customer.key, "tools/call", json!({ "name": tool, "arguments": arguments })).await;
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].clone()
}

/// The structured answer of a successful call.
async fn good(service: &Service, customer: &Customer, tool: &str, arguments: Value) -> Value {
    let result = call(service, customer, tool, arguments).await;
    assert_eq!(result["isError"], false, "{result}");
    let structured = result["structuredContent"].clone();
    assert!(structured.is_object(), "{result}");
    structured
}

/// The problem document of a failed call.
async fn problem(service: &Service, customer: &Customer, tool: &str, arguments: Value) -> Value {
    let result = call(service, customer, tool, arguments).await;
    assert_eq!(result["isError"], true, "{result}");
    let problem = result["structuredContent"].clone();
    // Hosts show the text to models.
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, problem);
    assert!(problem["type"].as_str().unwrap().ends_with(&format!("/docs/errors#{}", problem["status"])), "{problem}");
    assert!(!problem["request_id"].as_str().unwrap().is_empty());
    problem
}

/// The image of a result, and its number of bytes.
fn picture(result: &Value) -> (image::DynamicImage, usize) {
    let content = result["content"].as_array().unwrap();
    assert_eq!(
        (content.len(), &content[0]["type"], &content[0]["mimeType"]),
        (2, &json!("image"), &json!("image/webp"))
    );
    let text: Value = serde_json::from_str(content[1]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
    let bytes = STANDARD.decode(content[0]["data"].as_str().unwrap()).unwrap();
    (image::load_from_memory_with_format(&bytes, image::ImageFormat::WebP).unwrap(), bytes.len())
}

fn mustang() -> Value {
    json!({ "make": "ford", "model": "mustang", "year": 2020, "color": "red" })
}

async fn code(answer: Response) -> (u16, String) {
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.unwrap();
    (status, body["code"].as_str().unwrap_or_default().to_owned())
}

on_both_databases! {
    async fn a_picture_is_shown_for_one_credit(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let first = call(&service, &customer, "get_car_image", mustang()).await;
        assert_eq!(first["isError"], false, "{first}");
        let (image, bytes) = picture(&first);
        assert_eq!((image.width(), image.height()), (512, 512));
        let told = &first["structuredContent"];
        assert_eq!(told["image"], json!({ "media_type": "image/webp", "width": 512, "height": 512, "bytes": bytes }));
        assert!(bytes <= 200_000);
        assert_eq!(
            told["vehicle"],
            json!({ "make": "ford", "model": "mustang", "year": 2020, "vehicle_id": "cyv_rqynmds6sm2ts", "body": "coupe",
                    "likeness": "model", "view": "front-3-4", "color": "red",
                    "format": "webp" })
        );
        assert_eq!((&told["source"], &told["credits_charged"], &told["credits_remaining"]), (&json!("generated"), &json!(1), &json!(9)));
        assert_eq!((&told["replayed"], &told["signed_url"]), (&json!(false), &Value::Null));
        // The same request again is another delivery.
        let mut small = mustang();
        small["width"] = json!(100);
        small["format"] = json!("webp");
        let again = call(&service, &customer, "get_car_image", small).await;
        assert_eq!(picture(&again).0.width(), 100);
        assert_eq!((&again["structuredContent"]["source"], &again["structuredContent"]["credits_remaining"]), (&json!("cache"), &json!(8)));
        assert_eq!(service.balance(&customer).await.unwrap(), 8);
        // The request id with which it can be rated.
        let rated = good(&service, &customer, "rate_image", json!({ "request_id": told["request_id"], "rating": 5 })).await;
        assert_eq!(rated["data"]["recorded"], true);
        let usage = good(&service, &customer, "get_account", json!({})).await["data"]["usage_30d"].clone();
        assert_eq!((&usage["requests"], &usage["images"], &usage["credits_spent"]), (&json!(4), &json!(2), &json!(2)), "each message counts once");
    }

    async fn a_picture_and_its_signed_url_cost_one_credit(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let mut wanted = mustang();
        wanted["signed_url"] = json!(true);
        wanted["size"] = json!("large");
        wanted["idempotency_key"] = json!("page 7");
        let first = call(&service, &customer, "get_car_image", wanted.clone()).await;
        assert_eq!(first["isError"], false, "{first}");
        assert_eq!(picture(&first).0.width(), 512);
        let told = first["structuredContent"].clone();
        assert_eq!((&told["credits_charged"], &told["credits_remaining"], &told["source"]), (&json!(1), &json!(9), &json!("generated")));
        let url = told["signed_url"]["url"].as_str().unwrap();
        let loaded = service.http.get(url).send().await.unwrap();
        assert_eq!((loaded.status(), &loaded.headers()["x-image-width"]), (StatusCode::OK, &"1024".parse().unwrap()));
        assert_eq!(loaded.headers()["content-type"], "image/png");
        // The same members in another order.
        let wanted: Value = wanted.as_object().unwrap().clone().into_iter().rev().collect();
        let again = call(&service, &customer, "get_car_image", wanted).await["structuredContent"].clone();
        assert_eq!((&again["replayed"], &again["credits_charged"]), (&json!(true), &json!(0)));
        assert_eq!((&again["signed_url"], &again["request_id"]), (&told["signed_url"], &told["request_id"]));
        assert_eq!(service.balance(&customer).await.unwrap(), 9);
        for (name, value) in [("size", json!("large")), ("width", json!(513)), ("format", json!("png"))] {
            let mut wrong = mustang();
            wrong[name] = value;
            let refused = problem(&service, &customer, "get_car_image", wrong).await;
            assert_eq!((&refused["status"], &refused["parameter"]), (&json!(400), &json!(name)), "{refused}");
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 9, "what would not be seen is not paid for");
    }

    async fn a_named_call_is_charged_once(db: DatabaseChoice) {
        let mut service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::DeliverAfter(Duration::from_millis(300))).await.unwrap();
        let customer = service.customer(10).unwrap();
        let mut named = mustang();
        named["idempotency_key"] = json!("once");
        // While the image is rendered, and after it.
        let results = join_all((0..20).map(|_| call(&service, &customer, "get_car_image", named.clone()))).await;
        let mut charged = 0;
        for result in &results {
            let told = &result["structuredContent"];
            match result["isError"] == true {
                true => assert_eq!(told["code"], "idempotency_key_in_use", "{told}"),
                false => charged += told["credits_charged"].as_i64().unwrap(),
            }
        }
        assert_eq!(charged, 1);
        assert_eq!(service.balance(&customer).await.unwrap(), 9);
        service.kill();
        service.launch().await.unwrap();
        let replayed = call(&service, &customer, "get_car_image", named.clone()).await;
        assert_eq!(picture(&replayed).0.width(), 512);
        let told = &replayed["structuredContent"];
        assert_eq!((&told["replayed"], &told["credits_charged"], &told["credits_remaining"]), (&json!(true), &json!(0), &json!(9)));
        // An image that exists is charged in one entry, and the idempotency key is stored with that
        // as well.
        let mut other = mustang();
        other["idempotency_key"] = json!("twice");
        for charged in [1, 0, 0] {
            let told = good(&service, &customer, "get_car_image", other.clone()).await;
            assert_eq!(told["credits_charged"], charged, "{told}");
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 8);
        other["color"] = json!("blue");
        assert_eq!(problem(&service, &customer, "get_car_image", other.clone()).await["status"], 422);
        for wrong in [json!(""), json!([7]), json!("ü"), json!("x".repeat(256))] {
            other["idempotency_key"] = wrong;
            let refused = problem(&service, &customer, "get_car_image", other.clone()).await;
            assert_eq!((&refused["status"], &refused["parameter"]), (&json!(400), &json!("idempotency_key")));
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 8);
    }

    async fn signed_urls_are_one_charge(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let batch = json!({ "images": [mustang(), mustang(), mustang()], "ttl_seconds": 3600, "max_uses": 2, "idempotency_key": "page" });
        let made = good(&service, &customer, "create_car_image_urls", batch.clone()).await;
        assert_eq!(made["billing"], json!({ "charged_on": "creation", "credits_charged": 3, "credits_remaining": 7, "credits_per_url": 1 }));
        assert_eq!((made["data"].as_array().unwrap().len(), &made["replayed"]), (3, &json!(false)));
        let loaded = service.http.get(made["data"][2]["url"].as_str().unwrap()).send().await.unwrap();
        assert_eq!(loaded.status(), StatusCode::OK);
        let again = good(&service, &customer, "create_car_image_urls", batch).await;
        assert_eq!((&again["data"], &again["replayed"], &again["billing"]["credits_charged"]), (&made["data"], &json!(true), &json!(0)));
        let wrong = json!({ "images": [mustang(), { "make": "ford", "model": "nonesuch", "year": 2020 }] });
        let refused = problem(&service, &customer, "create_car_image_urls", wrong).await;
        assert_eq!((&refused["status"], &refused["index"]), (&json!(404), &json!(1)));
        let eight = json!({ "images": vec![mustang(); 8] });
        let refused = problem(&service, &customer, "create_car_image_urls", eight).await;
        assert_eq!((&refused["status"], &refused["balance"], &refused["required_credits"]), (&json!(402), &json!(7), &json!(8)));
        for (arguments, parameter) in [
            (json!({}), "images"),
            (json!({ "images": [] }), "images"),
            (json!({ "images": [mustang()], "ttl_seconds": 59 }), "ttl_seconds"),
            (json!({ "images": [mustang()], "colour": 1 }), "colour"),
        ] {
            let refused = problem(&service, &customer, "create_car_image_urls", arguments).await;
            assert_eq!((&refused["status"], &refused["parameter"]), (&json!(400), &json!(parameter)));
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 7);
    }

    async fn what_is_free_costs_nothing(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        let resolved = good(&service, &customer, "resolve_vehicle", json!({ "query": "red porsche 911 2024 side profile" })).await;
        assert_eq!((&resolved["data"]["confidence"], &resolved["data"]["params"]["view"]), (&json!("high"), &json!("side")));
        let found = good(&service, &customer, "search_vehicles", json!({ "q": "porsche 911", "year": 2020, "limit": 3 })).await;
        assert_eq!(found["data"]["results"][0]["model_slug"], "911");
        let years = good(&service, &customer, "search_vehicles", json!({ "make": "porsche", "model": "911" })).await;
        assert!(years["data"]["years"].as_array().unwrap().contains(&json!(2024)));
        let options = good(&service, &customer, "list_image_options", json!({})).await;
        assert_eq!(options["data"]["colors"].as_array().unwrap().len(), 15);
        let rows = json!({ "vehicles": [
            { "make": "volkswagen", "model": "golf", "year": "2015", "body": "estate" },
            { "make": "volkswagen", "model": "gollf", "year": 2015 },
            { "vin": "1HGCM82633A004352" }, { "vin": "1HGCM82633AO04352" }, { "year": 2015 },
        ] });
        let checked = good(&service, &customer, "check_vehicles", rows).await;
        let checked = &checked["data"]["vehicles"];
        let statuses: Vec<&Value> = checked.as_array().unwrap().iter().map(|row| &row["status"]).collect();
        assert_eq!(statuses, ["match", "suggestion", "match", "invalid", "invalid"], "{checked}");
        assert!(checked[0]["body"] == "wagon" && checked[0]["vehicle_id"].is_string() && checked[0]["decoded"].is_null(), "{checked}");
        let decoded = &checked[2]["decoded"];
        assert_eq!((&decoded["model"], &decoded["year"], &decoded["confidence"]), (&json!("accord"), &json!(2003), &json!("high")));
        assert_eq!(checked[3]["vin_suggestion"], "1HGCM82633A004352", "{checked}");
        let resolved = good(&service, &customer, "resolve_vehicle", json!({ "vin": "1HGCM82633A004352" })).await;
        assert_eq!(resolved["data"]["params"]["model"], "accord", "{resolved}");
        let account = good(&service, &customer, "get_account", json!({})).await;
        assert_eq!((&account["data"]["credits"], &account["data"]["key"]["id"]), (&json!(5), &json!(customer.key_id)));
        let described = call(&service, &customer, "describe_api", json!({})).await;
        let guide = described["structuredContent"]["guide"].as_str().unwrap();
        assert_eq!(described["content"][0]["text"], guide);
        assert!(guide.contains("1 credit") && guide.contains("`resolve_vehicle`: Free."), "{guide}");
        for (tool, arguments, status, parameter) in [
            ("resolve_vehicle", json!({}), 400, json!("query")),
            ("resolve_vehicle", json!({ "query": "x".repeat(201) }), 400, json!("query")),
            ("resolve_vehicle", json!({ "query": "qqxzzy wvvkkj" }), 404, Value::Null),
            ("resolve_vehicle", json!({ "query": "civic", "vin": "1HGCM82633A004352" }), 400, json!("vin")),
            ("resolve_vehicle", json!({ "vin": "1HGCM82633A004353" }), 422, Value::Null),
            ("check_vehicles", json!({}), 400, json!("vehicles")),
            ("check_vehicles", json!({ "vehicles": [] }), 400, json!("vehicles")),
            ("check_vehicles", json!({ "vehicles": vec![json!({ "query": "golf" }); 101] }), 400, json!("vehicles")),
            ("search_vehicles", json!({ "q": "a", "limit": 26 }), 400, json!("limit")),
            ("search_vehicles", json!({ "q": ["a"] }), 400, json!("q")),
            ("search_vehicles", json!({ "make": "nonesuch" }), 404, Value::Null),
            ("list_image_options", json!({ "x": 1 }), 400, json!("x")),
            ("get_account", json!({ "y": 1 }), 400, json!("y")),
            ("rate_image", json!({ "rating": 5 }), 400, json!("request_id")),
            ("rate_image", json!({ "request_id": "nobody's", "rating": 5 }), 404, Value::Null),
            ("get_car_image", json!({ "make": "ford", "model": "mustang" }), 400, json!("year")),
            ("get_car_image", json!({ "make": "ford", "model": "mustang", "year": "20x0" }), 400, json!("year")),
            ("get_car_image", json!({ "make": "ford", "model": "mustang", "year": 2020, "paint": "red" }), 400, json!("paint")),
            ("get_car_image", json!({ "make": "ford", "model": "mustang", "year": 2020, "colour": "octarine" }), 400, json!("color")),
            ("get_car_image", json!({ "make": "ford", "model": "mustang", "year": 2020, "padding": 5 }), 400, json!("padding")),
            ("get_car_image", json!({ "make": "ford", "model": "mustang", "year": 2020, "width": 300, "fit": "contain" }),
                400, json!("height")),
            ("get_car_image", json!({ "make": "ford", "model": "mustang", "year": 2020, "signed_url": 1 }), 400, json!("signed_url")),
            ("get_car_image", json!({ "make": "ford", "model": "mustong", "year": 2020 }), 404, Value::Null),
        ] {
            let refused = problem(&service, &customer, tool, arguments.clone()).await;
            assert_eq!((&refused["status"], &refused["parameter"]), (&json!(status), &parameter), "{tool} {arguments}: {refused}");
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 5);
        let unknown = ask(&service, &customer.key, "tools/call", json!({ "name": "buy_car", "arguments": {} })).await;
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
        let unknown = ask(&service, &customer.key, "tools/call", json!({ "name": 7 })).await;
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
        let unknown = ask(&service, &customer.key, "cars/list", json!({})).await;
        assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    }

    async fn credits_scopes_and_keys(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Fail(FailureKind::Model)).await.unwrap();
        let customer = service.customer(1).unwrap();
        let failed = problem(&service, &customer, "get_car_image", mustang()).await;
        assert_eq!((&failed["status"], &failed["code"]), (&json!(502), &json!("render_failed")));
        assert_eq!(service.account_at_rest(&customer).await.unwrap()["credits"], 1, "a failed render costs nothing");
        let mut with_url = mustang();
        with_url["signed_url"] = json!(true);
        with_url["idempotency_key"] = json!("tried again");
        for _ in 0..2 {
            // Each time its credit is given back, and with it the idempotency key.
            assert_eq!(problem(&service, &customer, "get_car_image", with_url.clone()).await["status"], 502);
            assert_eq!(service.account_at_rest(&customer).await.unwrap()["credits"], 1);
        }
        let poor = service.customer(0).unwrap();
        let refused = problem(&service, &poor, "get_car_image", mustang()).await;
        assert_eq!((&refused["status"], &refused["balance"], &refused["required_credits"]), (&json!(402), &json!(0), &json!(1)));
        assert!(refused["links"]["billing"].as_str().unwrap().starts_with(&service.base_url));

        let scoped = |scopes: &str| {
            let made = service.operator(&["key", "create", "--account", &customer.account_id, "--scopes", scopes]).unwrap();
            Customer { key: made["key"].as_str().unwrap().to_owned(), ..customer.clone() }
        };
        let (reader, looker) = (scoped("account:read"), scoped("images:read"));
        for (tool, arguments) in [("get_car_image", mustang()), ("create_car_image_urls", json!({ "images": [mustang()] }))] {
            let refused = problem(&service, &reader, tool, arguments).await;
            assert_eq!((&refused["status"], &refused["required_scope"]), (&json!(403), &json!("images:read")), "{tool}");
        }
        for (tool, arguments) in [
            ("resolve_vehicle", json!({ "query": "ford mustang" })),
            ("check_vehicles", json!({ "vehicles": [{ "query": "ford mustang" }] })),
            ("get_account", json!({})),
            ("rate_image", json!({ "request_id": "x", "rating": 1 })),
        ] {
            let refused = problem(&service, &looker, tool, arguments).await;
            assert_eq!((&refused["status"], &refused["required_scope"]), (&json!(403), &json!("account:read")), "{tool}");
        }
        good(&service, &looker, "search_vehicles", json!({ "q": "ford" })).await;

        let list = request(1, "tools/list", json!({}));
        let address = format!("{}/api/mcp", service.base_url);
        let wrong = "cyc_0000000000000000000000000000000000000000";
        for refused in [service.http.post(&address), service.http.post(&address).bearer_auth(wrong)] {
            let refused = refused.json(&list).send().await.unwrap();
            assert_eq!((refused.status(), &refused.headers()["www-authenticate"]), (StatusCode::UNAUTHORIZED, &"Bearer".parse().unwrap()));
            assert_eq!(code(refused).await.1, "unauthorized");
        }
        service.operator(&["key", "revoke", &customer.key_id]).unwrap();
        assert_eq!(post(&service, &customer.key).json(&list).send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    }

    async fn every_message_counts_against_the_limit(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let made = service.operator(&["key", "create", "--account", &customer.account_id, "--rate-limit", "4"]).unwrap();
        let key = made["key"].as_str().unwrap();
        let picture = request(1, "tools/call", json!({ "name": "get_car_image", "arguments": mustang() }));
        service.early_in_a_minute().await;
        for left in ["3", "2"] {
            let answer = post(&service, key).json(&picture).send().await.unwrap();
            assert_eq!((answer.status(), answer.headers()["ratelimit-remaining"].to_str().unwrap()), (StatusCode::OK, left));
        }
        // Three are one too many, so none of them is done.
        let limited = post(&service, key).json(&json!([picture, picture, picture])).send().await.unwrap();
        assert_eq!(limited.status(), StatusCode::TOO_MANY_REQUESTS);
        let wait: u64 = limited.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait));
        assert_eq!(code(limited).await, (429, "rate_limited".to_owned()));
        assert_eq!(service.balance(&customer).await.unwrap(), 8);
    }

    async fn arrays_streams_and_what_is_no_message(db: DatabaseChoice) {
        let service = Service::start_with(db, Options::default()).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let key = &customer.key;
        let picture = |id| request(id, "tools/call", json!({ "name": "get_car_image", "arguments": mustang() }));
        let notice = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let array = json!([request(7, "ping", json!({})), notice, picture(8), request(9, "nonesuch", json!({})), picture(10)]);
        let answer = post(&service, key).json(&array).send().await.unwrap();
        assert_eq!((answer.status(), &answer.headers()["content-type"]), (StatusCode::OK, &"application/json".parse().unwrap()));
        let answers: Vec<Value> = answer.json().await.unwrap();
        assert_eq!(answers.iter().map(|answer| answer["id"].as_u64().unwrap()).collect::<Vec<_>>(), [7, 8, 9, 10]);
        assert_eq!((&answers[0]["result"], &answers[2]["error"]["code"]), (&json!({}), &json!(-32601)));
        let ids: BTreeSet<&str> = [1, 3].map(|place: usize| answers[place]["result"]["structuredContent"]["request_id"].as_str().unwrap()).into();
        assert_eq!(ids.len(), 2, "each picture of an array is called by an id of its own");
        assert_eq!(service.balance(&customer).await.unwrap(), 8);

        let quiet = post(&service, key).json(&json!([notice, notice])).send().await.unwrap();
        assert_eq!((quiet.status(), quiet.text().await.unwrap()), (StatusCode::ACCEPTED, String::new()));
        let quiet = post(&service, key).json(&notice).send().await.unwrap();
        assert_eq!(quiet.status(), StatusCode::ACCEPTED);

        let address = format!("{}/api/mcp", service.base_url);
        let accepting = |accept: &str| service.http.post(&address).bearer_auth(key).header("accept", accept);
        let streamed = accepting("text/event-stream").json(&picture(3)).send().await.unwrap();
        assert_eq!((streamed.status(), &streamed.headers()["content-type"]), (StatusCode::OK, &"text/event-stream".parse().unwrap()));
        let text = streamed.text().await.unwrap();
        let data = text.lines().find_map(|line| line.strip_prefix("data: ").filter(|data| data.starts_with('{'))).unwrap();
        let event: Value = serde_json::from_str(data).unwrap();
        assert_eq!((&event["id"], &event["result"]["isError"]), (&json!(3), &json!(false)));
        let streamed = accepting("text/event-stream").json(&json!([request(1, "ping", json!({})), request(2, "ping", json!({}))])).send().await.unwrap();
        assert_eq!(streamed.text().await.unwrap().matches("data: {").count(), 2);
        assert_eq!(accepting("application/json").json(&request(1, "ping", json!({}))).send().await.unwrap().status(), StatusCode::OK);
        assert_eq!(code(accepting("text/html").json(&request(1, "ping", json!({}))).send().await.unwrap()).await, (406, "not_acceptable".to_owned()));

        for (body, error) in [("{", -32700), ("[]", -32600), ("7", -32600), ("{\"id\":1}", -32600)] {
            let answer = post(&service, key).header("content-type", "application/json").body(body).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
            assert_eq!(answer.json::<Value>().await.unwrap()["error"]["code"], error, "{body}");
        }
        let many = Value::Array((0..21).map(|id| request(id, "ping", json!({}))).collect());
        assert_eq!(post(&service, key).json(&many).send().await.unwrap().status(), StatusCode::BAD_REQUEST);
        let large = post(&service, key).header("content-type", "application/json").body(" ".repeat(129 * 1024)).send().await.unwrap();
        assert_eq!(code(large).await, (413, "body_too_large".to_owned()));
        let text = post(&service, key).header("content-type", "text/plain").body(picture(1).to_string()).send().await.unwrap();
        assert_eq!(code(text).await, (415, "unsupported_media_type".to_owned()));
        for method in [reqwest::Method::GET, reqwest::Method::DELETE] {
            let refused = service.http.request(method, &address).bearer_auth(key).send().await.unwrap();
            assert_eq!((refused.status(), &refused.headers()["allow"]), (StatusCode::METHOD_NOT_ALLOWED, &"POST".parse().unwrap()));
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 7);
    }

    async fn a_slow_picture_is_told_about(db: DatabaseChoice) {
        let mut service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::DeliverAfter(Duration::from_secs(4))).await.unwrap();
        let customer = service.customer(10).unwrap();
        let slow = |color: &str| {
            let arguments = json!({ "make": "ford", "model": "mustang", "year": 2020, "view": "rear", "color": color });
            request(1, "tools/call", json!({ "name": "get_car_image", "arguments": arguments, "_meta": { "progressToken": "mine" } }))
        };
        let streamed = post(&service, &customer.key).json(&slow("red")).send().await.unwrap();
        assert_eq!(streamed.headers()["content-type"], "text/event-stream");
        let text = streamed.text().await.unwrap();
        let events = text.lines().filter_map(|line| line.strip_prefix("data: ")).filter_map(|data| serde_json::from_str(data).ok());
        let events: Vec<Value> = events.collect();
        let [told @ .., answer] = events.as_slice() else { panic!("{text}") };
        assert!(!told.is_empty(), "{text}");
        for event in told {
            assert_eq!((&event["method"], &event["params"]["progressToken"]), (&json!("notifications/progress"), &json!("mine")));
        }
        assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(1), &json!(false)));
        // A client that accepts only JSON gets nothing else.
        let plain = service.http.post(format!("{}/api/mcp", service.base_url)).bearer_auth(&customer.key).header("accept", "application/json");
        let plain = plain.json(&slow("blue")).send().await.unwrap();
        assert_eq!(plain.headers()["content-type"], "application/json");
        assert_eq!(plain.json::<Value>().await.unwrap()["result"]["structuredContent"]["credits_remaining"], 8);
        // A service that must stop finishes the call first.
        let mut left = request(1, "tools/call", json!({ "name": "get_car_image", "arguments": { "make": "honda", "model": "civic", "year": 2018 } }));
        left["params"]["_meta"] = json!({ "progressToken": 1 });
        let mut streamed = post(&service, &customer.key).json(&left).send().await.unwrap();
        let first = streamed.chunk().await.unwrap().unwrap();
        assert!(String::from_utf8_lossy(&first).contains("notifications/progress"));
        let rest = async { streamed.text().await.unwrap() };
        let (stopped, rest) = tokio::join!(service.terminate(), rest);
        assert!(stopped.unwrap().success() && rest.contains("\"credits_remaining\":7"), "{rest}");
    }

    async fn only_our_own_pages_may_call_under_whatever_name(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(1).unwrap();
        let list = request(1, "tools/list", json!({}));
        let port = service.base_url.rsplit(':').next().unwrap();
        for (host, origin, expected) in [
            (None, None, (200, "")),
            (Some(format!("localhost:{port}")), None, (200, "")),
            (None, Some(service.base_url.clone()), (200, "")),
            (None, Some("http://localhost:6274".to_owned()), (200, "")),
            // A name by which one of our proxies calls the service. A request with a key does not
            // come from a page that was tricked into calling here.
            (Some("cyclorama:8080".to_owned()), None, (200, "")),
            (Some("10.0.0.5:8080".to_owned()), Some("http://127.0.0.1:9999".to_owned()), (200, "")),
            (Some("evil.example".to_owned()), Some("http://evil.example".to_owned()), (403, "origin_not_allowed")),
            (None, Some("https://evil.example".to_owned()), (403, "origin_not_allowed")),
            (None, Some("null".to_owned()), (403, "origin_not_allowed")),
        ] {
            let mut asked = post(&service, &customer.key).json(&list);
            if let Some(host) = &host {
                asked = asked.header("host", host);
            }
            if let Some(origin) = &origin {
                asked = asked.header("origin", origin);
            }
            let (status, told) = code(asked.send().await.unwrap()).await;
            assert_eq!((status, told.as_str()), expected, "{host:?} {origin:?}");
        }
    }

    async fn pages_that_may_call_may_read_what_they_are_told(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(1).unwrap();
        let address = format!("{}/api/mcp", service.base_url);
        let ask_first = |origin: &str| {
            let asked = service.http.request(reqwest::Method::OPTIONS, &address).header("origin", origin);
            asked.header("access-control-request-method", "POST")
                .header("access-control-request-headers", "authorization,content-type,mcp-protocol-version")
        };
        for origin in ["http://localhost:6274", "http://127.0.0.1:3000", &service.base_url] {
            let allowed = ask_first(origin).send().await.unwrap();
            assert_eq!(allowed.status(), StatusCode::NO_CONTENT, "{origin}");
            let told = |name: &str| allowed.headers()[name].to_str().unwrap().to_owned();
            assert_eq!(told("access-control-allow-origin"), *origin);
            assert_eq!(told("access-control-allow-methods"), "POST");
            for name in ["authorization", "content-type", "mcp-protocol-version"] {
                assert!(told("access-control-allow-headers").contains(name));
            }
            assert!(told("vary").to_ascii_lowercase().contains("origin"));
            // For answers and refusals, with and without a key.
            let list = request(1, "tools/list", json!({}));
            for (sent, status) in [
                (post(&service, &customer.key).json(&list), 200),
                (post(&service, &customer.key).body("{"), 400),
                (post(&service, "cyc_nobodys").json(&list), 401),
                (service.http.post(&address).json(&list), 401),
                (service.http.get(&address).bearer_auth(&customer.key), 405),
            ] {
                let answer = sent.header("origin", origin).send().await.unwrap();
                assert_eq!(answer.status(), status, "{origin}");
                assert_eq!(answer.headers()["access-control-allow-origin"], *origin);
                let exposed = answer.headers()["access-control-expose-headers"].to_str().unwrap().to_ascii_lowercase();
                for name in ["www-authenticate", "mcp-session-id", "retry-after", "x-request-id"] {
                    assert!(exposed.contains(name), "{exposed}");
                }
            }
        }
        for origin in ["https://evil.example", "null", "http://localhost.evil.example"] {
            let refused = ask_first(origin).send().await.unwrap();
            assert!(!refused.status().is_success() && !refused.headers().contains_key("access-control-allow-origin"));
            let refused = post(&service, &customer.key).json(&request(1, "ping", json!({}))).header("origin", origin).send().await.unwrap();
            assert_eq!(refused.status(), StatusCode::FORBIDDEN);
            assert!(!refused.headers().contains_key("access-control-allow-origin"));
            let problem: Value = refused.json().await.unwrap();
            assert!(problem["detail"].as_str().unwrap().contains(&service.base_url), "{problem}");
        }
    }

    async fn both_revisions(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        let key = &customer.key;
        // The older revision begins with a handshake, of which nothing is stored.
        for (asked, agreed) in [(OLD, OLD), ("2025-03-26", "2025-03-26"), ("1999-01-01", OLD)] {
            let params = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
            let answer = post(&service, key).json(&request(1, "initialize", params)).send().await.unwrap();
            assert!(!answer.headers().contains_key("mcp-session-id"));
            let answer: Value = answer.json().await.unwrap();
            let result = &answer["result"];
            assert_eq!((&result["protocolVersion"], &result["serverInfo"]["name"]), (&json!(agreed), &json!("cyclorama")), "{answer}");
            assert!(result["instructions"].as_str().unwrap().contains("spend credits"));
            assert!(result["capabilities"]["tools"].is_object() && result["resultType"].is_null());
        }
        let listed = ask(&service, key, "tools/list", json!({})).await["result"].clone();
        assert_eq!(listed["tools"].as_array().unwrap().len(), 9);
        assert!(listed["resultType"].is_null());

        // In the newer revision each request has everything, in the body and in headers.
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let new = |method: &str, name: Option<&str>, mut params: Value| {
            params["_meta"] = meta.clone();
            let asked = post(&service, key).header("mcp-protocol-version", NEW).header("mcp-method", method);
            let asked = name.into_iter().fold(asked, |asked, name| asked.header("mcp-name", name));
            asked.json(&request(1, method, params))
        };
        let discovered: Value = new("server/discover", None, json!({})).send().await.unwrap().json().await.unwrap();
        let result = &discovered["result"];
        assert_eq!(result["resultType"], "complete", "{discovered}");
        let versions = result["supportedVersions"].as_array().unwrap();
        assert!(versions.contains(&json!(OLD)) && versions.contains(&json!(NEW)), "{discovered}");
        assert!(result["ttlMs"].is_u64() && result["cacheScope"].is_string(), "{discovered}");
        let listed: Value = new("tools/list", None, json!({})).send().await.unwrap().json().await.unwrap();
        let result = &listed["result"];
        assert_eq!((&result["resultType"], &result["ttlMs"], &result["cacheScope"]), (&json!("complete"), &json!(3_600_000), &json!("private")));
        let called = new("tools/call", Some("get_account"), json!({ "name": "get_account", "arguments": {} }));
        let called: Value = called.send().await.unwrap().json().await.unwrap();
        assert_eq!((&called["result"]["resultType"], &called["result"]["structuredContent"]["data"]["credits"]), (&json!("complete"), &json!(5)));
        // The headers must agree with the body.
        let crossed = new("tools/call", Some("get_car_image"), json!({ "name": "get_account", "arguments": {} })).send().await.unwrap();
        assert_eq!(crossed.status(), StatusCode::BAD_REQUEST);
        let bare = post(&service, key).header("mcp-protocol-version", NEW).header("mcp-method", "tools/list");
        let bare = bare.json(&request(1, "tools/list", json!({}))).send().await.unwrap();
        assert_eq!(bare.status(), StatusCode::BAD_REQUEST);
        assert_eq!(bare.json::<Value>().await.unwrap()["error"]["code"], -32602);
    }
}
