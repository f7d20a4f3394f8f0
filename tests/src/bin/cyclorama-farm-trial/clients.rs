//! Clients of the trial. Each requests one image after the other from a list that all share, until
//! all have been requested.

use anyhow::Result;
use cyclorama_tests::service::Customer;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const AT_ONCE: usize = 64;
/// Maximum number of tries for an image that was refused or lost.
const TRIES_MAX: u32 = 12;
const RETRY_AFTER: Duration = Duration::from_secs(3);
const STEADY_PAUSE: Duration = Duration::from_secs(6);
/// Time limit of a request: longer than it waits for its render.
const PATIENCE: Duration = Duration::from_secs(150);

/// The pace at which clients send requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Each client requests the next image as soon as it has the last one.
    Flat,
    /// Each client pauses in between: about ten requests a second in total.
    Steady,
}

/// The list of images, and the clients' progress.
pub struct RequestList {
    variants: Vec<String>,
    pace: Pace,
    next: AtomicUsize,
    answered: AtomicUsize,
    ended: AtomicBool,
    /// Number of refusals because the budget was spent.
    pub unaffordable: AtomicUsize,
}

impl RequestList {
    pub fn new(variants: Vec<String>, pace: Pace) -> Arc<Self> {
        let zero = || AtomicUsize::new(0);
        Arc::new(RequestList {
            variants,
            pace,
            next: zero(),
            answered: zero(),
            ended: AtomicBool::new(false),
            unaffordable: zero(),
        })
    }

    /// The ratio of images that were answered, 0 to 1.
    pub fn ratio(&self) -> f64 {
        self.answered.load(Ordering::Relaxed) as f64 / self.variants.len() as f64
    }

    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }
}

/// The answers that one customer got.
#[derive(Debug, Default, Clone)]
pub struct Tally {
    pub delivered: u64,
    /// Connections that ended without a complete answer. The image may have been paid for or not.
    pub lost: u64,
    /// Answers without an image, by status and code.
    pub refused: BTreeMap<String, u64>,
    /// Images that the client gave up.
    pub missing: Vec<String>,
}

impl Tally {
    pub fn add(&mut self, more: Tally) {
        self.delivered += more.delivered;
        self.lost += more.lost;
        self.missing.extend(more.missing);
        for (answer, count) in more.refused {
            *self.refused.entry(answer).or_default() += count;
        }
    }
}

/// Requests the images, and returns a tally for each customer, in their order.
pub async fn ask(base_url: String, customers: Vec<Customer>, asked: Arc<RequestList>) -> Result<Vec<Tally>> {
    let http = cyclorama_tests::service::http_client()?;
    let workers: Vec<_> = (0..AT_ONCE)
        .map(|number| {
            let (http, asked) = (http.clone(), asked.clone());
            let (customer, base_url) = (customers[number % customers.len()].clone(), base_url.clone());
            tokio::spawn(async move {
                let mut tally = Tally::default();
                while !asked.has_ended()
                    && let Some(variant) = asked.variants.get(asked.next.fetch_add(1, Ordering::Relaxed))
                {
                    fetch(&http, &format!("{base_url}{variant}"), &customer, &asked, &mut tally).await;
                    asked.answered.fetch_add(1, Ordering::Relaxed);
                    if asked.pace == Pace::Steady {
                        tokio::time::sleep(STEADY_PAUSE).await;
                    }
                }
                tally
            })
        })
        .collect();
    let mut tallies = vec![Tally::default(); customers.len()];
    for (number, worker) in workers.into_iter().enumerate() {
        tallies[number % customers.len()].add(worker.await?);
    }
    Ok(tallies)
}

async fn fetch(http: &reqwest::Client, url: &str, customer: &Customer, asked: &RequestList, tally: &mut Tally) {
    let mut tries = 0;
    while tries < TRIES_MAX {
        tries += 1;
        let whole = async {
            let answer = http.get(url).bearer_auth(&customer.key).timeout(PATIENCE).send().await?;
            let status = answer.status().as_u16();
            Ok::<_, reqwest::Error>((status, answer.bytes().await?))
        };
        match whole.await {
            Ok((200, _)) => {
                tally.delivered += 1;
                return;
            }
            Ok((status, body)) => {
                let problem: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
                let code = problem["code"].as_str().unwrap_or("without a code").to_owned();
                if code == "daily_budget_spent" {
                    // Tries again without counting it, until somebody raises the budget.
                    tries -= 1;
                    asked.unaffordable.fetch_add(1, Ordering::Relaxed);
                }
                *tally.refused.entry(format!("{status} {code}")).or_default() += 1;
            }
            Err(_) => tally.lost += 1,
        }
        tokio::time::sleep(RETRY_AFTER).await;
    }
    tally.missing.push(url.to_owned());
}
