//! SIGKILL at random moments while everything that moves credits happens at once: on each database
//! twenty times in the short form and two hundred times in the long form.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use cyclorama_core::wire::FailureKind;
use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Options, Service, on_both_databases, times};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use sqlx::Row;

const CREDITS: i64 = 1_000_000;

/// Number of kills in the short and the long form.
const KILLS: [u64; 2] = [20, 200];

/// The model year whose images are rendered before the first round.
const WARM_YEAR: u32 = 2018;

const VIEWS: [&str; 4] = ["front", "rear", "side", "front-3-4"];
const COLORS: [&str; 3] = ["red", "blue", "white"];

/// The answers that clients received; never more than the service has done.
#[derive(Default)]
struct ReceivedAnswers {
    pictures: AtomicI64,
    addresses: AtomicI64,
}

/// A client that sends all kinds of requests until its connection breaks.
async fn client(base_url: String, key: String, seed: u64, seen: Arc<ReceivedAnswers>) {
    let http = cyclorama_tests::service::http_client().unwrap();
    let mut rng = StdRng::seed_from_u64(seed);
    let mut addresses: Vec<String> = Vec::new();
    loop {
        let view = VIEWS[rng.random_range(0..VIEWS.len())];
        // Most images exist already; the others take longer than many rounds.
        let year = if rng.random_ratio(3, 4) { WARM_YEAR } else { rng.random_range(2000..WARM_YEAR) };
        let color = COLORS[rng.random_range(0..COLORS.len())];
        let car = format!("make=honda&model=civic&year={year}&view={view}&color={color}&size=thumb");
        let request = match rng.random_range(0..10) {
            0..5 => http.get(format!("{base_url}/api/v1/images/car?{car}")),
            5 => http.get(format!("{base_url}/images/car.png?make=honda&model=civic&year=2018&w=64")),
            6 | 7 => {
                let image = json!({ "make": "honda", "model": "civic", "year": year, "view": view, "color": color, "width": 99 });
                let name = format!("{seed}-{}", rng.random_range(0..4));
                http.post(format!("{base_url}/api/v1/image-urls"))
                    .header("idempotency-key", name)
                    .json(&json!({ "images": [image.clone(), image], "max_uses": rng.random_range(0..3) }))
            }
            _ => match addresses.pop() {
                Some(address) => http.get(address),
                None => http.get(format!("{base_url}/api/v1/account")),
            },
        };
        let Ok(answer) = request.bearer_auth(&key).send().await else { return };
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let Ok(bytes) = answer.bytes().await else { return };
        if status == 200 && headers.contains_key("x-credits-charged") {
            seen.pictures.fetch_add(1, Ordering::SeqCst);
        }
        if status == 201 {
            let made: Value = serde_json::from_slice(&bytes).unwrap();
            let made = made["data"].as_array().unwrap();
            addresses.extend(made.iter().map(|url| url["url"].as_str().unwrap().to_owned()));
            if !headers.contains_key("idempotent-replayed") {
                seen.addresses.fetch_add(made.len() as i64, Ordering::SeqCst);
            }
        }
        assert_ne!(status, 500, "{}", String::from_utf8_lossy(&bytes));
    }
}

/// Waits until `count` rises, that is, until a client receives one more image or URL.
async fn served(count: &AtomicI64) {
    let before = count.load(Ordering::SeqCst);
    let rises = async {
        while count.load(Ordering::SeqCst) == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), rises).await.expect("a client is served within a minute");
}

async fn number(service: &Service, sql: &'static str) -> i64 {
    let mut connection = service.database().await.unwrap();
    sqlx::query(sql).fetch_one(&mut connection).await.unwrap().get(0)
}

/// Checks that every credit is an image, a URL, or back in the balance.
async fn check(service: &Service, customer: &Customer, seen: &ReceivedAnswers) {
    let shown = service.account_at_rest(customer).await.unwrap();
    service.operator(&["ledger", "verify"]).unwrap();
    let spent = CREDITS - shown["credits"].as_i64().unwrap();
    let pictures = number(service, "select cast(coalesce(sum(credits), 0) as bigint) from deliveries").await;
    let addresses = number(service, "select count(*) from delivery_urls where state = 'active'").await;
    assert_eq!(spent, pictures + addresses, "{shown}");
    let refunds = number(service, "select count(*) from ledger_entries where kind = 'refund'").await;
    assert_eq!(refunds, number(service, "select count(*) from delivery_urls where state = 'consumed'").await);
    let used = number(service, "select cast(sum(credits_spent) as bigint) from usage_daily").await;
    assert_eq!(used, spent, "use and balance tell the same");
    let (got, given) = (seen.pictures.load(Ordering::SeqCst), pictures);
    assert!(got <= given, "{got} pictures received, {given} paid");
    let (got, given) = (seen.addresses.load(Ordering::SeqCst), addresses + refunds);
    assert!(got <= given, "{got} addresses received, {given} paid");
}

on_both_databases! {
    async fn kills_under_load_lose_no_credit(db: DatabaseChoice) {
        let options = Options::default().set("CYCLORAMA_LEASE_SECONDS", 2).set("CYCLORAMA_HEARTBEAT_SECONDS", 1);
        let mut service = Service::start_with(db, options).await.unwrap();
        let customer = service.customer(CREDITS as u64).unwrap();
        let seen = Arc::new(ReceivedAnswers::default());
        let warm = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        for view in VIEWS {
            for color in COLORS {
                let car = format!("/api/v1/images/car?make=honda&model=civic&year={WARM_YEAR}&view={view}&color={color}&size=thumb");
                assert_eq!(service.get(&customer, &car).send().await.unwrap().status().as_u16(), 200);
            }
        }
        drop(warm);
        let mut rng = StdRng::seed_from_u64(7);
        let kills = times(KILLS[0], KILLS[1]);
        for round in 0..kills {
            // A node that makes images, and sometimes one that fails.
            let behaviour = if round % 5 == 4 { Behaviour::Fail(FailureKind::Internal) } else { Behaviour::Deliver };
            let node = FakeNode::join(&service, behaviour).await.unwrap();
            let clients: Vec<_> = (0..6)
                .map(|n| tokio::spawn(client(service.base_url.clone(), customer.key.clone(), round * 10 + n, seen.clone())))
                .collect();
            // A random moment after a client was served, so that a slow machine is under load too.
            served(if round % 2 == 0 { &seen.pictures } else { &seen.addresses }).await;
            tokio::time::sleep(Duration::from_millis(rng.random_range(0..430))).await;
            service.kill();
            drop(node);
            for client in clients {
                client.await.unwrap();
            }
            service.launch().await.unwrap();
            if (round + 1).is_multiple_of(kills / 4) {
                check(&service, &customer, &seen).await;
            }
        }
        println!("{} pictures and {} addresses received", seen.pictures.load(Ordering::SeqCst), seen.addresses.load(Ordering::SeqCst));
    }
}
