//! PostgreSQL that answers but cannot be written: after a failover, or while an operator has made
//! it read-only.

use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Service};
use reqwest::{Response, StatusCode};
use serde_json::json;
use std::time::Duration;

const CAR: &str = "/api/v1/images/car?make=honda&model=civic&year=2018";

/// Runs a statement about the service's database from another database of the same server, which
/// can be written.
async fn beside(service: &Service, statement: &str) {
    let (server, name) = service.database_url().rsplit_once('/').unwrap();
    let mut connection =
        <sqlx::AnyConnection as sqlx::Connection>::connect(&format!("{server}/postgres")).await.unwrap();
    let statement = statement.replace("{name}", name);
    sqlx::Executor::execute(&mut connection, sqlx::AssertSqlSafe(statement)).await.unwrap();
}

const READ_ONLY: &str = "alter database {name} set default_transaction_read_only = on";
const WRITABLE: &str = "alter database {name} set default_transaction_read_only = off";
const END_SESSIONS: &str = "select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'";

async fn readiness_becomes(service: &Service, expected: StatusCode) {
    let mut status = StatusCode::IM_A_TEAPOT;
    for _ in 0..100 {
        status = service.visit("/readyz").send().await.unwrap().status();
        if status == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("/readyz stayed {status}\n{}", service.log());
}

/// One request of each kind that writes, or reads on behalf of an account.
async fn all(service: &Service, customer: &Customer) -> Vec<(&'static str, Response)> {
    let at = |path: &str| format!("{}{path}", service.base_url);
    let post = |path: &str| service.http.post(at(path)).bearer_auth(&customer.key);
    let vehicle = json!({"make": "honda", "model": "civic", "year": 2018});
    let report = json!({"make": "honda", "model": "civic", "year": 2018, "verdict": "good"});
    let operator = service.operator_token().unwrap();
    let admin = |path: &str| service.http.post(format!("{}{path}", service.admin_url())).bearer_auth(&operator);
    let key = uuid::Uuid::now_v7().to_string();
    let requests = [
        ("a picture", service.get(customer, CAR)),
        ("an address", service.get(customer, &format!("{CAR}&response=url"))),
        ("addresses", post("/api/v1/image-urls").json(&vehicle)),
        ("addresses, named", post("/api/v1/image-urls").header("idempotency-key", key).json(&vehicle)),
        ("resolve", post("/api/v1/images/resolve").json(&json!({"query": "vw golf"}))),
        ("feedback", post("/api/v1/feedback").json(&report)),
        ("account", service.get(customer, "/api/v1/account")),
        ("checkout", post("/api/v1/billing/checkout").json(&json!({"credits": 5000}))),
        ("a device's code", service.http.post(at("/api/auth/device/code"))),
        (
            "an operator's account",
            admin("/admin/accounts").json(&json!({"email": format!("{}@example.com", uuid::Uuid::now_v7())})),
        ),
        ("an operator's node token", admin("/admin/node-tokens").json(&json!({"name": "n"}))),
        ("a signing key", admin("/admin/signing-keys/rotate")),
    ];
    let mut answers = Vec::new();
    for (name, request) in requests {
        answers.push((name, request.timeout(Duration::from_secs(30)).send().await.unwrap()));
    }
    answers
}

async fn scenario(ends_sessions: bool) {
    let service = Service::start(DatabaseChoice::Postgres).await.unwrap();
    let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
    let customer = service.customer(1000).unwrap();
    for (name, answer) in all(&service, &customer).await {
        assert!(answer.status().is_success(), "{name}: {} {}", answer.status(), answer.text().await.unwrap());
    }
    beside(&service, READ_ONLY).await;
    if ends_sessions {
        beside(&service, END_SESSIONS).await;
        readiness_becomes(&service, StatusCode::SERVICE_UNAVAILABLE).await;
    }
    for _ in 0..3 {
        for (name, answer) in all(&service, &customer).await {
            let (status, headers) = (answer.status(), answer.headers().clone());
            let body = answer.text().await.unwrap();
            if !ends_sessions && status.is_success() {
                continue;
            }
            assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{name}: {body}");
            assert!(headers.contains_key("retry-after") && body.contains("dependency_down"), "{name}: {body}");
        }
    }
    // Sessions that were opened meanwhile are not closed.
    beside(&service, WRITABLE).await;
    readiness_becomes(&service, StatusCode::OK).await;
    let rounds = (0..8).map(|_| all(&service, &customer));
    for (name, answer) in futures::future::join_all(rounds).await.into_iter().flatten() {
        assert!(answer.status().is_success(), "{name}: {} {}", answer.status(), answer.text().await.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_turns_read_only_is_told_and_comes_back_by_itself() {
    scenario(true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_were_opened_while_it_was_read_only_are_not_kept() {
    scenario(false).await;
}
