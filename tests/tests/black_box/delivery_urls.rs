//! Signed URLs: `POST /api/v1/image-urls`, `response=url`, and `/api/v1/delivery/{token}`.

use cyclorama_core::wire::FailureKind;
use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Options, Service, on_both_databases};
use futures::future::join_all;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::Duration;

async fn make(service: &Service, customer: &Customer, body: &Value) -> Response {
    let address = format!("{}/api/v1/image-urls", service.base_url);
    service.http.post(address).bearer_auth(&customer.key).json(body).send().await.unwrap()
}

fn mustang(color: &str) -> Value {
    json!({ "make": "Ford", "model": "Mustang", "year": 2020, "color": color, "width": 256, "format": "webp" })
}

/// One URL for a red Mustang on these terms.
async fn one(service: &Service, customer: &Customer, terms: Value) -> String {
    let mut body = terms;
    body["images"] = json!([mustang("red")]);
    let answer = make(service, customer, &body).await;
    assert_eq!(answer.status(), StatusCode::CREATED);
    let body: Value = answer.json().await.unwrap();
    body["data"][0]["url"].as_str().unwrap().to_owned()
}

async fn load(service: &Service, url: &str) -> Response {
    service.http.get(url).send().await.unwrap()
}

async fn code(answer: Response) -> (u16, String) {
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.unwrap();
    assert_eq!(body["status"], status, "{body}");
    (status, body["code"].as_str().unwrap().to_owned())
}

on_both_databases! {
    async fn one_image_is_one_address_for_one_credit(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let answer = make(&service, &customer, &mustang("red")).await;
        assert_eq!(answer.status(), StatusCode::CREATED);
        assert!(answer.headers().contains_key("ratelimit-remaining"));
        let request_id = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["request_id"], request_id.as_str());
        assert_eq!(
            body["billing"],
            json!({ "charged_on": "creation", "credits_charged": 1, "credits_remaining": 9, "credits_per_url": 1 })
        );
        let made = &body["data"][0];
        assert_eq!(
            made["vehicle"],
            json!({ "make": "ford", "model": "mustang", "year": 2020, "vehicle_id": "cyv_rqynmds6sm2ts", "body": "coupe",
                    "likeness": "model", "view": "front-3-4",
                    "color": "red", "format": "webp", "width": 256 })
        );
        assert_eq!(made["max_uses"], 0);
        uuid::Uuid::parse_str(made["id"].as_str().unwrap()).unwrap();
        let url = made["url"].as_str().unwrap();
        assert!(!url.contains(&customer.account_id) && !url.contains(&customer.key_id) && !url.contains("cyc_"), "{url}");

        let first = load(&service, url).await;
        assert_eq!(first.status(), StatusCode::OK);
        assert_eq!(first.headers()["content-type"], "image/webp");
        assert_eq!(first.headers()["x-image-source"], "generated");
        assert_eq!((&first.headers()["x-image-width"], &first.headers()["x-image-height"]), (&"256".parse().unwrap(), &"256".parse().unwrap()));
        let cache = first.headers()["cache-control"].to_str().unwrap();
        let shared: u32 = cache.strip_prefix("public, max-age=300, s-maxage=").unwrap().parse().unwrap();
        assert!((3500..3600).contains(&shared), "never longer than the address lives: {shared}");
        assert!(!first.headers().contains_key("x-credits-charged"));
        let etag = first.headers()["etag"].to_str().unwrap().to_owned();
        let bytes = first.bytes().await.unwrap();
        for _ in 0..3 {
            let again = load(&service, url).await;
            assert_eq!(again.headers()["x-image-source"], "cache");
            assert_eq!(again.bytes().await.unwrap(), bytes);
        }
        for given in [etag.clone(), format!("W/{etag}"), format!("\"x\", {etag}"), "*".to_owned()] {
            let known = service.http.get(url).header("if-none-match", given).send().await.unwrap();
            assert_eq!(known.status(), StatusCode::NOT_MODIFIED);
            assert_eq!(known.headers()["etag"], etag.as_str());
            assert!(known.bytes().await.unwrap().is_empty());
        }
        let head = service.http.head(url).send().await.unwrap();
        assert_eq!((head.status(), &head.headers()["content-type"]), (StatusCode::OK, &"image/webp".parse().unwrap()));
        assert_eq!(service.balance(&customer).await.unwrap(), 9, "loads are free");
    }

    async fn an_address_is_not_rendered_before_its_first_load(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let query = "/api/v1/images/car?make=ford&model=mustang&year=2020&h=300&format=jpeg";
        let asked = [service.get(&customer, &format!("{query}&response=url")), service.get(&customer, query).header("accept", "application/json")];
        for asked in asked {
            let answer = asked.send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK);
            assert_eq!(answer.headers()["x-credits-charged"], "1");
            let body: Value = answer.json().await.unwrap();
            let data = &body["data"];
            assert_eq!((&data["width"], &data["height"], &data["format"], &data["max_uses"]), (&json!(300), &json!(300), &json!("jpg"), &json!(0)));
            assert_eq!(data["vehicle"]["height"], 300);
            assert_eq!(body["billing"]["credits_charged"], 1);
            let url = data["url"].as_str().unwrap();
            let head = service.http.head(url).send().await.unwrap();
            assert_eq!(head.headers()["content-type"], "image/jpeg");
        }
        assert_eq!(node.renders.load(Ordering::SeqCst), 0);
        assert_eq!(service.balance(&customer).await.unwrap(), 8);
    }

    async fn a_batch_is_one_debit_or_none(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(3).unwrap();
        let batch = |colors: &[&str]| json!({ "images": colors.iter().map(|color| mustang(color)).collect::<Vec<_>>() });
        let four = make(&service, &customer, &batch(&["red", "blue", "white", "black"])).await;
        assert_eq!(four.status(), StatusCode::PAYMENT_REQUIRED);
        let body: Value = four.json().await.unwrap();
        assert_eq!((&body["balance"], &body["required_credits"]), (&json!(3), &json!(4)));
        assert_eq!(service.balance(&customer).await.unwrap(), 3, "all or nothing");
        let mut wrong = batch(&["red", "blue"]);
        wrong["images"][1]["model"] = json!("Nonesuch");
        let answer = make(&service, &customer, &wrong).await;
        assert_eq!(answer.status(), StatusCode::NOT_FOUND);
        assert_eq!(answer.json::<Value>().await.unwrap()["index"], 1);
        wrong["images"][0]["year"] = json!(1989);
        let answer = make(&service, &customer, &wrong).await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
        let body: Value = answer.json().await.unwrap();
        assert_eq!((&body["index"], &body["parameter"]), (&json!(0), &json!("year")));
        assert_eq!(service.balance(&customer).await.unwrap(), 3);
        let three = make(&service, &customer, &batch(&["red", "blue", "white"])).await;
        assert_eq!(three.status(), StatusCode::CREATED);
        let body: Value = three.json().await.unwrap();
        let urls = body["data"].as_array().unwrap();
        assert_eq!(urls.len(), 3);
        assert_eq!(urls.iter().map(|url| url["vehicle"]["color"].as_str().unwrap()).collect::<Vec<_>>(), ["red", "blue", "white"]);
        assert_eq!(service.balance(&customer).await.unwrap(), 0);
    }

    async fn two_hundred_loads_of_an_address_with_ten_uses(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::DeliverAfter(Duration::from_millis(200))).await.unwrap();
        let customer = service.customer(5).unwrap();
        let url = one(&service, &customer, json!({ "max_uses": 10 })).await;
        let answers = join_all((0..200).map(|_| service.http.get(&url).send())).await;
        let mut pictures = 0;
        for answer in answers {
            let answer = answer.unwrap();
            match answer.status() {
                StatusCode::OK => {
                    assert_eq!(answer.headers()["cache-control"], "private, no-store");
                    pictures += 1;
                }
                StatusCode::GONE => assert_eq!(code(answer).await.1, "delivery_url_exhausted"),
                other => panic!("{other}: {}", answer.text().await.unwrap()),
            }
        }
        assert_eq!(pictures, 10);
        assert_eq!(node.renders.load(Ordering::SeqCst), 1);
        assert_eq!(service.http.head(&url).send().await.unwrap().status(), StatusCode::GONE);
        assert_eq!(service.balance(&customer).await.unwrap(), 4);
    }

    async fn a_head_and_a_known_picture_use_nothing_up(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        let url = one(&service, &customer, json!({ "max_uses": 2 })).await;
        let first = load(&service, &url).await;
        let etag = first.headers()["etag"].clone();
        for _ in 0..5 {
            assert_eq!(service.http.head(&url).send().await.unwrap().status(), StatusCode::OK);
            let known = service.http.get(&url).header("if-none-match", etag.clone()).send().await.unwrap();
            assert_eq!(known.status(), StatusCode::NOT_MODIFIED);
        }
        assert_eq!(load(&service, &url).await.status(), StatusCode::OK);
        assert_eq!(code(load(&service, &url).await).await, (410, "delivery_url_exhausted".to_owned()));
    }

    async fn a_failed_first_load_gives_its_credit_back_once(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Fail(FailureKind::Internal)).await.unwrap();
        let customer = service.customer(5).unwrap();
        let url = one(&service, &customer, json!({})).await;
        assert_eq!(service.balance(&customer).await.unwrap(), 4);
        for answer in join_all((0..8).map(|_| service.http.get(&url).send())).await {
            let answer = answer.unwrap();
            assert!([StatusCode::BAD_GATEWAY, StatusCode::GONE].contains(&answer.status()), "{}", answer.status());
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 5, "once");
        drop(node);
        let _better = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        assert_eq!(code(load(&service, &url).await).await, (410, "delivery_url_consumed".to_owned()));
        assert_eq!(service.balance(&customer).await.unwrap(), 5);
    }

    async fn trouble_that_passes_uses_nothing_up(db: DatabaseChoice) {
        let service = Service::start_with(db, Options::default().set("CYCLORAMA_RENDER_WAIT_SECONDS", 4)).await.unwrap();
        let customer = service.customer(5).unwrap();
        let url = one(&service, &customer, json!({ "max_uses": 1 })).await;
        assert_eq!(code(load(&service, &url).await).await, (503, "at_capacity".to_owned()));
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        assert_eq!(load(&service, &url).await.status(), StatusCode::OK);
        assert_eq!(service.balance(&customer).await.unwrap(), 4);
    }

    async fn an_address_ends_with_its_time_its_key_or_one_changed_letter(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        let url = one(&service, &customer, json!({})).await;
        assert_eq!(load(&service, &url).await.status(), StatusCode::OK);
        let (changed, last) = url.split_at(url.len() - 10);
        let last: String = last.chars().rev().collect();
        assert_eq!(code(load(&service, &format!("{changed}{last}")).await).await, (403, "delivery_url_invalid".to_owned()));
        assert_eq!(code(load(&service, &format!("{}/api/v1/delivery/nonsense", service.base_url)).await).await.0, 403);

        service.operator(&["signing-key", "rotate"]).unwrap();
        assert_eq!(load(&service, &url).await.status(), StatusCode::OK, "an old signature stays good");
        let newer = one(&service, &customer, json!({})).await;
        assert_eq!(load(&service, &newer).await.status(), StatusCode::OK);

        service.operator(&["key", "revoke", &customer.key_id]).unwrap();
        for url in [&url, &newer] {
            assert_eq!(code(load(&service, url).await).await, (403, "delivery_url_revoked".to_owned()));
            assert_eq!(service.http.head(url).send().await.unwrap().status(), StatusCode::FORBIDDEN);
        }
    }

    async fn addresses_survive_a_restart(db: DatabaseChoice) {
        let mut service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        let url = one(&service, &customer, json!({ "max_uses": 2 })).await;
        assert_eq!(load(&service, &url).await.status(), StatusCode::OK);
        drop(node);
        service.kill();
        service.launch().await.unwrap();
        let path = url.split_once("/api/").unwrap().1;
        let url = format!("{}/api/{path}", service.base_url);
        assert_eq!(load(&service, &url).await.status(), StatusCode::OK);
        assert_eq!(code(load(&service, &url).await).await.0, 410);
        assert_eq!(service.balance(&customer).await.unwrap(), 4);
    }
}
