//! Limits of requests without a key, and the cost of a key over its limit.

use super::embeds::signed;
use cyclorama_tests::stripe::unix_seconds;
use cyclorama_tests::{Behaviour, Browser, DatabaseChoice, FakeNode, Options, Service, on_both_databases, secrets};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn public_reads_are_limited_by_network() {
    let options =
        Options::default().set("CYCLORAMA_PUBLIC_READS_PER_MINUTE", 5).set("CYCLORAMA_TRUSTED_PROXIES", "127.0.0.1");
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    let customer = service.customer(1).unwrap();
    service.early_in_a_minute().await;
    let visit = |path: &str, client: &str| service.visit(path).header("x-forwarded-for", client).send();
    for (number, path) in
        ["/api/v1/vehicles", "/api/v1/images/options", "/status", "/docs", "/api/examples"].iter().enumerate()
    {
        assert_eq!(visit(path, &format!("2001:db8::{number}")).await.unwrap().status(), StatusCode::OK, "{path}");
    }
    for path in ["/api/v1/vehicles?q=golf", "/openapi.json", "/", "/sign-in", "/agents.md"] {
        let refused = visit(path, "2001:db8::ffff").await.unwrap();
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS, "{path}");
        assert_eq!(
            (&refused.headers()["ratelimit-limit"], &refused.headers()["ratelimit-remaining"]),
            (&"5".parse().unwrap(), &"0".parse().unwrap())
        );
        let wait: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
        assert_eq!(refused.json::<Value>().await.unwrap()["code"], "rate_limited", "{path}");
    }
    let head =
        service.http.head(format!("{}/api/v1/delivery/x", service.base_url)).header("x-forwarded-for", "2001:db8::9");
    assert_eq!(head.send().await.unwrap().status(), StatusCode::TOO_MANY_REQUESTS);
    // Other clients, probes, files, and requests with their own limits are not limited.
    let missing = "/images/car.png?make=nosuch&model=x&year=2020";
    for (path, client, status) in [
        (missing, "2001:db8::1", StatusCode::NOT_FOUND),
        ("/api/v1/vehicles", "2001:db8:0:1::1", StatusCode::OK),
        ("/healthz", "2001:db8::1", StatusCode::OK),
        ("/readyz", "2001:db8::1", StatusCode::OK),
        ("/assets/site.css", "2001:db8::1", StatusCode::OK),
        ("/api/v1/delivery/x", "2001:db8::1", StatusCode::FORBIDDEN),
    ] {
        assert_eq!(visit(path, client).await.unwrap().status(), status, "{path}");
    }
    let keyed =
        service.get(&customer, "/api/v1/account").header("x-forwarded-for", "2001:db8::1").send().await.unwrap();
    assert_eq!(keyed.status(), StatusCode::OK);
    // Refused images count, delivered ones do not.
    for number in 0..6 {
        let answer = visit("/images/car.png?make=nosuch&model=x&year=2020", "203.0.113.9").await.unwrap();
        let expected = if number < 5 { StatusCode::NOT_FOUND } else { StatusCode::TOO_MANY_REQUESTS };
        assert_eq!(answer.status(), expected, "{number}");
    }
}

on_both_databases! {
    async fn probes_of_many_at_once_are_answered_beside_paid_requests(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(100).unwrap();
        let picture = "/api/v1/images/car?make=honda&model=civic&year=2018";
        assert_eq!(service.get(&customer, picture).send().await.unwrap().status(), StatusCode::OK);
        let probes: Vec<_> = (0..200).map(|_| tokio::spawn(service.visit("/readyz").send())).collect();
        for _ in 0..20 {
            assert_eq!(service.get(&customer, picture).send().await.unwrap().status(), StatusCode::OK);
        }
        for probe in probes {
            assert_eq!(probe.await.unwrap().unwrap().status(), StatusCode::OK);
        }
    }

    async fn a_key_over_its_limit_is_refused_before_anything_is_done_for_it(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(100).unwrap();
        let made = service.operator(&["key", "create", "--account", &customer.account_id, "--rate-limit", "2"]).unwrap();
        let key = made["key"].as_str().unwrap();
        service.early_in_a_minute().await;
        let ask = |path: &str| service.visit(path).bearer_auth(key).send();
        let missing = "/api/v1/images/car?make=nosuch&model=x&year=2020";
        for _ in 0..2 {
            assert_eq!(ask(missing).await.unwrap().status(), StatusCode::NOT_FOUND);
        }
        // The first request finds the window full, and for the others that is known already.
        for path in [missing, missing, "/api/v1/images/car?make=honda", "/api/v1/account"] {
            let refused = ask(path).await.unwrap();
            assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS, "{path}");
            for field in ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "ratelimit", "ratelimit-policy", "retry-after"] {
                assert!(refused.headers().contains_key(field), "{path} {field}");
            }
            let problem: Value = refused.json().await.unwrap();
            assert!(problem["suggestions"].is_null() && problem["parameter"].is_null(), "{problem}");
        }
        // Refused requests count as usage too.
        let account: Value = service.get(&customer, "/api/v1/account").send().await.unwrap().json().await.unwrap();
        assert_eq!(account["data"]["usage_30d"]["requests"], 7, "{account}");
    }

    async fn a_day_takes_so_many_events(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_EVENTS_PER_MINUTE", 10_000).set("CYCLORAMA_EVENTS_MIB_PER_DAY", 1);
        let mut service = Service::start_with(db, options).await.unwrap();
        let event = json!({"event": "page_view", "properties": {"filler": "x".repeat(1_500)}});
        let batch = json!({"events": vec![event; 20]});
        let address = format!("{}/api/v1/events", service.base_url);
        let mut taken = 0;
        loop {
            let answer = service.http.post(&address).json(&batch).send().await.unwrap();
            if answer.status() == StatusCode::ACCEPTED {
                taken += 1;
                assert!(taken < 60, "a MiB is full");
                continue;
            }
            assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert!(answer.headers().contains_key("retry-after"));
            assert_eq!(answer.json::<Value>().await.unwrap()["code"], "at_capacity");
            break;
        }
        assert!(taken > 20, "{taken} batches");
        // Another process, or this one after a restart, knows the counts of the day.
        assert!(service.terminate().await.unwrap().success());
        service.launch().await.unwrap();
        let mut last = StatusCode::ACCEPTED;
        for _ in 0..10 {
            last = service.http.post(&address).json(&batch).send().await.unwrap().status();
        }
        assert_eq!(last, StatusCode::SERVICE_UNAVAILABLE);
    }

    async fn a_day_takes_so_many_accounts(db: DatabaseChoice) {
        let service = Service::start_with(db, Options::default().set("CYCLORAMA_SIGN_UPS_PER_DAY", 1)).await.unwrap();
        let password = "a long way to Tipperary";
        let first = Browser::new(&service).sign_up("ada@example.com", password).await.unwrap();
        assert_eq!(first.status, StatusCode::SEE_OTHER, "{}", first.text());
        let second = Browser::new(&service).sign_up("bob@example.com", password).await.unwrap();
        assert_eq!(second.status, StatusCode::SERVICE_UNAVAILABLE, "{}", second.text());
        assert!(second.headers.contains_key("retry-after"));
    }

    async fn only_accounts_that_are_made_use_up_the_day_of_a_network(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_SIGN_UPS_PER_CLIENT_DAY", 2);
        let service = Service::start_with(db, options).await.unwrap();
        let password = "a long way to Tipperary";
        for (email, expected) in [
            ("ada@example.com", StatusCode::SEE_OTHER),
            ("ada@example.com", StatusCode::CONFLICT),
            ("ada@example.com", StatusCode::CONFLICT),
            ("bob@example.com", StatusCode::SEE_OTHER),
            ("eve@example.com", StatusCode::TOO_MANY_REQUESTS),
        ] {
            let page = Browser::new(&service).sign_up(email, password).await.unwrap();
            assert_eq!(page.status, expected, "{email}: {}", page.text());
        }
    }

    async fn a_network_makes_so_many_accounts_a_day(db: DatabaseChoice) {
        let options = Options::default()
            .set("CYCLORAMA_TRUSTED_PROXIES", "127.0.0.1")
            .set("CYCLORAMA_SIGN_UPS_PER_CLIENT_DAY", 2)
            .set("CYCLORAMA_SIGN_UPS_PER_NETWORK_DAY", 3);
        let mut service = Service::start_with(db, options).await.unwrap();
        let mut number = 0;
        for (at, client, expected) in [
            (0, "203.0.113.7", StatusCode::SEE_OTHER),
            (1, "203.0.113.7", StatusCode::SEE_OTHER),
            (2, "203.0.113.7", StatusCode::TOO_MANY_REQUESTS),
            (3, "203.0.113.8", StatusCode::SEE_OTHER),
            (4, "203.0.113.9", StatusCode::TOO_MANY_REQUESTS),
            (5, "198.51.100.1", StatusCode::SEE_OTHER),
            (6, "2001:db8:1:1::1", StatusCode::SEE_OTHER),
            (7, "2001:db8:1:1::2", StatusCode::SEE_OTHER),
            (8, "2001:db8:1:1::3", StatusCode::TOO_MANY_REQUESTS),
            (9, "2001:db8:1:2::1", StatusCode::SEE_OTHER),
            (10, "2001:db8:1:3::1", StatusCode::TOO_MANY_REQUESTS),
            (11, "2001:db8:2:1::1", StatusCode::SEE_OTHER),
        ] {
            number += 1;
            let mut browser = Browser::new(&service);
            browser.headers.push(("x-forwarded-for", client.to_owned()));
            let page = browser.sign_up(&format!("a{number}@example.com"), "a long way to Tipperary").await.unwrap();
            assert_eq!(page.status, expected, "{at}: {client}: {}", page.text());
            if expected == StatusCode::TOO_MANY_REQUESTS {
                let seconds: u64 = page.headers["retry-after"].to_str().unwrap().parse().unwrap();
                assert!((1..=86_400).contains(&seconds), "{seconds}");
                assert!(page.text().contains("Your network has reached its limit"), "{}", page.text());
                assert!(!browser.is_signed_in().await.unwrap());
            }
        }
        // The counts of the day outlive the process.
        assert!(service.terminate().await.unwrap().success());
        service.launch().await.unwrap();
        let mut browser = Browser::new(&service);
        browser.headers.push(("x-forwarded-for", "203.0.113.7".to_owned()));
        let page = browser.sign_up("late@example.com", "a long way to Tipperary").await.unwrap();
        assert_eq!(page.status, StatusCode::TOO_MANY_REQUESTS, "{}", page.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn public_texts_are_compressed_and_loaded_once() {
    let service = Service::start(DatabaseChoice::Sqlite).await.unwrap();
    for path in [
        "/openapi.json",
        "/docs",
        "/docs/errors",
        "/agents.md",
        "/llms.txt",
        "/pricing",
        "/api/v1/vehicles?year=2020",
        "/assets/site.css",
    ] {
        let plain = service.visit(path).send().await.unwrap();
        assert!(!plain.headers().contains_key("content-encoding"), "{path}");
        let tag = plain.headers().get("etag").unwrap_or_else(|| panic!("{path}")).clone();
        let length = plain.bytes().await.unwrap().len();
        let small = service.visit(path).header("accept-encoding", "br, gzip").send().await.unwrap();
        assert_eq!(small.headers()["content-encoding"], "gzip", "{path}");
        assert!(small.headers()["vary"].to_str().unwrap().contains("accept-encoding"), "{path}");
        let bytes = small.bytes().await.unwrap();
        assert!(
            bytes.starts_with(&[0x1f, 0x8b]) && bytes.len() * 3 < length * 2,
            "{path}: {} of {length} bytes",
            bytes.len()
        );
        let again =
            service.visit(path).header("if-none-match", &tag).header("accept-encoding", "gzip").send().await.unwrap();
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{path}");
        let opaque = |tag: &reqwest::header::HeaderValue| tag.to_str().unwrap().trim_start_matches("W/").to_owned();
        assert_eq!(opaque(&again.headers()["etag"]), opaque(&tag), "{path}");
        assert!(again.bytes().await.unwrap().is_empty(), "{path}");
    }
    // A body with a secret, or one that is not text, is sent uncompressed.
    let customer = service.customer(1).unwrap();
    let mut browser = Browser::new(&service);
    browser.headers.push(("accept-encoding", "gzip".to_owned()));
    for path in ["/sign-in", "/sign-up", "/playground"] {
        assert!(!browser.get(path).await.unwrap().headers.contains_key("content-encoding"), "{path}");
    }
    browser.sign_up("ada@example.com", "a long way to Tipperary").await.unwrap();
    for path in ["/docs", "/dashboard", "/dashboard/keys"] {
        assert!(!browser.get(path).await.unwrap().headers.contains_key("content-encoding"), "{path}");
    }
    let account = service.get(&customer, "/api/v1/account").header("accept-encoding", "gzip").send().await.unwrap();
    assert!(!account.headers().contains_key("content-encoding"));
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_pictures_do_not_close_the_pages() {
    for method in [Method::GET, Method::HEAD] {
        let options = Options::default().set("CYCLORAMA_PUBLIC_READS_PER_MINUTE", 5);
        let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
        service.early_in_a_minute().await;
        let missing = format!("{}/images/car.png?make=nosuch&model=x&year=2020", service.base_url);
        for number in 0..6 {
            let expected = if number < 5 { StatusCode::NOT_FOUND } else { StatusCode::TOO_MANY_REQUESTS };
            let answer = service.http.request(method.clone(), &missing).send().await.unwrap();
            assert_eq!(answer.status(), expected, "{method} {number}");
        }
        for number in 0..5 {
            assert_eq!(service.visit("/pricing").send().await.unwrap().status(), StatusCode::OK, "{method} {number}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_of_embeds_have_a_limit_of_their_own() {
    let options = Options::default().set("CYCLORAMA_PUBLIC_READS_PER_MINUTE", 5);
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
    let customer = service.customer(1).unwrap();
    let picture = "make=honda&model=civic&year=2018&view=side&color=red";
    let paid = service.get(&customer, &format!("/api/v1/images/car?{picture}")).send().await.unwrap();
    assert_eq!(paid.status(), StatusCode::OK);
    service.early_in_a_minute().await;
    let embed = format!("/images/car.png?{picture}&mode=cached");
    for number in 0..6 {
        let expected = if number < 5 { StatusCode::OK } else { StatusCode::TOO_MANY_REQUESTS };
        let answer = service.http.head(format!("{}{embed}", service.base_url)).send().await.unwrap();
        assert_eq!(answer.status(), expected, "{number}");
    }
    for path in [embed.as_str(), "/pricing"] {
        assert_eq!(service.visit(path).send().await.unwrap().status(), StatusCode::OK, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_grant_that_is_good_is_exempt_from_the_count_of_refused_pictures() {
    let options = Options::default().set("CYCLORAMA_PUBLIC_READS_PER_MINUTE", 5);
    let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
    let customer = service.customer(1).unwrap();
    let limited = ["key", "create", "--account", &customer.account_id, "--rate-limit", "20"];
    let limited = service.operator(&limited).unwrap()["key"].as_str().unwrap().to_owned();
    let secret = service.operator(&["partner-secret", "create", "--key", &customer.key_id]).unwrap();
    let secret = secret["secret"].as_str().unwrap().to_owned();
    secrets::note(&secret);
    let revoked = service.customer(1).unwrap();
    service.operator(&["key", "revoke", &revoked.key_id]).unwrap();
    service.early_in_a_minute().await;
    let missing = "/images/car.png?make=nosuch&model=x&year=2020";
    for number in 0..5 {
        let answer = service.visit(missing).header("x-api-key", "x").send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{number}");
    }
    let bearer = |key: &str| ("authorization", format!("Bearer {key}"));
    let signature = "0".repeat(64);
    for (query, (name, value)) in [
        (String::new(), ("x-api-key", "x".to_owned())),
        (String::new(), ("x-api-key", String::new())),
        (String::new(), bearer("x")),
        (String::new(), bearer(&revoked.key)),
        (String::new(), ("authorization", "Basic eDp4".to_owned())),
        ("&sig=x".to_owned(), ("accept", "*/*".to_owned())),
        (format!("&exp=4000000000&sig={signature}"), ("accept", "*/*".to_owned())),
        (format!("&exp={}&sig={signature}", unix_seconds() + 600), ("accept", "*/*".to_owned())),
        ("&notsig=sig=".to_owned(), ("accept", "*/*".to_owned())),
    ] {
        let answer = service.visit(&format!("{missing}{query}")).header(name, &value).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS, "{query} {name}");
        assert_eq!(answer.headers()["ratelimit-policy"], "\"per-address\";q=5;w=60", "{query} {name}");
    }
    // A partner's embed still works, and a key has a separate count.
    let address = signed(&secret, &format!("exp={}&make=nosuch&model=x&year=2020", unix_seconds() + 600));
    assert_eq!(service.visit(&address).send().await.unwrap().status(), StatusCode::NOT_FOUND);
    for number in 0..21 {
        let answer = service.visit(missing).bearer_auth(&limited).send().await.unwrap();
        let expected = if number < 20 { StatusCode::NOT_FOUND } else { StatusCode::TOO_MANY_REQUESTS };
        assert_eq!(answer.status(), expected, "{number}");
        assert_eq!(answer.headers()["ratelimit-policy"], "\"per-key\";q=20;w=60", "{number}");
    }
}
