//! The service under abuse, and everybody who has an account there.

use crate::crowd::Requests;
use anyhow::{Context, Result, ensure};
use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, Browser, DatabaseChoice, FakeNode, Options, Service};
use futures::{StreamExt, TryStreamExt};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Limits of the service. They are small, so that the floods reach them within minutes with a fake
/// node's flat images; the behaviour is the same at any size.
pub const SIZE_STORE_MIB: u64 = 2;
pub const SIZE_STORE_FREE_MIB: u64 = 1;
pub const SIZE_SWEEP_SECONDS: u64 = 5;
pub const EVENTS_MIB_PER_DAY: u64 = 8;
/// Longer than any sweeper that matters here takes.
pub const SETTLING: Duration = Duration::from_secs(SIZE_SWEEP_SECONDS * 3);
/// Number of entries of the account whose statement is read repeatedly.
const STATEMENT_ENTRIES: u64 = 10_000;
/// The maximum number of keys of an account.
const KEYS: usize = 100;

pub struct AbuseSetup {
    pub service: Service,
    pub database: DatabaseChoice,
    /// A customer that pays, and must not notice the floods.
    customer: Key,
    /// A customer that pays, for sizes that nobody else requests.
    pub stranger: Key,
    /// The hundred keys of one account (`keys`), and that account (`holder`).
    pub keys: Arc<Vec<String>>,
    pub holder: Customer,
    /// An account with a long statement.
    pub reader: Key,
    /// The form of the sign-in page, as a browser has it.
    pub form: Form,
    _node: FakeNode,
}

#[derive(Clone)]
pub struct Form {
    pub cookies: String,
    pub csrf: String,
}

#[derive(Clone)]
pub struct Key(pub String);

impl AbuseSetup {
    pub async fn make(database: DatabaseChoice) -> Result<Self> {
        // Clients stand behind a proxy of this machine that forwards their addresses, so the floods
        // can come from any number of addresses.
        let options = Options::default()
            .set("CYCLORAMA_TRUSTED_PROXIES", "127.0.0.1")
            .set("CYCLORAMA_SIZE_STORE_MIB", SIZE_STORE_MIB)
            .set("CYCLORAMA_SIZE_STORE_FREE_MIB", SIZE_STORE_FREE_MIB)
            .set("CYCLORAMA_SIZE_STORE_SWEEP_SECONDS", SIZE_SWEEP_SECONDS)
            .set("CYCLORAMA_EVENTS_MIB_PER_DAY", EVENTS_MIB_PER_DAY)
            .set("RUST_LOG", "warn");
        let service = Service::start_with(database, options).await?;
        let node = FakeNode::join(&service, Behaviour::Deliver).await?;
        let customer = unlimited(&service)?;
        // Renders every image that customers request.
        for picture in PAID {
            let path = format!("/api/v1/images/car?{picture}");
            let answer =
                service.http.get(format!("{}{path}", service.base_url)).bearer_auth(&customer.0).send().await?;
            ensure!(answer.status().is_success(), "{path}: {}", answer.status());
        }
        let holder = service.customer(1_000)?;
        let mut keys = vec![holder.key.clone()];
        for _ in 1..KEYS {
            let made = service.operator(&["key", "create", "--account", &holder.account_id])?;
            keys.push(made["key"].as_str().context("no key")?.to_owned());
        }
        let stranger = unlimited(&service)?;
        let reader = long_statement(&service).await?;
        let form = sign_in_form(&service).await?;
        Ok(AbuseSetup {
            service,
            database,
            customer,
            stranger,
            keys: Arc::new(keys),
            holder,
            reader,
            form,
            _node: node,
        })
    }

    /// Sets the budget to zero, so that every new image is held and then refused.
    pub fn spend_the_budget(&self) -> Result<()> {
        self.service.operator(&["budget", "set", "--usd-per-day", "0"]).map(drop)
    }

    /// The requests of customers: images that exist, in several forms.
    pub fn paying(&self) -> Requests {
        let (http, base, key) = (self.service.http.clone(), self.service.base_url.clone(), self.customer.clone());
        Arc::new(move |number| {
            let picture = PAID[number as usize % PAID.len()];
            http.get(format!("{base}/api/v1/images/car?{picture}")).bearer_auth(&key.0)
        })
    }
}

/// The images whose sizes the floods request. All of them exist at 1024 px.
pub const PICTURES: [&str; 2] =
    ["make=honda&model=civic&year=2018&view=side&color=red", "make=honda&model=civic&year=2018&view=side&color=blue"];

const PAID: [&str; 4] = [
    "make=honda&model=civic&year=2018&view=side&color=red&size=small&format=webp",
    "make=honda&model=civic&year=2018&view=side&color=red&size=medium&format=jpg",
    "make=honda&model=civic&year=2018&view=side&color=red",
    "make=honda&model=civic&year=2018&view=side&color=blue&size=thumb&format=png",
];

/// A key of an account with plenty of credits and no effective rate limit.
fn unlimited(service: &Service) -> Result<Key> {
    let customer = service.customer(100_000_000)?;
    let made = service.operator(&["key", "create", "--account", &customer.account_id, "--rate-limit", "1000000000"])?;
    Ok(Key(made["key"].as_str().context("no key")?.to_owned()))
}

async fn sign_in_form(service: &Service) -> Result<Form> {
    let mut browser = Browser::new(service);
    let csrf = browser.get("/sign-in").await?.field("csrf").context("the page has no form")?;
    let cookies: Vec<String> = browser.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Ok(Form { cookies: cookies.join("; "), csrf })
}

/// An account with many entries, made through the operator's API.
async fn long_statement(service: &Service) -> Result<Key> {
    let customer = service.customer(1)?;
    let token = service.operator_token()?;
    let address = format!("{}/admin/accounts/{}/grants", service.admin_url(), customer.account_id);
    let granted = (0..STATEMENT_ENTRIES).map(|_| {
        let asked =
            service.http.post(&address).bearer_auth(&token).json(&json!({ "credits": 1, "reason": "one of many" }));
        async move { anyhow::Ok(asked.send().await?.error_for_status()?.bytes().await.map(drop)?) }
    });
    futures::stream::iter(granted).buffer_unordered(16).try_collect::<Vec<()>>().await?;
    Ok(Key(customer.key))
}
