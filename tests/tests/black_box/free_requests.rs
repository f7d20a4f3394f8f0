//! Requests that cost nothing write nothing, and an account with many keys is one account.

use cyclorama_tests::service::Customer;
use cyclorama_tests::{DatabaseChoice, Options, Service, on_both_databases};
use futures::future::join_all;
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::time::Duration;

/// Tables to which a request could write.
const TABLES: [&str; 9] = [
    "holds",
    "ledger_entries",
    "deliveries",
    "delivery_urls",
    "idempotency_keys",
    "renders",
    "jobs",
    "meter_batches",
    "usage_daily",
];

async fn rows(service: &Service) -> Vec<i64> {
    let mut connection = service.database().await.unwrap();
    let mut counts = Vec::new();
    for table in TABLES {
        let sql = sqlx::AssertSqlSafe(format!("select count(*) from {table}"));
        counts.push(sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap());
    }
    counts
}

/// A key without a separate limit, as people make them.
fn usual_key(service: &Service, account_id: &str) -> String {
    let made = service.operator(&["key", "create", "--account", account_id]).unwrap();
    made["key"].as_str().unwrap().to_owned()
}

on_both_databases! {
    async fn requests_that_are_refused_leave_no_rows(db: DatabaseChoice) {
        let service = Service::start_with(db, Options::default().set("CYCLORAMA_RENDER_WAIT_SECONDS", 1)).await.unwrap();
        let customer = service.customer(3).unwrap();
        let poor = service.customer(0).unwrap();
        service.operator(&["budget", "set", "--usd-per-day", "0"]).unwrap();
        let ask = async |customer: &Customer, number: usize| {
            let year = 1990 + number % 30;
            let cold = service.get(customer, &format!("/api/v1/images/car?make=honda&model=civic&year={year}")).send().await.unwrap();
            let name = format!("name-{number}");
            let named = service.get(customer, "/api/v1/images/car?make=honda&model=civic&year=2018").header("idempotency-key", &name).send().await.unwrap();
            let unknown = service.get(customer, "/api/v1/images/car?make=nobody&model=x&year=2018").send().await.unwrap();
            let url = format!("{}/api/v1/image-urls", service.base_url);
            let image = json!({ "make": "honda", "model": "civic", "year": 2018 });
            let many: Vec<Value> = (0..5).map(|_| image.clone()).collect();
            let urls = service.http.post(url).bearer_auth(&customer.key).header("idempotency-key", &name);
            let urls = urls.json(&json!({ "images": many })).send().await.unwrap();
            [cold, named, unknown, urls].map(|answer| answer.status().as_u16())
        };
        // After this, each account has its row for the day.
        ask(&customer, 0).await;
        ask(&poor, 0).await;
        let before = rows(&service).await;
        for number in 1..6 {
            assert_eq!(ask(&customer, number).await, [503, 503, 404, 402]);
            assert_eq!(ask(&poor, number).await, [402, 402, 404, 402]);
        }
        let mut after = Vec::new();
        // The credit that is given back beside the answer takes a moment.
        for _ in 0..50 {
            after = rows(&service).await;
            if after == before {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(after, before, "{TABLES:?}");
        assert_eq!(service.balance(&customer).await.unwrap(), 3);
        let lines = service.operator(&["account", "statement", &customer.account_id]).unwrap();
        assert_eq!(lines.as_array().unwrap().len(), 1, "{lines}");
    }

    async fn keys_of_one_account_share_a_limit(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_RATE_LIMIT_PER_MINUTE", 6).set("CYCLORAMA_ACCOUNT_RATE_LIMIT_PER_MINUTE", 15);
        let service = Service::start_with(db, options).await.unwrap();
        service.early_in_a_minute().await;
        let customer = service.customer(10).unwrap();
        let keys: Vec<String> = (0..5).map(|_| usual_key(&service, &customer.account_id)).collect();
        let get = |key: &str| service.visit("/api/v1/account").bearer_auth(key).send();
        let answers = join_all(keys.iter().flat_map(|key| (0..6).map(move |_| key)).map(|key| get(key))).await;
        let mut statuses = Vec::new();
        for answer in answers {
            let answer = answer.unwrap();
            statuses.push(answer.status());
            // Its fields are those of the key, as always.
            assert_eq!(answer.headers()["ratelimit-limit"], "6");
            if answer.status() == StatusCode::TOO_MANY_REQUESTS {
                assert!(answer.headers().contains_key("retry-after"));
                let told: Value = answer.json().await.unwrap();
                assert_eq!((&told["code"], &told["limited"], &told["limit_per_minute"]), (&json!("rate_limited"), &json!("account"), &json!(15)), "{told}");
                assert!(told["detail"].as_str().unwrap().contains("account"), "{told}");
            }
        }
        assert_eq!(statuses.iter().filter(|status| **status == StatusCode::OK).count(), 15, "{statuses:?}");
        // A key's own limit is named as such. A key that was given a limit, and other accounts, are
        // not counted in it.
        let over: Value = get(&keys[0]).await.unwrap().json().await.unwrap();
        assert_eq!((&over["limited"], &over["limit_per_minute"]), (&json!("key"), &json!(6)), "{over}");
        assert_eq!(get(&customer.key).await.unwrap().status(), StatusCode::OK);
        let other = service.customer(10).unwrap();
        assert_eq!(get(&usual_key(&service, &other.account_id)).await.unwrap().status(), StatusCode::OK);
    }
}
