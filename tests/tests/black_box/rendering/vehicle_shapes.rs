//! Geometry of the catalog's vehicles, through the two commands that an operator would join with a
//! pipe.

use cyclorama_tests::programs::binaries;
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

/// Runs the check on these lines, and returns its success and its two outputs.
fn check(lines: &str, arguments: &[&str]) -> (bool, String, String) {
    let mut child = Command::new(binaries().unwrap().join("cyclorama-node"))
        .arg("check-vehicles")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Wrong arguments are refused before any input is read.
    let written = child.stdin.take().unwrap().write_all(lines.as_bytes());
    assert!(written.is_ok() || written.is_err_and(|error| error.kind() == ErrorKind::BrokenPipe));
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

/// The output of `cyclorama catalog list`.
fn catalog() -> String {
    let listed = Command::new(binaries().unwrap().join("cyclorama")).args(["catalog", "list"]).output().unwrap();
    assert!(listed.status.success());
    String::from_utf8(listed.stdout).unwrap()
}

#[test]
fn vehicles_have_their_dimensions_and_closed_skins() {
    let known = [
        "volkswagen\tgolf\t2015",
        "porsche\t911\t2005",
        "ford\tf-150\t2021",
        "john-deere\t1000-series\t1991",
        "international\t",
        "atul-auto\tgem-paxx",
    ];
    let catalog = catalog();
    let lines: String = known
        .iter()
        .map(|start| format!("{}\n", catalog.lines().find(|line| line.starts_with(start)).unwrap()))
        .collect();
    let (good, findings, summary) = check(&lines, &[]);
    assert!(good, "{findings}{summary}");
    assert!(summary.contains("6 vehicles: nothing found"), "{summary}");
}

#[test]
fn what_does_not_hold_is_a_line_and_what_is_no_vehicle_an_error() {
    let trailer = "haulmark\tpassport\t2020\tother\ttrailer\t6000\t2200\t2400\t3000\n";
    let (good, findings, summary) = check(trailer, &[]);
    assert!(!good);
    assert!(findings.starts_with("haulmark/passport/2020\tbuild\t"), "{findings}");
    assert!(summary.contains("build: 1 vehicle\n"), "{summary}");

    let (good, _, error) = check("volkswagen golf 2015\n", &[]);
    assert!(!good && error.contains("volkswagen golf 2015"), "{error}");
}

#[test]
fn how_a_body_reflects_is_a_line_of_figures_and_a_picture() {
    let golf = "volkswagen\tgolf\t2015\tpassenger-car\thatchback\t4249\t1791\t1440\t2629\n";
    let scooter = "vespa\tgts\t2015\tmotorcycle\tscooter\t1950\t740\t1170\t1370\n";
    let (good, table, notes) = check(&format!("{golf}{scooter}"), &["--surfaces"]);
    assert!(good && notes.contains("1 shape without a body left out"), "{notes}");
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines[0][..3], ["vehicle", "kind", "side waves /m"], "{table}");
    assert_eq!(lines[1][..2], ["volkswagen/golf/2015", "hatchback"], "{table}");
    assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{table}");
    assert_eq!(lines.last().unwrap()[1], "hatchback", "{table}");

    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("golf.png");
    let arguments = ["--surfaces", "--json", "--bounds", "--picture", picture.to_str().unwrap()];
    let (good, rows, notes) = check(golf, &arguments);
    let row: serde_json::Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert!(row["surfaces"]["side"]["waves_per_m"].as_f64().unwrap() > 0.0, "{row}");
    // The command fails only if a value is beyond its bounds.
    assert_eq!(good, row["beyond_bounds"].as_array().unwrap().is_empty(), "{row} {notes}");
    assert!(std::fs::read(&picture).unwrap().starts_with(b"\x89PNG"));

    let (good, _, error) = check(golf, &["--bounds"]);
    assert!(!good && error.contains("--surfaces"), "{error}");
    let (good, _, error) = check(scooter, &["--surfaces", "--picture", picture.to_str().unwrap()]);
    assert!(!good && error.contains("--picture needs exactly one body, not 0"), "{error}");
}
