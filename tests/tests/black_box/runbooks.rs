//! `docs/operations`: the commands that runbooks name exist.

use cyclorama_tests::{package_file, programs::binaries};
use regex::Regex;
use std::collections::BTreeSet;
use std::process::Command;

#[test]
fn every_command_of_a_runbook_is_one() {
    // `cyclorama node list`, `cyclorama doctor`, `cyclorama-node run`: a program and up to two
    // words.
    let command = Regex::new(r"`(cyclorama(?:-node)?)((?: [a-z][a-z-]*){1,2})").unwrap();
    let mut commands = BTreeSet::new();
    for entry in std::fs::read_dir(package_file("../docs/operations")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        commands.extend(command.captures_iter(&text).map(|found| (found[1].to_owned(), found[2].trim().to_owned())));
    }
    assert!(commands.len() > 20, "{commands:?}");
    for (program, words) in commands {
        // An unknown command is refused before `--help` is read.
        let mut help = Command::new(binaries().unwrap().join(&program));
        let ran = help.args(words.split(' ')).arg("--help").output().unwrap();
        assert!(ran.status.success(), "{program} {words}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}
