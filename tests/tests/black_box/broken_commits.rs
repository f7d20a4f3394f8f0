//! A connection to PostgreSQL that breaks while a charge is committed: a client that got nothing
//! pays nothing, whether the charge was committed or not.

use std::time::Duration;

use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, Cut, DatabaseChoice, DatabaseProxy, FakeNode, Options, Service};
use futures::future::join_all;
use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};

/// More than any of the tests spends.
const CREDITS: i64 = 30;
const CACHED: &str = "/api/v1/images/car?make=honda&model=civic&year=2018&size=thumb";

const CUTS: [Cut; 3] = [Cut::BeforeCommit, Cut::AfterCommit, Cut::LateCommit(Duration::from_millis(1500))];

/// Requests that cost credits, each charged in another way.
#[derive(Debug, Clone, Copy)]
enum RequestKind {
    /// An image in memory: a debit.
    Cached,
    /// An image that is rendered first: a hold, and its settlement.
    Cold,
    Addresses,
    NamedAddresses,
    /// The first load of a URL that may be loaded once.
    Load,
}

const ALL: [RequestKind; 5] =
    [RequestKind::Cached, RequestKind::Cold, RequestKind::Addresses, RequestKind::NamedAddresses, RequestKind::Load];

impl RequestKind {
    /// The credits that it costs if it succeeds.
    fn credits(self) -> i64 {
        match self {
            RequestKind::Addresses | RequestKind::NamedAddresses => 2,
            RequestKind::Cached | RequestKind::Cold => 1,
            RequestKind::Load => 0,
        }
    }

    /// The request; `round` makes it a new one.
    async fn request(self, service: &Service, customer: &Customer, round: usize) -> RequestBuilder {
        let image = json!({ "make": "honda", "model": "civic", "year": 2018, "width": 80 });
        let addresses = |body: Value| {
            service.http.post(format!("{}/api/v1/image-urls", service.base_url)).bearer_auth(&customer.key).json(&body)
        };
        match self {
            RequestKind::Cached => service.get(customer, CACHED),
            RequestKind::Cold => {
                let year = 1996 + round;
                service.get(customer, &format!("/api/v1/images/car?make=honda&model=civic&year={year}&size=thumb"))
            }
            RequestKind::Addresses => addresses(json!({ "images": [image.clone(), image] })),
            RequestKind::NamedAddresses => addresses(json!({ "images": [image.clone(), image] }))
                .header("idempotency-key", format!("urls-{round}")),
            RequestKind::Load => {
                let body = json!({ "images": [image], "max_uses": 1 });
                let made: Value = addresses(body).send().await.unwrap().json().await.unwrap();
                service.http.get(made["data"][0]["url"].as_str().unwrap())
            }
        }
    }
}

/// A service whose database is behind a proxy.
struct ProxiedService {
    service: Service,
    proxy: DatabaseProxy,
    customer: Customer,
    _node: FakeNode,
}

impl ProxiedService {
    async fn new() -> ProxiedService {
        let mut service = Service::prepare(DatabaseChoice::Postgres, Options::default()).await.unwrap();
        let proxy = DatabaseProxy::start(service.database_url()).await.unwrap();
        service.options = Options::default().set("CYCLORAMA_DATABASE_URL", proxy.url());
        service.launch().await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let warm = service.customer(1).unwrap();
        assert_eq!(service.get(&warm, CACHED).send().await.unwrap().status(), StatusCode::OK);
        let customer = service.customer(CREDITS as u64).unwrap();
        ProxiedService { service, proxy, customer, _node: node }
    }

    async fn number(&self, sql: &'static str) -> i64 {
        let mut connection = self.service.database().await.unwrap();
        sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
    }

    /// Waits until all credits that must be given back have been.
    async fn balance_becomes(&self, expected: i64) {
        let (mut balance, mut left) = (i64::MIN, i64::MAX);
        for _ in 0..300 {
            balance = self.service.balance(&self.customer).await.unwrap_or(i64::MIN);
            left = self.number("select count(*) from meter_batches where state <> 'answered'").await;
            if (balance, left) == (expected, 0) {
                self.service.operator(&["ledger", "verify"]).unwrap();
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the balance stayed {balance} instead of {expected}, with {left} batches that are not settled");
    }
}

/// Checks that the answer is 503 and does not say that nothing was charged.
async fn is_told_the_truth(answer: reqwest::Response) {
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.headers().contains_key("retry-after"));
    let told: Value = answer.json().await.unwrap();
    assert_eq!(told["code"], "dependency_down", "{told}");
    let detail = told["detail"].as_str().unwrap();
    assert!(detail.contains("given back") && !detail.contains("nothing was charged"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_breaks_once_charges_for_what_was_answered() {
    let setting = ProxiedService::new().await;
    let mut expected = CREDITS;
    for (round, (asked, cut)) in ALL.iter().flat_map(|asked| CUTS.map(|cut| (*asked, cut))).enumerate() {
        let request = asked.request(&setting.service, &setting.customer, round).await;
        if let RequestKind::Load = asked {
            expected -= 1;
        }
        setting.proxy.cut_next(cut);
        let answer = request.try_clone().unwrap().send().await.unwrap();
        let status = answer.status();
        assert!(status.is_success() || status == StatusCode::SERVICE_UNAVAILABLE, "{asked:?} {cut:?}: {status}");
        // If the server has committed while the client still waits, the answer is as usual.
        assert!(status.is_success() || cut == Cut::BeforeCommit, "{asked:?} {cut:?}: {}", answer.text().await.unwrap());
        if status.is_success() {
            expected -= asked.credits();
        }
        assert_eq!(setting.proxy.cuts(), round + 1, "{asked:?} {cut:?}");
        setting.balance_becomes(expected).await;
        // A client that got nothing can try again: a use of the URL is not lost, and an idempotency
        // key is not taken.
        if !status.is_success() {
            assert!(request.send().await.unwrap().status().is_success(), "{asked:?} {cut:?}");
            expected -= asked.credits();
            setting.balance_becomes(expected).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_stays_away_gives_back_what_it_had_committed() {
    // Each way to pay has its own service, side by side, because they wait for their databases.
    join_all(ALL.map(gives_back_what_a_database_that_stays_away_had_committed)).await;
}

async fn gives_back_what_a_database_that_stays_away_had_committed(asked: RequestKind) {
    let setting = ProxiedService::new().await;
    let mut expected = CREDITS;
    for (round, cut) in CUTS.into_iter().enumerate() {
        let request = asked.request(&setting.service, &setting.customer, round).await;
        if let RequestKind::Load = asked {
            expected -= 1;
        }
        let pictures = setting.number("select count(*) from deliveries").await;
        let addresses = setting.number("select count(*) from delivery_urls where state = 'active'").await;
        setting.proxy.cut_next_and_stay_away(cut);
        is_told_the_truth(request.try_clone().unwrap().send().await.unwrap()).await;
        setting.proxy.come_back();
        setting.balance_becomes(expected).await;
        assert_eq!(setting.number("select count(*) from deliveries").await, pictures, "{asked:?} {cut:?}");
        let left = setting.number("select count(*) from delivery_urls where state = 'active'").await;
        assert_eq!(left, addresses, "{asked:?} {cut:?}: nobody has the new ones");
        let used = setting.number("select cast(sum(credits_spent) as bigint) from usage_daily").await;
        assert_eq!(used, 1 + CREDITS - expected, "{asked:?} {cut:?}: use and balance tell the same");
        // Where nothing was charged, the balance is right before the database is back: 409 and 503
        // are temporary.
        let mut again = request.try_clone().unwrap().send().await.unwrap();
        for _ in 0..200 {
            if ![StatusCode::CONFLICT, StatusCode::SERVICE_UNAVAILABLE].contains(&again.status()) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            again = request.try_clone().unwrap().send().await.unwrap();
        }
        assert!(again.status().is_success(), "{asked:?} {cut:?}: {}", again.text().await.unwrap());
        expected -= asked.credits();
        setting.balance_becomes(expected).await;
    }
}

/// No process is left that knows of the charge.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_dies_before_it_knows_leaves_it_to_the_next() {
    let mut setting = ProxiedService::new().await;
    for asked in [RequestKind::Cached, RequestKind::NamedAddresses] {
        let request = asked.request(&setting.service, &setting.customer, 0).await;
        setting.proxy.cut_next_and_stay_away(Cut::AfterCommit);
        is_told_the_truth(request.send().await.unwrap()).await;
        assert_ne!(setting.number("select count(*) from meter_batches where state = 'open'").await, 0);
        setting.service.kill();
        setting.proxy.come_back();
        setting.service.launch().await.unwrap();
        setting.balance_becomes(CREDITS).await;
    }
    let lines = setting.service.operator(&["account", "statement", &setting.customer.account_id]).unwrap();
    let told: Vec<(&str, i64)> = lines
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["kind"].as_str().unwrap(), line["credits"].as_i64().unwrap()))
        .collect();
    assert_eq!(
        told,
        [("grant", CREDITS), ("debit", -1), ("correction", 1), ("debit", -2), ("refund", 1), ("refund", 1)]
    );
    assert_eq!(lines[2]["corrects"], lines[1]["id"]);
}

/// The commit of a charge is unknown: a request with the same idempotency key, sent at once, is
/// charged once.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_whose_commit_is_unknown_is_charged_once_when_it_is_asked_again() {
    let setting = ProxiedService::new().await;
    let mut expected = CREDITS;
    let asked = RequestKind::NamedAddresses;
    for (round, cut) in CUTS.into_iter().enumerate() {
        let request = asked.request(&setting.service, &setting.customer, round).await;
        setting.proxy.cut_next_and_stay_away(cut);
        is_told_the_truth(request.try_clone().unwrap().send().await.unwrap()).await;
        setting.proxy.come_back();
        let mut answers = 0;
        // Also while the credit is being given back: 409 and 503 are temporary.
        while answers < 3 {
            let answer = request.try_clone().unwrap().send().await.unwrap();
            match answer.status() {
                status if status.is_success() => answers += 1,
                StatusCode::CONFLICT | StatusCode::SERVICE_UNAVAILABLE => {
                    tokio::time::sleep(Duration::from_millis(50)).await
                }
                other => panic!("{cut:?}: {other} {}", answer.text().await.unwrap()),
            }
        }
        expected -= asked.credits();
        setting.balance_becomes(expected).await;
    }
}
