//! Geometry of the catalog's vehicles, through the two commands that an operator would join with a pipe.

use cyclorama_tests::programs::binaries;
use std::io::Write;
use std::process::{Command, Stdio};

/// The check's exit and its two outputs for lines on its standard input.
fn check(lines: &str, arguments: &[&str]) -> (bool, String, String) {
    let mut child = Command::new(binaries().unwrap().join("cyclorama-node"))
        .arg("check-vehicles")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

/// `cyclorama catalog list`.
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
