//! The work that a free image may cost the service. Sizes that must be made are counted by network,
//! stored in a bounded part of the store, and never made for `HEAD` or for a client that has the
//! bytes.

use super::embeds::signed;
use cyclorama_tests::service::Customer;
use cyclorama_tests::stripe::unix_seconds;
use cyclorama_tests::{Behaviour, Bucket, DatabaseChoice, FakeNode, Options, Service, on_both_databases, secrets};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

const CIVIC: &str = "make=honda&model=civic&year=2018";

/// Files below a folder of the object store, with their sizes in bytes.
fn stored(service: &Service, folder: &str) -> Vec<(String, u64)> {
    fn walk(folder: &Path, found: &mut Vec<(String, u64)>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => walk(&entry.path(), found),
                Ok(metadata) => found.push((entry.path().display().to_string(), metadata.len())),
                // Removed meanwhile.
                Err(_) => {}
            }
        }
    }
    let mut found = Vec::new();
    walk(&service.data_dir().join("objects").join(folder), &mut found);
    found
}

async fn ask(service: &Service, network: &str, rest: &str) -> Response {
    let path = format!("/images/car.png?{CIVIC}{rest}&mode=cached");
    service.visit(&path).header("x-forwarded-for", network).send().await.unwrap()
}

/// A service with a rendered red Civic.
async fn service_with_a_picture(db: DatabaseChoice, options: Options) -> (Service, Customer) {
    let service = Service::start_with(db, options.set("CYCLORAMA_TRUSTED_PROXIES", "127.0.0.1")).await.unwrap();
    let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
    let customer = service.customer(1000).unwrap();
    let rendered = service.get(&customer, &format!("/api/v1/images/car?{CIVIC}")).send().await.unwrap();
    assert_eq!(rendered.status(), StatusCode::OK);
    (service, customer)
}

on_both_databases! {
    async fn sizes_made_for_free_are_counted_by_network(db: DatabaseChoice) {
        let (service, customer) = service_with_a_picture(db, Options::default().set("CYCLORAMA_FREE_SIZES_PER_MINUTE", 3)).await;
        service.early_in_a_minute().await;
        for width in [300, 301, 302] {
            assert_eq!(ask(&service, "203.0.113.1", &format!("&w={width}")).await.status(), StatusCode::OK, "{width}");
        }
        let refused = ask(&service, "203.0.113.1", "&w=303&format=webp").await;
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!((&refused.headers()["ratelimit-limit"], &refused.headers()["cache-control"]), (&"3".parse().unwrap(), &"no-store".parse().unwrap()));
        assert!(refused.headers().contains_key("retry-after"));
        // Existing images cost nothing: presets, and sizes that were made.
        for rest in ["&w=256&format=webp", "&w=512", "&w=768&format=jpg", "", "&w=300", "&w=302"] {
            assert_eq!(ask(&service, "203.0.113.1", rest).await.status(), StatusCode::OK, "{rest}");
        }
        // Each network has a separate count; all of an IPv6 network is one.
        assert_eq!(ask(&service, "203.0.113.2", "&w=303").await.status(), StatusCode::OK);
        for (host, expected) in [(1, 200), (2, 200), (3, 200), (4, 429)] {
            let answer = ask(&service, &format!("2001:db8:1:2::{host}"), &format!("&w={}", 310 + host)).await;
            assert_eq!(answer.status().as_u16(), expected, "host {host}");
        }
        // Paid requests are not counted there.
        for width in 400..406 {
            let paid = service.get(&customer, &format!("/api/v1/images/car?{CIVIC}&w={width}")).header("x-forwarded-for", "203.0.113.1");
            assert_eq!(paid.send().await.unwrap().status(), StatusCode::OK);
        }
    }

    // Shared caches would show the limits of one visitor to all others.
    async fn what_shared_caches_may_keep_shows_nobodys_window(db: DatabaseChoice) {
        let (service, customer) = service_with_a_picture(db, Options::default()).await;
        let secret = service.operator(&["partner-secret", "create", "--key", &customer.key_id]).unwrap();
        let secret = secret["secret"].as_str().unwrap().to_owned();
        secrets::note(&secret);
        let partner = |width: u32| signed(&secret, &format!("exp={}&make=honda&model=civic&w={width}&year=2018", unix_seconds() + 600));
        let url = service.get(&customer, &format!("/api/v1/images/car?{CIVIC}&w=305&response=url")).send().await.unwrap();
        let url: Value = url.json().await.unwrap();
        let mut paths = vec![
            format!("/images/car.png?{CIVIC}&w=300&mode=cached"),
            format!("/images/car.png?{CIVIC}&w=300&mode=cached"),
            partner(301),
            partner(301),
            format!("/images/car.png?mode=cached&{CIVIC}"),
            url["data"]["url"].as_str().unwrap().trim_start_matches(service.base_url.as_str()).to_owned(),
        ];
        paths.extend(["/api/v1/vehicles", "/api/v1/images/options", "/openapi.json", "/llms.txt"].map(str::to_owned));
        for path in paths {
            for method in [Method::GET, Method::HEAD] {
                let answer = service.http.request(method.clone(), format!("{}{path}", service.base_url)).send().await.unwrap();
                assert!(answer.status().is_success() || answer.status().is_redirection(), "{method} {path}: {}", answer.status());
                let told = answer.headers()["cache-control"].to_str().unwrap();
                assert!(told.contains("public"), "{method} {path}: {told}");
                let window: Vec<_> = answer.headers().keys().filter(|name| name.as_str().starts_with("ratelimit")).collect();
                assert!(window.is_empty(), "{method} {path}: {window:?}");
            }
        }
    }

    async fn neither_head_nor_a_client_that_has_the_bytes_makes_work(db: DatabaseChoice) {
        let (service, customer) = service_with_a_picture(db, Options::default().set("CYCLORAMA_FREE_SIZES_PER_MINUTE", 1)).await;
        let path = |width: u32| format!("/images/car.png?{CIVIC}&w={width}&format=webp&mode=cached");
        let mut etags = Vec::new();
        for width in 600..610 {
            let head = service.http.head(format!("{}{}", service.base_url, path(width))).send().await.unwrap();
            assert_eq!((head.status(), &head.headers()["x-image-source"]), (StatusCode::OK, &"cache".parse().unwrap()));
            assert!(!head.headers().contains_key("content-length"), "there are no bytes yet");
            let etag = head.headers()["etag"].clone();
            let known = service.visit(&path(width)).header("if-none-match", &etag).send().await.unwrap();
            assert_eq!(known.status(), StatusCode::NOT_MODIFIED, "{width}");
            etags.push(etag);
        }
        assert!(stored(&service, "sizes").is_empty() && stored(&service, "derived").len() == 12);
        // The headers that were sent for them are true for the images made then.
        for (width, etag) in (600..610).zip(etags).step_by(5) {
            let made = service.get(&customer, &format!("/api/v1/images/car?{CIVIC}&w={width}&format=webp")).send().await.unwrap();
            assert_eq!(made.headers()["etag"], etag);
            let length = made.bytes().await.unwrap().len();
            let head = service.http.head(format!("{}{}", service.base_url, path(width))).send().await.unwrap();
            assert_eq!(head.headers()["content-length"], length.to_string().as_str());
        }
    }

    async fn what_is_kept_of_uncommon_sizes_is_bounded(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_FREE_SIZES_PER_MINUTE", 100_000).set("CYCLORAMA_SIZE_STORE_FREE_MIB", 1)
            .set("CYCLORAMA_SIZE_STORE_MIB", 1).set("CYCLORAMA_SIZE_STORE_SWEEP_SECONDS", 1).set("CYCLORAMA_IMAGE_CACHE_MIB", 0);
        let (service, customer) = service_with_a_picture(db, options).await;
        let (mut seen, mut highest) = (0, [0; 2]);
        for width in 1..=120 {
            let free = ask(&service, "203.0.113.7", &format!("&w={width}")).await;
            assert_eq!(free.status(), StatusCode::OK);
            let (etag, bytes) = (free.headers()["etag"].clone(), free.bytes().await.unwrap());
            let paid = service.get(&customer, &format!("/api/v1/images/car?{CIVIC}&w={width}")).send().await.unwrap();
            assert_eq!(paid.headers()["etag"], etag);
            assert_eq!(paid.bytes().await.unwrap(), bytes, "whether it was kept or made again");
            for (highest, folder) in highest.iter_mut().zip(["sizes/free", "sizes/paid"]) {
                let files = stored(&service, folder);
                seen += files.len();
                *highest = files.len().max(*highest);
            }
        }
        // A file occupies a block of at least 4 KiB.
        assert!(seen > 0 && highest.iter().all(|files| *files <= 256), "{highest:?}");
        assert_eq!(stored(&service, "derived").len(), 12, "nothing but what nodes upload lies there");
    }

    async fn nothing_is_kept_where_nothing_may_be(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_SIZE_STORE_FREE_MIB", 0).set("CYCLORAMA_SIZE_STORE_MIB", 0);
        let (service, customer) = service_with_a_picture(db, options).await;
        for path in [format!("/images/car.png?{CIVIC}&w=99&mode=cached"), format!("/api/v1/images/car?{CIVIC}&w=98")] {
            assert_eq!(service.get(&customer, &path).send().await.unwrap().status(), StatusCode::OK);
        }
        assert!(stored(&service, "sizes").is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sizes_that_an_earlier_version_kept_for_good_are_removed() {
    let options = Options::default().set("CYCLORAMA_SIZE_STORE_SWEEP_SECONDS", 1);
    let service = Service::prepare(DatabaseChoice::Sqlite, options).await.unwrap();
    let folder = service.data_dir().join("objects/derived").join("c".repeat(64));
    std::fs::create_dir_all(&folder).unwrap();
    for side in [300, 512, 1023, 1024] {
        std::fs::write(folder.join(format!("{side}x{side}.webp")), "x").unwrap();
    }
    let mut service = service;
    service.launch().await.unwrap();
    let began = Instant::now();
    while stored(&service, "derived").len() > 2 {
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", stored(&service, "derived"));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(folder.join("512x512.webp").exists() && folder.join("1024x1024.webp").exists());
}

/// Two processes on one bucket keep it within its bound together, and deliver the same bytes.
#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_one_bucket_share_its_bound() {
    let bucket = Bucket::start().await.unwrap();
    let bounded = |options: Options| {
        options
            .set("CYCLORAMA_FREE_SIZES_PER_MINUTE", 100_000)
            .set("CYCLORAMA_SIZE_STORE_FREE_MIB", 1)
            .set("CYCLORAMA_SIZE_STORE_SWEEP_SECONDS", 1)
            .set("CYCLORAMA_IMAGE_CACHE_MIB", 0)
    };
    let (one, _) = service_with_a_picture(DatabaseChoice::Postgres, bounded(bucket.options())).await;
    let other = bounded(bucket.options()).set("CYCLORAMA_DATABASE_URL", one.database_url());
    let other = Service::start_with(DatabaseChoice::Postgres, other).await.unwrap();
    let mut seen = 0;
    for width in 1..=60 {
        let [first, second] =
            [ask(&one, "", &format!("&w={width}")).await, ask(&other, "", &format!("&w={width}")).await];
        assert_eq!((first.status(), second.status()), (StatusCode::OK, StatusCode::OK));
        assert_eq!(first.headers()["etag"], second.headers()["etag"]);
        assert_eq!(first.bytes().await.unwrap(), second.bytes().await.unwrap());
        let names = bucket.names("cyclorama/test/sizes/free/").len();
        assert!(names <= 256, "{names}");
        seen += names;
    }
    assert!(seen > 0);
}

on_both_databases! {
    async fn a_removed_model_does_not_become_another_one(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        let body = json!({ "images": [{ "make": "honda", "model": "odyssey", "year": 2018 }] });
        let minted = service.http.post(format!("{}/api/v1/image-urls", service.base_url)).bearer_auth(&customer.key).json(&body);
        let minted: Value = minted.send().await.unwrap().json().await.unwrap();
        let url = minted["data"][0]["url"].as_str().unwrap();
        // As after a release that has only a longer name with the same beginning: the row has the
        // name of an earlier catalog. A caller may write such a beginning.
        let beginning = service.get(&customer, "/api/v1/images/car?make=honda&model=odysse&year=2018").send().await.unwrap();
        assert!(beginning.headers()["content-location"].to_str().unwrap().contains("model=odyssey&"));
        let mut connection = service.database().await.unwrap();
        sqlx::query("update delivery_urls set model = 'odysse'").execute(&mut connection).await.unwrap();
        let gone = service.http.get(url).send().await.unwrap();
        assert_eq!(gone.status(), StatusCode::NOT_FOUND);
        assert_eq!(gone.json::<Value>().await.unwrap()["code"], "vehicle_not_found");
        assert_eq!(service.http.head(url).send().await.unwrap().status(), StatusCode::NOT_FOUND);
        sqlx::query("update delivery_urls set model = 'odyssey'").execute(&mut connection).await.unwrap();
        assert_eq!(service.http.get(url).send().await.unwrap().status(), StatusCode::OK);
    }
}
