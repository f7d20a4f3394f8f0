//! Images on pages of other sites and in caches on the way: the headers of every public answer for
//! browsers and caches, and that `HEAD` has the headers of `GET`.

use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Options, Service, on_both_databases};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

const CIVIC: &str = "make=honda&model=civic&year=2018";

/// The URL of a path of the service, or a URL unchanged.
fn at(service: &Service, path: &str) -> String {
    if path.starts_with('/') { format!("{}{path}", service.base_url) } else { path.to_owned() }
}

async fn ask(service: &Service, method: Method, path: &str) -> Response {
    service.http.request(method, at(service, path)).header("origin", "https://shop.example").send().await.unwrap()
}

/// Signed URLs: one that can be loaded, one that is used up.
async fn addresses(service: &Service, key: &str) -> [String; 2] {
    let mut made = Vec::new();
    for max_uses in [0, 1] {
        let body = json!({ "images": [{ "make": "honda", "model": "civic", "year": 2018, "width": 300 }], "max_uses": max_uses });
        let answer = service.http.post(format!("{}/api/v1/image-urls", service.base_url)).bearer_auth(key).json(&body);
        let answer: Value = answer.send().await.unwrap().json().await.unwrap();
        let url = answer["data"][0]["url"].as_str().unwrap().to_owned();
        assert_eq!(service.http.get(&url).send().await.unwrap().status(), StatusCode::OK);
        made.push(url);
    }
    made.try_into().unwrap()
}

fn assert_open(answer: &Response, what: &str) {
    let headers = answer.headers();
    let header = |name: &str| headers.get(name).unwrap_or_else(|| panic!("{what} {}: no {name}", answer.status()));
    assert_eq!(header("access-control-allow-origin"), "*", "{what}");
    assert!(!headers.contains_key("access-control-allow-credentials"), "{what}");
    assert_eq!(header("cross-origin-resource-policy"), "cross-origin", "{what}");
    assert_eq!(header("timing-allow-origin"), "*", "{what}");
    let exposed = header("access-control-expose-headers").to_str().unwrap().to_ascii_lowercase();
    let exposed: Vec<&str> = exposed.split(", ").collect();
    for name in [
        "etag",
        "retry-after",
        "x-image-width",
        "x-image-height",
        "x-image-source",
        "x-request-id",
        "x-vehicle-likeness",
        "ratelimit-reset",
    ] {
        assert!(exposed.contains(&name), "{what}: {name}");
    }
}

on_both_databases! {
    async fn pages_of_any_site_may_use_pictures_whatever_the_status(db: DatabaseChoice) {
        let service = Service::start_with(db, Options::default().set("CYCLORAMA_FREE_SIZES_PER_MINUTE", 1)).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(20).unwrap();
        let [url, used_up] = addresses(&service, &customer.key).await;
        service.early_in_a_minute().await;
        for (path, expected) in [
            (format!("/images/car.png?{CIVIC}&mode=cached"), 200),
            (format!("/images/car.png?{CIVIC}&w=400&mode=cached"), 200),
            (format!("/images/car.png?{CIVIC}&w=401&mode=cached"), 429),
            (format!("/images/car.png?mode=cached&{CIVIC}"), 308),
            (format!("/images/car.png?{CIVIC}&w=0"), 400),
            (format!("/images/car.png?{CIVIC}"), 401),
            (format!("/images/car.png?{CIVIC}&sig={}", "0".repeat(64)), 403),
            (format!("/images/car.png?{CIVIC}&view=rear&mode=cached"), 404),
            ("/images/car.png?make=nobody&model=x&year=2018&mode=cached".to_owned(), 404),
            (format!("/images/car.png?{CIVIC}&x={}", "x".repeat(9_000)), 414),
            (url.clone(), 200),
            (used_up, 410),
            ("/api/v1/delivery/nonsense".to_owned(), 403),
            ("/api/v1/delivery/%ff".to_owned(), 403),
        ] {
            let answer = ask(&service, Method::GET, &path).await;
            assert_eq!(answer.status().as_u16(), expected, "{path}");
            assert_open(&answer, &path);
            assert!(answer.headers().contains_key("cache-control"), "{path}");
        }
        let etag = ask(&service, Method::GET, &url).await.headers()["etag"].clone();
        for path in [format!("/images/car.png?{CIVIC}&w=300&mode=cached"), url.clone()] {
            for method in [Method::GET, Method::HEAD] {
                let known = service.http.request(method, at(&service, &path));
                let known = known.header("if-none-match", &etag).send().await.unwrap();
                assert_eq!(known.status(), StatusCode::NOT_MODIFIED, "{path}");
                assert_open(&known, &path);
            }
            let preflight = service.http.request(Method::OPTIONS, at(&service, &path));
            let preflight = preflight.header("origin", "https://shop.example").header("access-control-request-method", "GET")
                .header("access-control-request-headers", "if-none-match").send().await.unwrap();
            assert_eq!(preflight.status(), StatusCode::NO_CONTENT, "{path}");
            assert_open(&preflight, &path);
            let told = |name: &str| preflight.headers()[name].to_str().unwrap().to_ascii_lowercase();
            assert!(told("access-control-allow-methods").contains("get") && told("access-control-allow-headers").contains("if-none-match"));
            assert!(!told("access-control-allow-headers").contains("authorization"), "keys have no place in a page");
        }
        assert_eq!(ask(&service, Method::POST, &url).await.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_open(&ask(&service, Method::POST, &url).await, "405");
        // Endpoints that need a key are not open to other sites.
        let keyed = service.get(&customer, &format!("/api/v1/images/car?{CIVIC}")).header("origin", "https://shop.example").send().await.unwrap();
        assert!(!keyed.headers().contains_key("access-control-allow-origin"));
        // Also for a failed render.
        drop(node);
        let _failing = FakeNode::join(&service, Behaviour::Fail(cyclorama_core::wire::FailureKind::Model)).await.unwrap();
        let body = json!({ "make": "honda", "model": "civic", "year": 2018, "view": "rear" });
        let minted = service.http.post(format!("{}/api/v1/image-urls", service.base_url)).bearer_auth(&customer.key).json(&body);
        let minted: Value = minted.send().await.unwrap().json().await.unwrap();
        let failed = ask(&service, Method::GET, minted["data"][0]["url"].as_str().unwrap()).await;
        assert_eq!((failed.status(), &failed.headers()["cache-control"]), (StatusCode::BAD_GATEWAY, &"no-store".parse().unwrap()));
        assert_open(&failed, "502");
    }

    async fn every_answer_says_how_long_it_may_be_kept_and_head_says_what_get_says(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(20).unwrap();
        let [url, used_up] = addresses(&service, &customer.key).await;
        let cached = format!("/images/car.png?{CIVIC}&mode=cached");
        let fixed = [
            "/", "/playground", "/playground?make=honda", "/playground?make=nobody&model=x&year=2018", "/pricing", "/status", "/docs",
            "/docs/quick-start", "/docs/errors", "/sign-up", "/sign-in", "/sign-in/nobody", "/forgot-password", "/confirm/nonsense",
            "/reset-password/nonsense", "/device", "/pay/nonsense", "/dashboard", "/dashboard/keys", "/dashboard/nothing", "/assets/site.css",
            "/assets/icon.svg", "/assets/nothing", "/api/examples", "/openapi.json", "/llms.txt", "/agents.md", "/api/health", "/healthz", "/readyz",
            "/api/v1/images/options", "/api/v1/vehicles", "/api/v1/vehicles?year=2018", "/api/v1/vehicles?year=2027", "/api/v1/vehicles?year=x",
            "/api/v1/vehicles?make=nobody", "/api/v1/account", "/api/v1/images/car?make=honda", "/api/v1/images/resolve", "/api/v1/nothing",
            "/nothing", "/robots.txt", "/images/car.png", "/images/car.png?make=Honda&model=civic&year=2018", "/api/v1/delivery/nonsense",
        ];
        let pictures = [
            cached.clone(), format!("{cached}&w=256"), format!("/images/car.png?{CIVIC}&w=256&mode=cached"), format!("/images/car.png?{CIVIC}&w=300&mode=cached"),
            format!("/images/car.png?{CIVIC}&view=rear&mode=cached"), url, used_up,
        ];
        for path in fixed.into_iter().map(str::to_owned).chain(pictures) {
            for accept in ["*/*", "text/html,*/*"] {
                let address = at(&service, &path);
                let ask = async |method| service.http.request(method, &address).header("accept", accept).send().await.unwrap();
                // The shown state of the service may change between the two requests, so one equal
                // answer is enough.
                let (before, head, after) = (ask(Method::GET).await, ask(Method::HEAD).await, ask(Method::GET).await);
                let is_same =
                    ["content-length", "etag"].iter().all(|name| before.headers().get(*name) == head.headers().get(*name));
                let get = if is_same { before } else { after };
                assert_eq!(get.status(), head.status(), "{path}");
                let kept = get.headers().get("cache-control").unwrap_or_else(|| panic!("{path} {}: no Cache-Control", get.status()));
                if get.status().is_client_error() || get.status().is_server_error() {
                    assert!(kept.to_str().unwrap().contains("no-store"), "{path} {}: {kept:?}", get.status());
                }
                // Headers that differ from request to request, and those that count.
                let differs = ["date", "x-request-id", "set-cookie", "ratelimit", "ratelimit-remaining", "ratelimit-reset"];
                for (name, value) in get.headers() {
                    let is_dynamic = differs.contains(&name.as_str()) || name == "transfer-encoding";
                    assert!(is_dynamic || head.headers().get(name).is_some_and(|other| close(name.as_str(), value, other)), "{path}: {name}: {value:?}, {:?}", head.headers().get(name));
                }
                assert!(head.bytes().await.unwrap().is_empty());
            }
        }
    }

    async fn head_of_a_keyed_picture_says_what_get_would(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(20).unwrap();
        service.get(&customer, &format!("/api/v1/images/car?{CIVIC}")).send().await.unwrap();
        for base in ["/api/v1/images/car", "/images/car.png"] {
            for rest in ["", "&w=512&format=webp", "&w=300&color=silver"] {
                let path = format!("{base}?{CIVIC}{}", if base.ends_with("png") { rest.replace("&w=300&color=silver", "&color=silver&w=300") } else { rest.to_owned() });
                let get = service.get(&customer, &path).send().await.unwrap();
                let head = service.http.head(format!("{}{path}", service.base_url)).bearer_auth(&customer.key).send().await.unwrap();
                assert_eq!((get.status(), head.status()), (StatusCode::OK, StatusCode::OK), "{path}");
                for name in ["content-type", "content-length", "etag", "cache-control", "x-image-source", "x-image-width", "x-image-height", "vary"] {
                    assert_eq!(get.headers().get(name), head.headers().get(name), "{path}: {name}");
                }
                assert_eq!(head.headers()["x-credits-charged"], "0");
            }
        }
        let path = format!("/api/v1/images/car?{CIVIC}&response=url");
        let balance = service.balance(&customer).await.unwrap();
        let head = service.http.head(format!("{}{path}", service.base_url)).bearer_auth(&customer.key).send().await.unwrap();
        assert_eq!((head.status(), &head.headers()["content-type"]), (StatusCode::OK, &"application/json".parse().unwrap()));
        assert!(!head.headers().contains_key("etag") && !head.headers().contains_key("content-length"));
        assert_eq!(service.balance(&customer).await.unwrap(), balance, "no address is made");
    }
}

/// True if two headers are equal; seconds that run down, and bodies that name their request, may
/// differ by as much.
fn close(name: &str, get: &reqwest::header::HeaderValue, head: &reqwest::header::HeaderValue) -> bool {
    let seconds = |value: &reqwest::header::HeaderValue| -> Vec<i64> {
        let digits = |part: &str| part.parse().ok();
        value.to_str().unwrap().split(|letter: char| !letter.is_ascii_digit()).filter_map(digits).collect()
    };
    match name {
        "cache-control" => seconds(get).iter().zip(seconds(head)).all(|(get, head)| (get - head).abs() <= 5),
        _ => get == head,
    }
}
