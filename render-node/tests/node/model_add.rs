//! `cyclorama-node model add`, as an operator runs it.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail it by panicking")]

use crate::support::folders::copy;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn node(arguments: &[&str], models: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cyclorama-node"));
    command.args(arguments).env("CYCLORAMA_NODE_MODELS", models).output().unwrap()
}

/// A Stable Diffusion checkpoint with random weights and a ControlNet, whose card names its
/// licence.
fn checkpoint(parent: &Path) -> PathBuf {
    let folder = parent.join("Tiny SD");
    copy(Path::new("tests/fixtures/checkpoints/sd"), &folder);
    std::fs::write(folder.join("README.md"), "---\nlicense: openrail++\ntags: [vehicles]\n---\n# About\n").unwrap();
    folder
}

#[test]
fn a_folder_becomes_a_model_that_renders() {
    let parent = tempfile::tempdir().unwrap();
    let folder = checkpoint(parent.path());
    let path = folder.to_str().unwrap();
    // The weights are random, so their effect is kept as small as possible.
    let wishes = ["--control", "depth", "--steps", "100", "--strength", "0.01", "--guidance", "1"];
    let added = node(&[&["model", "add", path], &wishes[..]].concat(), parent.path());
    let said = String::from_utf8_lossy(&added.stdout).into_owned();
    assert!(added.status.success(), "{said}{}", String::from_utf8_lossy(&added.stderr));
    assert!(said.contains("is model `tiny-sd` (fp32, openrail++, 16 files)"), "{said}");
    assert!(said.contains("\"control\": \"depth\"") && said.contains("self-test passed in"), "{said}");

    let lock: Value = serde_json::from_slice(&std::fs::read(folder.join("cyclorama.lock.json")).unwrap()).unwrap();
    assert_eq!((&lock["id"], &lock["license"]), (&"tiny-sd".into(), &"openrail++".into()));
    assert_eq!(lock["text_to_image"]["side_px"], 64);

    let doctor = node(&["doctor", "--json"], parent.path());
    let checks: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    assert_eq!(checks["ok"], true, "{checks}");
    assert!(checks["checks"].as_array().unwrap().iter().any(|check| check["name"] == "model Tiny SD"), "{checks}");

    // The prompt comes from the vehicle, the paint from a colour.
    let picture = parent.path().join("picture.png");
    let arguments = ["render", "--body", "hatchback", "--color", "red", "--out", picture.to_str().unwrap()];
    let rendered = node(&arguments, parent.path());
    assert!(rendered.status.success(), "{}", String::from_utf8_lossy(&rendered.stderr));
    assert!(std::fs::metadata(picture).unwrap().len() > 10_000);

    let again = node(&["model", "add", path, "--control", "depth"], parent.path());
    let error = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(!again.status.success() && error.contains("use --replace to write a new one"), "{error}");
}

#[test]
fn numbers_of_16_bits_are_told() {
    let parent = tempfile::tempdir().unwrap();
    let folder = checkpoint(parent.path());
    copy(Path::new("tests/fixtures/checkpoints/instead/half"), &folder);
    let wishes = ["--control", "depth", "--steps", "100", "--strength", "0.01", "--guidance", "1"];
    let added = node(&[&["model", "add", folder.to_str().unwrap()], &wishes[..]].concat(), parent.path());
    let said = String::from_utf8_lossy(&added.stdout).into_owned();
    assert!(said.contains("(fp16, openrail++, 16 files)"), "{said}{}", String::from_utf8_lossy(&added.stderr));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "no asynchronous runtime runs here")]
fn a_killed_run_leaves_the_folder_as_it_was() {
    let parent = tempfile::tempdir().unwrap();
    let folder = checkpoint(parent.path());
    // This model fails the gate in the end, so it never has a lock file, whenever the process is
    // killed.
    let wishes = ["--control", "depth", "--steps", "100", "--strength", "1"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_cyclorama-node"));
    command.args(["model", "add", folder.to_str().unwrap()]).args(wishes).env("RUST_LOG", "off");
    let mut child = command.spawn().unwrap();
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(2) && child.try_wait().unwrap().is_none() {
        assert!(!folder.join("cyclorama.lock.json").exists());
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let left =
        |folder: &Path| std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect::<BTreeSet<_>>();
    let untouched = tempfile::tempdir().unwrap();
    assert_eq!(left(&folder), left(&checkpoint(untouched.path())));
}

#[test]
fn a_model_whose_light_fails_the_gate_is_not_added() {
    let parent = tempfile::tempdir().unwrap();
    let folder = checkpoint(parent.path());
    let wishes = ["--control", "depth", "--strength", "1"];
    let refused = node(&[&["model", "add", folder.to_str().unwrap()], &wishes[..]].concat(), parent.path());
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && error.contains("does not pass the quality gate"), "{error}");
    assert!(error.contains("mottling is"), "{error}");
    assert!(!folder.join("cyclorama.lock.json").exists());
}
