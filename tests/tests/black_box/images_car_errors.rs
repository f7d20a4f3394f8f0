//! `GET /api/v1/images/car`: every possible mistake of a client, and the answer to it.

use cyclorama_tests::{DatabaseChoice, Service, on_both_databases};
use reqwest::{Response, StatusCode};
use serde_json::Value;

const CAR: &str = "/api/v1/images/car?make=porsche&model=911&year=2024";

/// Checks the parts that every problem document has, and returns its body.
async fn problem(answer: Response, status: StatusCode, code: Option<&str>) -> Value {
    assert_eq!(answer.status(), status, "{:?}", answer.url());
    let media_type = answer.headers()["content-type"].to_str().unwrap().to_owned();
    assert!(media_type.starts_with("application/problem+json"), "{media_type}");
    let request_id = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
    let body: Value = answer.json().await.unwrap();
    assert_eq!(body["status"], status.as_u16());
    assert_eq!(body["request_id"], request_id);
    assert!(body["type"].as_str().unwrap().ends_with(&format!("/docs/errors#{}", status.as_u16())), "{body}");
    assert!(!body["title"].as_str().unwrap().is_empty());
    assert!(!body["detail"].as_str().unwrap().is_empty());
    assert!(body["code"].is_string(), "{body}");
    if let Some(code) = code {
        assert_eq!(body["code"], code);
    }
    body
}

on_both_databases! {
    async fn wrong_parameters_are_named(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        // Query, and the parameter that the problem must name.
        let table = [
            ("model=911&year=2024", "make"),
            ("make=&model=911&year=2024", "make"),
            ("make=porsche&brand=porsche&model=911&year=2024", "brand"),
            ("make=porsche&year=2024", "model"),
            ("make=porsche&model=&year=2024", "model"),
            ("make=porsche&model=911", "year"),
            ("make=porsche&model=911&year=", "year"),
            ("make=porsche&model=911&year=twenty", "year"),
            ("make=porsche&model=911&year=1989", "year"),
            ("make=porsche&model=911&year=2028", "year"),
            ("make=porsche&model=911&year=-2024", "year"),
            ("make=porsche&model=911&year=2024.0", "year"),
            ("make=porsche&model=911&year=99999999999999999999", "year"),
            ("make=porsche&model=911&year=2024&view=top", "view"),
            ("make=porsche&model=911&year=2024&color=sparkling", "color"),
            ("make=porsche&model=911&year=2024&format=gif", "format"),
            ("make=porsche&model=911&year=2024&size=huge", "size"),
            ("make=porsche&model=911&year=2024&w=0", "w"),
            ("make=porsche&model=911&year=2024&w=1025", "w"),
            ("make=porsche&model=911&year=2024&h=0", "h"),
            ("make=porsche&model=911&year=2024&h=abc", "h"),
            ("make=porsche&model=911&year=2024&h=1e3", "h"),
            ("make=porsche&model=911&year=2024&response=xml", "response"),
            ("make=porsche&model=911&year=2024&view=side&view=rear", "view"),
        ];
        for (query, parameter) in table {
            let answer = service.get(&customer, &format!("/api/v1/images/car?{query}")).send().await.unwrap();
            let body = problem(answer, StatusCode::BAD_REQUEST, None).await;
            assert!(body["detail"].as_str().unwrap().contains(parameter), "{query}: {body}");
            let named = body["parameter"].as_str().unwrap();
            assert!(named == parameter || (parameter == "brand" && named == "make"), "{query}: {body}");
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 5);
    }

    async fn vehicles_that_are_not_in_the_catalog(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        for query in [
            "make=porshe&model=911&year=2024", "make=porsche&model=912345&year=2024", "make=porsche&model=911&year=2027",
            "make=tesla&model=model-3&year=1995", "make=%00&model=x&year=2024", "make=%F0%9F%9A%97&model=x&year=2024",
        ] {
            let answer = service.get(&customer, &format!("/api/v1/images/car?{query}")).send().await.unwrap();
            let body = problem(answer, StatusCode::NOT_FOUND, None).await;
            assert!(body["suggestions"].is_array(), "{query}: {body}");
        }
        let misspelt = service.get(&customer, "/api/v1/images/car?make=porshe&model=911&year=2024").send().await.unwrap();
        let body: Value = misspelt.json().await.unwrap();
        assert!(body["suggestions"].to_string().contains("porsche"), "{body}");
        assert_eq!(service.balance(&customer).await.unwrap(), 5);
    }

    async fn keys_that_do_not_open(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        let mut altered = customer.key.clone();
        let last = altered.pop().unwrap();
        altered.push(if last == 'a' { 'b' } else { 'a' });
        let made_up = format!("cyc_{}", "a".repeat(40));
        for key in [altered.as_str(), made_up.as_str(), "", "nonsense", "cyc_", "Bearer"] {
            let answer = service.visit(CAR).header("authorization", format!("Bearer {key}")).send().await.unwrap();
            assert_eq!(answer.headers()["www-authenticate"], "Bearer", "{key}");
            problem(answer, StatusCode::UNAUTHORIZED, None).await;
        }
        let without = service.visit(CAR).send().await.unwrap();
        assert_eq!(without.headers()["www-authenticate"], "Bearer");
        problem(without, StatusCode::UNAUTHORIZED, None).await;
        let in_query = service.visit(&format!("{CAR}&key={}", customer.key)).send().await.unwrap();
        problem(in_query, StatusCode::UNAUTHORIZED, None).await;

        service.operator(&["key", "revoke", &customer.key_id]).unwrap();
        let revoked = service.get(&customer, CAR).send().await.unwrap();
        problem(revoked, StatusCode::UNAUTHORIZED, None).await;
    }

    async fn a_key_without_the_scope(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(5).unwrap();
        let made = service
            .operator(&["key", "create", "--account", &customer.account_id, "--scopes", "account:read"])
            .unwrap();
        let answer = service.visit(CAR).bearer_auth(made["key"].as_str().unwrap()).send().await.unwrap();
        let body = problem(answer, StatusCode::FORBIDDEN, None).await;
        assert!(body["detail"].as_str().unwrap().contains("images:read"), "{body}");
    }

    async fn an_empty_balance(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(0).unwrap();
        let answer = service.get(&customer, CAR).send().await.unwrap();
        let link = answer.headers()["link"].to_str().unwrap().to_owned();
        assert!(link.contains("</pricing>") && link.contains("rel=payment"), "{link}");
        let body = problem(answer, StatusCode::PAYMENT_REQUIRED, None).await;
        assert_eq!(body["balance"], 0);
        assert_eq!(body["required_credits"], 1);
    }

    async fn the_rate_limit_is_exact(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(50).unwrap();
        let made = service
            .operator(&["key", "create", "--account", &customer.account_id, "--rate-limit", "5"])
            .unwrap();
        let key = made["key"].as_str().unwrap();
        // A window may end between two requests, so the test starts early in one.
        let second = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() % 60;
        if second > 50 {
            tokio::time::sleep(std::time::Duration::from_secs(61 - second)).await;
        }
        let mut allowed = 0;
        for n in 0..8 {
            // Errors count as well as images.
            let answer = service.visit("/api/v1/images/car?make=porsche").bearer_auth(key).send().await.unwrap();
            assert_eq!(answer.headers()["ratelimit-limit"], "5");
            if n < 5 {
                assert_eq!(answer.headers()["ratelimit-remaining"], (4 - n).to_string().as_str());
                assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
                allowed += 1;
            } else {
                let wait: u64 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
                assert!((1..=60).contains(&wait));
                problem(answer, StatusCode::TOO_MANY_REQUESTS, None).await;
            }
        }
        assert_eq!(allowed, 5);
        assert_eq!(service.balance(&customer).await.unwrap(), 50);
    }

    async fn unknown_paths_and_methods(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        problem(service.visit("/api/v1/nothing").send().await.unwrap(), StatusCode::NOT_FOUND, None).await;
        let posted = service.http.post(format!("{}{CAR}", service.base_url)).send().await.unwrap();
        problem(posted, StatusCode::METHOD_NOT_ALLOWED, None).await;
        let admin = service.http.get(format!("{}/admin/nodes", service.admin_url())).send().await.unwrap();
        assert_eq!(admin.status(), StatusCode::UNAUTHORIZED);
        let on_public = service.visit("/admin/nodes").send().await.unwrap();
        assert_eq!(on_public.status(), StatusCode::NOT_FOUND);
    }
}
