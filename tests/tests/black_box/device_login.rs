//! Device login: the code, the approval by a person, and the key, which is sent once.

use cyclorama_tests::{Behaviour, Browser, DatabaseChoice, FakeNode, Service, on_both_databases, secrets};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;

async fn start(service: &Service, client_name: &str) -> Value {
    let body = json!({ "client_name": client_name });
    let answer =
        service.http.post(format!("{}/api/auth/device/code", service.base_url)).json(&body).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::CREATED);
    assert_eq!(answer.headers()["ratelimit-limit"], "20");
    let started: Value = answer.json().await.unwrap();
    secrets::note(started["device_code"].as_str().unwrap());
    started
}

async fn poll(service: &Service, body: &Value) -> Response {
    service.http.post(format!("{}/api/auth/device/token", service.base_url)).json(body).send().await.unwrap()
}

/// Status and `error` of a poll.
async fn error(service: &Service, body: &Value) -> (u16, String) {
    let answer = poll(service, body).await;
    let status = answer.status().as_u16();
    assert!(answer.headers()["content-type"].to_str().unwrap().starts_with("application/json"));
    let document: Value = answer.json().await.unwrap();
    assert!(document["request_id"].is_string(), "{document}");
    (status, document["error"].as_str().unwrap().to_owned())
}

fn code_of(started: &Value) -> Value {
    json!({ "device_code": started["device_code"] })
}

async fn person(service: &Service) -> Browser {
    let mut browser = Browser::new(service);
    let page = browser.sign_up(&format!("{}@example.com", uuid::Uuid::now_v7()), "a long password").await.unwrap();
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.text());
    browser
}

on_both_databases! {
    async fn a_tool_gets_a_key_that_a_person_approved(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        service.early_in_a_minute().await;
        let started = start(&service, "Ada's <b>laptop</b>").await;
        let user_code = started["user_code"].as_str().unwrap().to_owned();
        assert_eq!((user_code.len(), &user_code[4..5]), (9, "-"));
        assert_eq!((&started["expires_in"], &started["interval"]), (&json!(600), &json!(3)));
        assert_eq!(started["verification_uri"], format!("{}/device", service.base_url));
        let complete = started["verification_uri_complete"].as_str().unwrap().to_owned();
        assert_eq!(complete, format!("{}/device?user_code={user_code}", service.base_url));

        // Nobody has decided. Polling again at once is too soon, and costs only the wait.
        let body = code_of(&started);
        assert_eq!(error(&service, &body).await, (400, "authorization_pending".to_owned()));
        let hasty = poll(&service, &body).await;
        assert_eq!(hasty.status(), StatusCode::TOO_MANY_REQUESTS);
        let wait: u64 = hasty.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=3).contains(&wait));
        assert_eq!(hasty.json::<Value>().await.unwrap()["error"], "slow_down");
        tokio::time::sleep(Duration::from_secs(wait)).await;
        assert_eq!(error(&service, &body).await, (400, "authorization_pending".to_owned()));

        // A person opens the page, signs up on the way, and comes back to the question.
        let mut browser = Browser::new(&service);
        let sent_away = browser.get(&complete).await.unwrap();
        assert_eq!(sent_away.status, StatusCode::SEE_OTHER);
        let way = sent_away.location().replace("/sign-in", "/sign-up");
        let back = browser.submit(&way, "/sign-up", &[("email", "ada@example.com"), ("password", "a long password")]).await.unwrap();
        assert_eq!(back.location(), format!("/device?user_code={user_code}"));
        let question = browser.get(back.location()).await.unwrap();
        assert!(question.html.contains("Ada&#x27;s &lt;b&gt;laptop"), "{}", question.html);
        for told in [&*user_code, "images:read", "account:read", "billing:write", "ada@example.com"] {
            assert!(question.text().contains(told), "{told}: {}", question.text());
        }
        let approved = browser.submit(back.location(), "/device", &[("decision", "approve")]).await.unwrap();
        assert_eq!(approved.status, StatusCode::OK, "{}", approved.text());
        assert!(approved.text().contains("Approved"), "{}", approved.text());
        let again = browser.get(back.location()).await.unwrap();
        assert_eq!(again.status, StatusCode::NOT_FOUND, "decided once");

        // The next poll returns the key, even if it comes early, and no later poll does.
        let answer = poll(&service, &body).await;
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.headers()["cache-control"], "no-store");
        let handed: Value = answer.json().await.unwrap();
        let key = handed["access_token"].as_str().unwrap().to_owned();
        secrets::note(&key);
        assert_eq!((&handed["token_type"], &handed["scope"]), (&json!("Bearer"), &json!("images:read account:read billing:write")));
        assert_eq!(error(&service, &body).await, (400, "expired_token".to_owned()));
        let account: Value = service.visit("/api/v1/account").bearer_auth(&key).send().await.unwrap().json().await.unwrap();
        assert_eq!(account["data"]["credits"], 100);
        let picture = service.visit("/api/v1/images/car?make=honda&model=civic&year=2018").bearer_auth(&key).send().await.unwrap();
        assert_eq!((picture.status(), &picture.headers()["x-credits-remaining"]), (StatusCode::OK, &"99".parse().unwrap()));
    }

    async fn denied_unknown_and_malformed(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let mut browser = person(&service).await;
        let started = start(&service, "").await;
        let user_code = started["user_code"].as_str().unwrap().to_owned();
        // The code is typed by hand, in any spelling.
        let typed = user_code.to_lowercase().replace('-', "+");
        let path = format!("/device?user_code={typed}");
        assert!(browser.get(&path).await.unwrap().text().contains("device login"), "its name when it gave none");
        let denied = browser.submit(&path, "/device", &[("decision", "deny")]).await.unwrap();
        assert!(denied.text().contains("Denied"), "{}", denied.text());
        assert_eq!(error(&service, &code_of(&started)).await, (400, "expired_token".to_owned()));
        assert_eq!(browser.get("/device?user_code=ZZZZ-ZZZZ").await.unwrap().status, StatusCode::NOT_FOUND);

        for body in [json!({}), json!({ "device_code": 7 }), json!({ "device_code": "cycd_invented" }), json!([])] {
            assert_eq!(error(&service, &body).await, (400, "invalid_request".to_owned()), "{body}");
        }
        // Requests as forms, which OAuth clients send.
        let post = |path: &str| service.http.post(format!("{}/api/auth/device/{path}", service.base_url));
        let answer = post("code").form(&[("client_id", "x"), ("client_name", "by form")]).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::CREATED);
        let started: Value = answer.json().await.unwrap();
        let device_code = started["device_code"].as_str().unwrap();
        let answer = post("token").form(&[("device_code", device_code)]).send().await.unwrap();
        assert_eq!(answer.json::<Value>().await.unwrap()["error"], "authorization_pending");
        assert_eq!(post("code").send().await.unwrap().status(), StatusCode::CREATED, "no body at all");
        let long = post("code").json(&json!({ "client_name": "x".repeat(81) })).send().await.unwrap();
        assert_eq!(long.status(), StatusCode::BAD_REQUEST);
        assert_eq!(long.json::<Value>().await.unwrap()["parameter"], "client_name");
        assert_eq!(post("code").body("x".repeat(5000)).send().await.unwrap().status(), StatusCode::PAYLOAD_TOO_LARGE);
    }

    async fn a_device_that_asks_for_less_gets_less(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let mut browser = person(&service).await;
        let post = |path: &str| service.http.post(format!("{}/api/auth/device/{path}", service.base_url));
        const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
        for (scope, meaning) in [("images:read", "Get images"), ("account:read", "Read your balance")] {
            let started = post("code").form(&[("client_id", "x"), ("scope", scope)]).send().await.unwrap();
            assert_eq!(started.status(), StatusCode::CREATED);
            let started: Value = started.json().await.unwrap();
            let device_code = started["device_code"].as_str().unwrap();
            cyclorama_tests::secrets::note(device_code);
            let page = format!("/device?user_code={}", started["user_code"].as_str().unwrap());
            let asked = browser.get(&page).await.unwrap().text();
            assert!(asked.contains(meaning) && !asked.contains("Open payment pages"), "{asked}");
            browser.submit(&page, "/device", &[("decision", "approve")]).await.unwrap();
            // A grant of another kind is not accepted as a poll.
            for grant_type in ["password", "refresh_token", ""] {
                let form = [("device_code", device_code), ("grant_type", grant_type)];
                let refused = post("token").form(&form).send().await.unwrap();
                assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{grant_type}");
                assert_eq!(refused.json::<Value>().await.unwrap()["error"], "invalid_request");
            }
            let form = [("device_code", device_code), ("grant_type", GRANT)];
            let key: Value = post("token").form(&form).send().await.unwrap().json().await.unwrap();
            assert_eq!(key["scope"], scope, "{key}");
            let key = key["access_token"].as_str().unwrap();
            cyclorama_tests::secrets::note(key);
            let pays = service.http.post(format!("{}/api/v1/billing/portal", service.base_url)).bearer_auth(key).send();
            assert_eq!(pays.await.unwrap().status(), StatusCode::FORBIDDEN, "{scope}");
        }
        for scope in ["openid", "images:read images:write"] {
            let refused = post("code").json(&json!({ "scope": scope })).send().await.unwrap();
            assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{scope}");
            let refused: Value = refused.json().await.unwrap();
            assert_eq!((&refused["code"], &refused["parameter"]), (&json!("invalid_scope"), &json!("scope")), "{refused}");
        }
    }

    async fn nobody_decides_for_another_person(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let (mut ada, mut mallory) = (person(&service).await, person(&service).await);
        let started = start(&service, "tool").await;
        let user_code = started["user_code"].as_str().unwrap().to_owned();
        let page = format!("/device?user_code={user_code}");
        // Mallory cannot have Ada's browser approve Mallory's device.
        let token = mallory.get(&page).await.unwrap().field("csrf").unwrap();
        let forged = ada.post("/device", &[("csrf", &token), ("user_code", &user_code), ("decision", "approve")]).await.unwrap();
        assert_eq!(forged.status, StatusCode::FORBIDDEN);
        let mut nobody = Browser::new(&service);
        let asked = nobody.post("/device", &[("user_code", &user_code), ("decision", "approve")]).await.unwrap();
        assert_eq!((asked.status, asked.location().starts_with("/sign-in")), (StatusCode::SEE_OTHER, true));
        assert_eq!(error(&service, &code_of(&started)).await, (400, "authorization_pending".to_owned()));
        let odd = ada.submit(&page, "/device", &[("decision", "perhaps")]).await.unwrap();
        assert_eq!(odd.status, StatusCode::BAD_REQUEST);
    }

    async fn limits_of_one_address(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        service.early_in_a_minute().await;
        let code = || service.http.post(format!("{}/api/auth/device/code", service.base_url)).send();
        for place in 0..20 {
            assert_eq!(code().await.unwrap().status(), StatusCode::CREATED, "{place}");
        }
        let limited = code().await.unwrap();
        assert_eq!((limited.status(), limited.headers().contains_key("retry-after")), (StatusCode::TOO_MANY_REQUESTS, true));
        assert_eq!(limited.json::<Value>().await.unwrap()["code"], "rate_limited");
        for place in 0..60 {
            assert_eq!(error(&service, &json!({})).await.0, 400, "{place}");
        }
        let limited = poll(&service, &json!({})).await;
        assert_eq!((limited.status(), &limited.headers()["ratelimit-remaining"]), (StatusCode::TOO_MANY_REQUESTS, &"0".parse().unwrap()));
        assert!(limited.headers().contains_key("retry-after"));
        assert_eq!(limited.json::<Value>().await.unwrap()["error"], "slow_down");
    }
}
