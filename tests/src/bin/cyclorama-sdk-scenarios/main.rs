//! Runs `sdk/scenarios.json` with the Rust client against the service at CYCLORAMA_URL, compares
//! the client's types with the service's API document, and runs the quick start of its README.
//! `scripts/test_sdks.sh` starts the service and makes the keys. It must be started in `sdk/rust`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on stops where it stands")]
#![allow(
    clippy::disallowed_methods,
    reason = "stands outside of the programs, in the time and the environment of whoever runs it"
)]

mod api_document;
mod calls;
mod check;
mod quick_start;
mod upstream;

use calls::Outcome;
use check::{at, check, check_error};
use cyclorama_client::{Client, Pause, Retries};
use futures::FutureExt;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use upstream::Upstream;

/// Prefix of the environment variables that scenarios use as known values.
const PREFIX: &str = "CYCLORAMA_TEST_";

#[tokio::main]
async fn main() -> ExitCode {
    let url = std::env::var("CYCLORAMA_URL").unwrap();
    let mut known: Map<String, Value> = std::env::vars()
        .filter_map(|(name, value)| Some((name.strip_prefix(PREFIX)?.to_lowercase(), value.into())))
        .collect();
    known.insert("run".to_owned(), uuid::Uuid::new_v4().to_string().into());
    let main_key = known["main_key"].as_str().unwrap().to_owned();
    let main = Client::builder(&url).api_key(&main_key).build().unwrap();
    let mut run = Run { url, known, main, called: BTreeSet::new() };

    let table: Value = serde_json::from_str(&std::fs::read_to_string("../scenarios.json").unwrap()).unwrap();
    let scenarios = table["scenarios"].as_array().unwrap();
    let mut failed = 0;
    for scenario in scenarios {
        let name = scenario["name"].as_str().unwrap();
        if AssertUnwindSafe(run.scenario(scenario)).catch_unwind().await.is_err() {
            failed += 1;
            eprintln!("FAILED: {name}");
        }
    }
    let others = async {
        api_document::check(&run.url, &run.called).await;
        quick_start::check(&run.url, &main_key);
    };
    if AssertUnwindSafe(others).catch_unwind().await.is_err() {
        failed += 1;
    }
    println!("Rust client: {} scenarios, API document, quick start: {failed} failed", scenarios.len());
    if failed == 0 && !scenarios.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Run {
    url: String,
    known: Map<String, Value>,
    /// The client that reads the balance.
    main: Client,
    called: BTreeSet<String>,
}

impl Run {
    async fn scenario(&mut self, scenario: &Value) {
        let upstream = match scenario["upstream"].as_array() {
            Some(answers) => Some(Upstream::start(answers.clone()).await),
            None => None,
        };
        let waits = Arc::new(Mutex::new(Vec::new()));
        let noted = waits.clone();
        let pause: Pause = Arc::new(move |wait| {
            noted.lock().unwrap().push(wait.as_secs_f64());
            Box::pin(async {})
        });
        let url = upstream.as_ref().map(|upstream| upstream.url.as_str()).or(scenario["url"].as_str());
        let attempts = scenario["attempts"].as_u64().unwrap_or(4) as u32;
        let mut client = Client::builder(url.unwrap_or(&self.url)).retries(Retries { attempts, ..Retries::default() });
        if let Some(key) = scenario["key"].as_str() {
            client = client.api_key(self.known[key].as_str().unwrap());
        }
        if scenario["real_waits"] != true {
            client = client.pause(pause);
        }
        let client = client.build().unwrap();
        for step in scenario["steps"].as_array().unwrap() {
            self.step(&client, step).await;
        }
        let waits = waits.lock().unwrap().clone();
        if let Some(bounds) = scenario["waits"].as_array() {
            assert_eq!(waits.len(), bounds.len(), "{waits:?}");
            for (wait, bounds) in waits.iter().zip(bounds) {
                let (least, most) = (bounds[0].as_f64().unwrap(), bounds[1].as_f64().unwrap());
                assert!((least..=most).contains(wait), "{wait} is not {least} to {most}");
            }
        }
        let Some(upstream) = upstream else { return };
        let requests = upstream.requests.lock().unwrap();
        assert_eq!(requests.len() as u64, scenario["requests"].as_u64().unwrap());
        let bearer = format!("Bearer {}", self.known["main_key"].as_str().unwrap());
        assert!(requests.iter().all(|headers| headers["authorization"] == bearer));
        let keys: BTreeSet<&str> =
            requests.iter().filter_map(|headers| headers.get("idempotency-key")).map(String::as_str).collect();
        if scenario["same_idempotency_key"] == true {
            assert!(keys.len() == 1 && keys.iter().all(|key| key.len() >= 32), "{keys:?}");
        }
        if let Some(key) = scenario["idempotency_key"].as_str() {
            assert_eq!(keys, BTreeSet::from([key]));
        }
    }

    async fn step(&mut self, client: &Client, step: &Value) {
        if let Some(after) = step["after"].as_str() {
            let after = self.filled(&after.into());
            let due = SystemTime::UNIX_EPOCH + Duration::from_secs(after.as_str().unwrap().parse::<u64>().unwrap() + 1);
            tokio::time::sleep(due.duration_since(SystemTime::now()).unwrap_or_default()).await;
        }
        let balance = self.balance(step).await;
        let name = step["call"].as_str().unwrap();
        self.called.insert(name.to_owned());
        for left in (0..step["repeat"].as_u64().unwrap_or(1)).rev() {
            let arguments = self.filled(&step["arguments"]);
            match calls::call(client, &self.url, name, arguments, step).await {
                Outcome::Refused(error) => {
                    assert!(step["error"].is_object(), "{name}: {error}");
                    check_error(&step["error"], &error);
                    break;
                }
                Outcome::Done(_) if step["error"].is_object() => assert!(left > 0, "{name} succeeded"),
                Outcome::Done(document) => {
                    check(&self.filled(&step["expect"]), &document, name);
                    for (name, path) in step["save"].as_object().into_iter().flatten() {
                        self.known.insert(name.clone(), at(&document, path.as_str().unwrap()).clone());
                    }
                }
            }
        }
        if let Some(spends) = step["spends"].as_i64() {
            assert_eq!(balance - self.balance(step).await, spends, "{name} spends");
        }
    }

    async fn balance(&self, step: &Value) -> i64 {
        match step["spends"].is_null() {
            true => 0,
            false => self.main.get_account().await.unwrap().data.credits,
        }
    }

    /// Replaces `${name}` by the known value. A text that is only such a name gets the type of the
    /// value.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::Null => json!({}),
            Value::Object(members) => {
                members.iter().map(|(name, item)| (name.clone(), self.filled_member(item))).collect()
            }
            other => self.filled_member(other),
        }
    }

    fn filled_member(&self, value: &Value) -> Value {
        match value {
            Value::Object(members) => {
                members.iter().map(|(name, item)| (name.clone(), self.filled_member(item))).collect()
            }
            Value::Array(items) => items.iter().map(|item| self.filled_member(item)).collect(),
            Value::String(text) => self.filled_text(text),
            other => other.clone(),
        }
    }

    fn filled_text(&self, text: &str) -> Value {
        let name = |text: &str| text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).map(str::to_owned);
        if let Some(value) = name(text).and_then(|name| self.known.get(&name)) {
            return value.clone();
        }
        let mut filled = text.to_owned();
        for (name, value) in &self.known {
            let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            filled = filled.replace(&format!("${{{name}}}"), &written);
        }
        filled.into()
    }
}
