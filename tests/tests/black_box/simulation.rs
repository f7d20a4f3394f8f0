//! `cyclorama simulate`: the real queue with simulated nodes, small. Nothing is lost, and lanes
//! keep their order and their part.

use cyclorama_tests::programs::binaries;
use serde_json::Value;
use std::process::Command;

fn simulate(arguments: &[&str]) -> Value {
    let program = binaries().unwrap().join("cyclorama");
    let ran = Command::new(program).args(["simulate", "--json"]).args(arguments).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice::<Value>(&ran.stdout).unwrap()["outcome"].take()
}

#[test]
fn a_farm_asked_for_too_much_keeps_its_nodes_busy_and_loses_nothing() {
    let outcome = simulate(&[
        "--nodes",
        "5",
        "--jobs",
        "1500",
        "--load",
        "1.5",
        "--prewarm",
        "--failing",
        "0.02",
        "--losses",
        "6",
    ]);
    let count = |name: &str| outcome[name].as_u64().unwrap();
    let waited = |lane: &str, name: &str| outcome["waits"][lane][name].as_f64().unwrap();
    assert_eq!(count("asked"), 1500, "{outcome}");
    assert!(count("refused") > 100, "more than the farm can do is refused at once: {outcome}");
    // Every admitted job ends; prewarming comes on top.
    assert!(count("done") + count("failed") + count("lapsed") >= 1500 - count("refused"), "{outcome}");
    assert!(count("leases_lost") > 0 && count("failed") <= 5, "lost and failed attempts are made up for: {outcome}");
    assert!(outcome["utilisation"].as_f64().unwrap() > 0.95, "{outcome}");
    assert!(waited("interactive", "median") < waited("first-load", "median"), "{outcome}");
    assert!(waited("interactive", "p99") <= 120.0, "nobody is let in to wait for longer: {outcome}");
    let ahead = waited("prewarm", "jobs");
    assert!(ahead >= count("done") as f64 / 25.0, "prewarming has its share: {outcome}");
}

#[test]
fn a_farm_with_time_to_spare_refuses_nobody() {
    let outcome = simulate(&["--nodes", "5", "--jobs", "800", "--load", "0.5", "--failing", "0", "--losses", "0"]);
    for (name, expected) in
        [("asked", 800), ("refused", 0), ("done", 800), ("failed", 0), ("lapsed", 0), ("done_twice", 0)]
    {
        assert_eq!(outcome[name], expected, "{name}: {outcome}");
    }
    let busy = outcome["utilisation"].as_f64().unwrap();
    assert!((0.4..0.6).contains(&busy), "{outcome}");
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let program = binaries().unwrap().join("cyclorama");
    for (argument, value) in [("--load", "0"), ("--failing", "2"), ("--render-seconds", "60"), ("--nodes", "0")] {
        let ran = Command::new(&program).args(["simulate", argument, value]).output().unwrap();
        let told = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(!ran.status.success() && told.contains(argument), "{argument} {value}: {told}");
    }
}
