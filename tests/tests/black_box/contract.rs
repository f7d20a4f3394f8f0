//! The service against its own OpenAPI document, by Schemathesis (a fuzzer from PyPI) with all of
//! its checks on.

use std::process::Stdio;

use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Options, Service, on_both_databases, times, tools};

/// Examples for each operation and phase, in the short and the long form. With those that the
/// document's own rules suggest there are more cases than [`CASES_MIN`].
const EXAMPLES: [u64; 2] = [20, 240];
const CASES_MIN: [u64; 2] = [1_000, 5_000];

on_both_databases! {
    async fn every_answer_is_as_documented(db: DatabaseChoice) {
        let [examples, cases_min] = [EXAMPLES, CASES_MIN].map(|[short, long]| times(short, long));
        let schemathesis = tools::installed("schemathesis").unwrap();
        let options =
            Options::default().set("CYCLORAMA_EVENTS_PER_MINUTE", 1_000_000).set("CYCLORAMA_PUBLIC_READS_PER_MINUTE", 1_000_000);
        let service = Service::start_with(db, options).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(100_000_000).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let output = tokio::process::Command::new("python3")
            .env("PYTHONPATH", &schemathesis)
            .current_dir(folder.path())
            .args(["-m", "schemathesis.cli", "--config-file"])
            .arg(cyclorama_tests::package_file("schemathesis.toml"))
            .arg("run")
            .arg(format!("{}/openapi.json", service.base_url))
            .args(["--header", &format!("Authorization: Bearer {}", customer.key)])
            .args(["--checks", "all", "--max-examples", &examples.to_string(), "--request-timeout", "30", "--no-color"])
            // A fixed seed, so that no release day has a surprise: new findings come from new
            // seeds, tried by hand.
            .args(["--seed", "20261121"])
            .stdin(Stdio::null())
            .output()
            .await
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
        let cases = told.lines().find_map(|line| line.trim().split_once(" generated")?.0.replace(',', "").parse::<u64>().ok());
        println!("{cases:?} cases");
        assert!(cases.is_some_and(|cases| cases >= cases_min), "{cases:?} cases in\n{told}");
    }
}
