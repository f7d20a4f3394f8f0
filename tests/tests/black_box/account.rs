//! The account as its keys see it: balance, thirty days of use, the statement; and payments that
//! the operator enters.

use cyclorama_core::wire::FailureKind;
use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Service, on_both_databases};
use reqwest::StatusCode;
use serde_json::{Value, json};

const CIVIC: &str = "/api/v1/images/car?make=honda&model=civic&year=2018";

async fn account(service: &Service, customer: &Customer) -> Value {
    let answer = service.get(customer, "/api/v1/account").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(answer.headers().contains_key("ratelimit-remaining") && answer.headers().contains_key("ratelimit-policy"));
    assert_eq!(answer.headers()["cache-control"], "private, no-store");
    answer.json().await.unwrap()
}

on_both_databases! {
    async fn balance_prices_use_and_key(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(2_500).unwrap();
        let fresh = account(&service, &customer).await;
        assert_eq!(fresh["data"]["usage_30d"], json!({ "requests": 1, "images": 0, "cache_hit_rate": null, "credits_spent": 0 }));
        assert_eq!((&fresh["data"]["credits"], &fresh["data"]["credits_value_usd"]), (&json!(2500), &json!(2.5)));
        assert_eq!(fresh["data"]["key"], json!({ "id": customer.key_id, "scopes": ["images:read", "account:read", "billing:write"], "rate_limit_per_minute": 100_000 }));
        let pricing = &fresh["data"]["pricing"];
        assert_eq!((&pricing["credits_per_image"], &pricing["credits_per_dollar"], &pricing["packs"][0]), (&json!(1), &json!(1000), &json!({ "credits": 5000, "cents": 500 })));
        assert_eq!((&fresh["data"]["auto_reload"], &fresh["data"]["has_payment_method"]), (&json!(false), &json!(false)));
        assert!(fresh["links"]["pricing"].as_str().unwrap().ends_with("/pricing") && fresh["request_id"].is_string());

        // One cold, two from the cache, one known already, one wrong, one URL loaded twice.
        let first = service.get(&customer, CIVIC).send().await.unwrap();
        let etag = first.headers()["etag"].clone();
        for _ in 0..2 {
            service.get(&customer, CIVIC).send().await.unwrap();
        }
        service.get(&customer, CIVIC).header("if-none-match", etag).send().await.unwrap();
        service.get(&customer, "/api/v1/images/car?make=honda").send().await.unwrap();
        let made: Value = service.get(&customer, &format!("{CIVIC}&response=url")).send().await.unwrap().json().await.unwrap();
        for _ in 0..2 {
            service.http.get(made["data"]["url"].as_str().unwrap()).send().await.unwrap();
        }
        // A failed render costs nothing.
        drop(node);
        let _broken = FakeNode::join(&service, Behaviour::Fail(FailureKind::Model)).await.unwrap();
        let failed = service.get(&customer, &format!("{CIVIC}&view=rear")).send().await.unwrap();
        assert_eq!(failed.status(), StatusCode::BAD_GATEWAY);
        let used = account(&service, &customer).await;
        assert_eq!(used["data"]["credits"], 2496);
        assert_eq!(used["data"]["usage_30d"], json!({ "requests": 9, "images": 4, "cache_hit_rate": 0.75, "credits_spent": 4 }));
    }

    async fn the_statement_tells_every_change_as_json_and_csv(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        service.operator(&["account", "grant", &customer.account_id, "10", "--reason", "=sum(1), thanks"]).unwrap();
        // A payment is entered once, however often it is reported.
        let buy = |credits: &str, reference: &str| service.operator(&["account", "purchase", &customer.account_id, credits, "--reference", reference]);
        assert_eq!(buy("100", "bank-1").unwrap(), json!({ "credits": 115, "added": true }));
        assert_eq!(buy("100", "bank-1").unwrap(), json!({ "credits": 115, "added": false }));
        assert!(buy("200", "bank-1").is_err(), "the same payment with another amount");
        let other = service.customer(1).unwrap();
        assert!(service.operator(&["account", "purchase", &other.account_id, "100", "--reference", "bank-1"]).is_err());
        for _ in 0..2 {
            service.get(&customer, CIVIC).send().await.unwrap();
        }
        let page = |query: &str| service.get(&customer, &format!("/api/v1/account/statement{query}")).send();
        let all: Value = page("").await.unwrap().json().await.unwrap();
        let lines = all["data"].as_array().unwrap();
        let told: Vec<(&str, i64, i64)> = lines.iter().map(|line| (line["kind"].as_str().unwrap(), line["credits"].as_i64().unwrap(), line["balance"].as_i64().unwrap())).collect();
        assert_eq!(told, [("grant", 5, 5), ("grant", 10, 15), ("purchase", 100, 115), ("settle", -1, 114), ("debit", -1, 113)]);
        let about: Vec<Option<&str>> = lines[3..].iter().map(|line| line["reason"].as_str()).collect();
        assert_eq!(about, [Some("honda/civic/2018, front-3-4, silver"); 2]);
        assert_eq!((&lines[2]["reference"], &all["next_after"]), (&json!("bank-1"), &Value::Null));

        // In pages of two, each continuing the last.
        let (mut after, mut seen) = (String::new(), Vec::new());
        loop {
            let part: Value = page(&format!("?limit=2{after}")).await.unwrap().json().await.unwrap();
            seen.extend(part["data"].as_array().unwrap_or_else(|| panic!("{part}")).clone());
            match part["next_after"].as_str() {
                Some(id) => after = format!("&after={id}"),
                None => break,
            }
        }
        assert_eq!(&seen, lines);

        let csv = page("?format=csv").await.unwrap();
        assert_eq!(csv.headers()["content-type"], "text/csv; charset=utf-8");
        let text = csv.text().await.unwrap();
        assert!(text.starts_with("id,at,kind,credits,balance,reason,hold_id,delivery_url_id,reference,corrects\n"), "{text}");
        assert!(text.contains(",grant,10,15,\"'=sum(1), thanks\",,,,\n"), "{text}");
        let accepted = service.get(&customer, "/api/v1/account/statement").header("accept", "text/csv").send().await.unwrap();
        assert_eq!(accepted.text().await.unwrap(), text);
        let shown = service.operator(&["account", "statement", &customer.account_id]).unwrap();
        assert_eq!(&shown, &all["data"]);
        assert_eq!(service.operator_text(&["account", "statement", &customer.account_id, "--csv"]).unwrap(), text);
        // A statement has no entries of other accounts, and does not begin after one of theirs.
        let theirs: Value = service.get(&other, "/api/v1/account/statement").send().await.unwrap().json().await.unwrap();
        assert_eq!(theirs["data"].as_array().unwrap().len(), 1);
        let foreign = service.get(&other, &format!("/api/v1/account/statement?after={}", lines[0]["id"].as_str().unwrap())).send().await.unwrap();
        assert_eq!(foreign.status(), StatusCode::NOT_FOUND);
    }
}
