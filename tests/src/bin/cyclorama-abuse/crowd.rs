//! Clients that send requests at a fixed rate, however long answers take. They do not slow down
//! with the service, and a latency is measured from the moment a request was due.

use reqwest::RequestBuilder;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Makes a request from its number.
pub type Requests = Arc<dyn Fn(u64) -> RequestBuilder + Send + Sync>;

/// Maximum number of open requests of one kind. A request that is due while there are as many is
/// not sent, and is counted as such: a client has a limited number of connections.
const UNDER_WAY_MAX: usize = 64;
/// Time limit of a request: longer than any answer takes, except for a render.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// The results of the requests of one kind.
#[derive(Default)]
pub struct Told {
    latencies_ms: Vec<f64>,
    statuses: BTreeMap<String, u64>,
    /// Answers that no request may get.
    failures: BTreeMap<String, u64>,
}

impl Told {
    /// The percentile of the latencies, which must be sorted; NaN if there are none.
    pub fn percentile_ms(&self, ratio: f64) -> f64 {
        match self.latencies_ms.as_slice() {
            [] => f64::NAN,
            all => all[((all.len() - 1) as f64 * ratio) as usize],
        }
    }

    pub fn sent(&self) -> u64 {
        self.latencies_ms.len() as u64
    }

    pub fn of_status(&self, status: u16) -> u64 {
        self.statuses.get(&status.to_string()).copied().unwrap_or(0)
    }

    pub fn statuses(&self) -> String {
        self.statuses.iter().map(|(status, times)| format!("{status} x {times}")).collect::<Vec<_>>().join(", ")
    }

    pub fn failures(&self) -> Vec<(String, u64)> {
        self.failures.iter().map(|(what, times)| (what.clone(), *times)).collect()
    }
}

/// Sends `per_second` requests for the duration `lasting`, and waits for the last answers.
pub async fn send(requests: Requests, per_second: f64, lasting: Duration) -> Told {
    let (told, room) = (Arc::new(Mutex::new(Told::default())), Arc::new(Semaphore::new(UNDER_WAY_MAX)));
    let (began, gap) = (Instant::now(), Duration::from_secs_f64(1.0 / per_second));
    let mut under_way = JoinSet::new();
    for number in 0_u64.. {
        let due = began + gap.mul_f64(number as f64);
        if due >= began + lasting {
            break;
        }
        tokio::time::sleep_until(due.into()).await;
        while under_way.try_join_next().is_some() {}
        let Ok(place) = room.clone().try_acquire_owned() else {
            count(&told, |told| *told.statuses.entry("not sent".to_owned()).or_default() += 1);
            continue;
        };
        let (request, told) = (requests(number), told.clone());
        under_way.spawn(async move {
            let answer = ask(request).await;
            let took = due.elapsed().as_secs_f64() * 1000.0;
            count(&told, |told| {
                told.latencies_ms.push(took);
                *told.statuses.entry(answer.status).or_default() += 1;
                if let Some(failure) = answer.failure {
                    *told.failures.entry(failure).or_default() += 1;
                }
            });
            drop(place);
        });
    }
    while under_way.join_next().await.is_some() {}
    let mut told = std::mem::take(&mut *told.lock().unwrap_or_else(PoisonError::into_inner));
    told.latencies_ms.sort_by(f64::total_cmp);
    told
}

fn count(told: &Mutex<Told>, change: impl FnOnce(&mut Told)) {
    change(&mut told.lock().unwrap_or_else(PoisonError::into_inner));
}

struct Answer {
    status: String,
    failure: Option<String>,
}

async fn ask(request: RequestBuilder) -> Answer {
    let read = async {
        let answer = request.timeout(ANSWER_WITHIN).send().await?;
        let (status, says_when) = (answer.status(), answer.headers().contains_key("retry-after"));
        answer.bytes().await?;
        Ok::<_, reqwest::Error>((status, says_when))
    };
    match read.await {
        Ok((status, says_when)) => {
            // Bad or excessive input is the client's fault. A service that cannot answer must say
            // when it can.
            let failure = match status.as_u16() {
                503 if !says_when => Some("503 without Retry-After".to_owned()),
                500 | 501 | 502 | 504.. => Some(format!("status {}", status.as_u16())),
                _ => None,
            };
            Answer { status: status.as_u16().to_string(), failure }
        }
        Err(error) => {
            Answer { status: "no answer".to_owned(), failure: Some(format!("no answer: {}", error.without_url())) }
        }
    }
}
