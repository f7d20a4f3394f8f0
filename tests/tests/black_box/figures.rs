//! `/metrics`: the metrics of a running service, and that rules and dashboards use no others.

use cyclorama_core::wire::FailureKind;
use cyclorama_tests::service::Customer;
use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Options, Service, on_both_databases, package_file};
use regex::Regex;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

async fn car(service: &Service, customer: &Customer, query: &str) -> u16 {
    service.get(customer, &format!("/api/v1/images/car?{query}")).send().await.unwrap().status().as_u16()
}

async fn scrape(service: &Service) -> String {
    let answer = service.http.get(format!("{}/metrics", service.admin_url())).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    answer.text().await.unwrap()
}

/// The value of the series with exactly this name and these labels, in any order.
fn value(text: &str, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    text.lines().find_map(|line| {
        let (series, value) = line.rsplit_once(' ')?;
        let (found, told) = series.split_once('{').unwrap_or((series, "}"));
        let mut told: Vec<&str> = told.trim_end_matches('}').split("\",").filter(|label| !label.is_empty()).collect();
        let mut wanted: Vec<String> = labels.iter().map(|(label, value)| format!("{label}=\"{value}")).collect();
        // Removes the quotation marks, also of an empty value.
        told.iter_mut().for_each(|label| *label = label.trim_end_matches('"'));
        wanted.iter_mut().for_each(|label| label.truncate(label.trim_end_matches('"').len()));
        told.sort_unstable();
        wanted.sort_unstable();
        (found == name && told == wanted).then(|| value.parse().unwrap())
    })
}

/// Name, labels and value of a series.
type Series<'a> = (&'a str, &'a [(&'a str, &'a str)], f64);

/// Scrapes until every series has its value, because some are counted right after the answer.
async fn told(service: &Service, expected: &[Series<'_>]) -> String {
    let mut text = String::new();
    for _ in 0..100 {
        text = scrape(service).await;
        if expected.iter().all(|(name, labels, expected)| value(&text, name, labels) == Some(*expected)) {
            return text;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    for (name, labels, expected) in expected {
        assert_eq!(value(&text, name, labels), Some(*expected), "{name} {labels:?}: {text}");
    }
    text
}

fn names_in(text: &str) -> BTreeSet<String> {
    let name = Regex::new(r"\bcyclorama_[a-z0-9_]+").unwrap();
    name.find_iter(text).map(|found| found.as_str().to_owned()).collect()
}

/// Every file of `infra` that may have an expression.
fn expressions() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![package_file("../infra")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension().and_then(|extension| extension.to_str()) {
                _ if path.is_dir() => folders.push(path),
                Some("yaml" | "json") => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

on_both_databases! {
    async fn rules_and_boards_ask_for_nothing_that_a_service_does_not_tell(db: DatabaseChoice) {
        let service = Service::start_with(db, Options::default().set("CYCLORAMA_HEARTBEAT_SECONDS", 1)).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(10).unwrap();
        assert_eq!(car(&service, &customer, "make=honda&model=civic&year=2018").await, 200);
        // The image is sent before the node's report of its stages is counted.
        while !scrape(&service).await.contains("cyclorama_render_stage_seconds") {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        // A job must wait, or there is no lane to report.
        drop(node);
        let waiting = tokio::spawn(service.get(&customer, "/api/v1/images/car?make=honda&model=civic&year=2018&view=rear").send());
        let names = loop {
            let text = scrape(&service).await;
            if text.contains("cyclorama_queue_oldest_seconds") && text.contains("cyclorama_node_memory_bytes") {
                break names_in(&text);
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        };
        waiting.abort();

        let mut asked = 0;
        for path in expressions() {
            for name in names_in(&std::fs::read_to_string(&path).unwrap()) {
                assert!(names.contains(&name), "{}: no service tells {name}: {names:?}", path.display());
                asked += 1;
            }
        }
        assert!(asked > 40, "the expressions were found");
    }

    async fn figures_follow_what_happens(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(10).unwrap();
        told(&service, &[
            ("cyclorama_database_up", &[], 1.0),
            ("cyclorama_nodes_alive", &[], 0.0),
            ("cyclorama_nodes", &[("state", "quarantined")], 0.0),
            ("cyclorama_nodes", &[("state", "lost")], 0.0),
            ("cyclorama_render_failures_total", &[("kind", "quality")], 0.0),
            ("cyclorama_budget_usd", &[], 50.0),
            ("cyclorama_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1.0),
        ])
        .await;

        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        assert_eq!(car(&service, &customer, "make=honda&model=civic&year=2018").await, 200);
        assert_eq!(car(&service, &customer, "make=honda&model=civic&year=2018").await, 200);
        assert_eq!(car(&service, &customer, "make=honda&model=nothing&year=2018").await, 404);
        let card = [("node_id", node.node_id.as_str()), ("node", "fake")];
        let [method, route] = [("method", "GET"), ("route", "/api/v1/images/car")];
        let text = told(&service, &[
            ("cyclorama_http_requests_total", &[method, route, ("status", "200"), ("code", "")], 2.0),
            ("cyclorama_http_requests_total", &[method, route, ("status", "404"), ("code", "vehicle_not_found")], 1.0),
            ("cyclorama_http_request_seconds_count", &[method, route], 3.0),
            ("cyclorama_renders_total", &[("light", "base_shading")], 1.0),
            ("cyclorama_render_stage_seconds_count", &[("stage", "upload")], 1.0),
            ("cyclorama_credits_taken_total", &[], 2.0),
            ("cyclorama_meter_entries_total", &[("charge", "hold")], 1.0),
            ("cyclorama_meter_entries_total", &[("charge", "settle")], 1.0),
            ("cyclorama_meter_entries_total", &[("charge", "debit")], 1.0),
            ("cyclorama_nodes_alive", &[], 1.0),
            ("cyclorama_node_gpu_memory_used_bytes", &card, 536_870_912.0),
            ("cyclorama_node_gpu_memory_total_bytes", &card, 2_147_483_648.0),
            ("cyclorama_node_gpu_utilisation_ratio", &card, 0.25),
            ("cyclorama_jobs", &[("state", "queued")], 0.0),
            ("cyclorama_budget_settled_usd", &[], 0.002),
        ])
        .await;
        assert!(!text.contains("cyclorama_queue_jobs{"), "an empty lane leaves nothing behind");
    }

    async fn failures_are_counted_by_kind(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(10).unwrap();
        let _node = FakeNode::join(&service, Behaviour::Fail(FailureKind::Model)).await.unwrap();
        assert_eq!(car(&service, &customer, "make=honda&model=civic&year=2018").await, 502);
        told(&service, &[
            ("cyclorama_render_failures_total", &[("kind", "model")], 1.0),
            ("cyclorama_render_failures_total", &[("kind", "internal")], 0.0),
            ("cyclorama_meter_entries_total", &[("charge", "release")], 1.0),
        ])
        .await;
    }
}

#[test]
fn every_alert_names_a_runbook_that_is_there() {
    let rules = std::fs::read_to_string(package_file("../infra/prometheus/alert-rules.yaml")).unwrap();
    let alerts = rules.matches("- alert: ").count();
    let runbooks: Vec<&str> = rules.lines().filter_map(|line| line.trim().strip_prefix("runbook: ")).collect();
    assert!(alerts > 20);
    assert_eq!(runbooks.len(), alerts);
    for runbook in runbooks {
        let text = std::fs::read_to_string(Path::new(&package_file("..")).join(runbook));
        assert!(text.is_ok(), "{runbook}");
    }
}
