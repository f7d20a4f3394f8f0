//! Tidiness of the sources, which needs no service. Two lists hold what was there when the rules were made; they may only get shorter:
//! `CYCLORAMA_UPDATE_TIDY=1 cargo test --workspace --test tidy` writes them as they are now.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that cannot go on stops where it stands")]

mod documents;
mod imports;

use cyclorama_tests::package_file;
use regex::Regex;
use std::collections::BTreeSet;
use std::path::Path;

/// What `rustfmt` does not break (comments, texts, macros) is to be readable in one line all the same.
const LINE_CHARS_MAX: usize = 140;

/// A function is to be seen as a whole.
const FUNCTION_LINES_MAX: usize = 80;

const FOLDERS: [&str; 14] = [
    "catalog",
    "control-plane",
    "core",
    "drawings",
    "fuzz",
    "infra",
    "models",
    "render-node",
    "scripts",
    "sdk",
    "shaders",
    "supervisor",
    "tests",
    "vin",
];
const ENDINGS: [&str; 7] = ["js", "mjs", "py", "rs", "sh", "ts", "wgsl"];
/// Folders of what is built, downloaded or measured.
const NOT_OURS: [&str; 6] = ["__pycache__", "artifacts", "dist", "node_modules", "target", "work"];

/// Every source file: its path from the top of the checkout, and its text.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        gather(Path::new(&package_file("..")), folder, &mut found);
    }
    found.sort();
    assert!(found.len() > 500, "only {} source files were found", found.len());
    found
}

fn gather(top: &Path, folder: &str, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(top.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{folder}/{name}");
        if entry.file_type().unwrap().is_dir() {
            if !name.starts_with('.') && !NOT_OURS.contains(&name.as_str()) {
                gather(top, &path, found);
            }
        } else if name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending)) {
            found.push((path, std::fs::read_to_string(entry.path()).unwrap()));
        }
    }
}

/// Fails unless exactly what is `found` stands in a list beside this file, a line each.
fn only_as_listed(list: &str, found: BTreeSet<String>, advice: &str) {
    let path = package_file("tests/tidy").join(list);
    if std::env::var_os("CYCLORAMA_UPDATE_TIDY").is_some() {
        let text: String = found.iter().map(|line| format!("{line}\n")).collect();
        return std::fs::write(path, text).unwrap();
    }
    let text = std::fs::read_to_string(path).unwrap();
    let listed: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    let new: Vec<_> = found.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "{advice}; if there is less than before, lower it in tests/tests/tidy/{list}.\nfound: {new:#?}\nlisted: {gone:#?}"
    );
}

#[test]
fn no_more_long_lines_than_there_were() {
    let too_long = |line: &&str| line.chars().count() > LINE_CHARS_MAX;
    let counts = sources().into_iter().map(|(path, text)| (path, text.lines().filter(too_long).count()));
    let found = counts.filter(|(_, count)| *count > 0).map(|(path, count)| format!("{path} {count}")).collect();
    only_as_listed("long_lines.txt", found, &format!("break lines of more than {LINE_CHARS_MAX} characters"));
}

#[test]
fn no_more_long_functions_than_there_were() {
    let of_rust = sources().into_iter().filter(|(path, _)| path.ends_with(".rs"));
    let found = of_rust.flat_map(|(path, text)| {
        let long = functions(&text).into_iter().filter(|(_, lines)| *lines > FUNCTION_LINES_MAX);
        long.map(|(name, lines)| format!("{path} {name} {lines}")).collect::<Vec<_>>()
    });
    only_as_listed(
        "long_functions.txt",
        found.collect(),
        &format!("divide functions of more than {FUNCTION_LINES_MAX} lines"),
    );
}

/// Functions of formatted Rust, and how many lines each has, from `fn` to the brace below it.
fn functions(text: &str) -> Vec<(String, usize)> {
    let head = Regex::new(r"^( *)(?:pub(?:\([a-z: ]+\))? )?(?:const |async )*fn ([a-z][a-z0-9_]*)").unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let Some(head) = head.captures(line) else { continue };
        let below = &lines[first..];
        // Otherwise a declaration, or all of it on one line.
        let has_body =
            below.iter().find(|line| line.ends_with(['{', ';', '}'])).is_some_and(|line| line.ends_with('{'));
        let end = format!("{}}}", &head[1]);
        if let Some(last) = below.iter().position(|line| line.starts_with(&end)).filter(|_| has_body) {
            found.push((head[2].to_owned(), last + 1));
        }
    }
    found
}

#[test]
fn functions_are_found_with_their_lengths() {
    let text = "\
pub(crate) async fn first(
    a: u8,
) -> u8 {
    if a > 1 {
        a
    }
}

trait T {
    fn declared(&self);
    fn given(&self) -> u8 {
        1
    }
}

const fn short() {}
";
    let found = functions(text);
    assert_eq!(found, [("first".to_owned(), 7), ("given".to_owned(), 3)]);
}

#[test]
fn nothing_is_left_to_be_done_later() {
    let marks = Regex::new(r"\btodo!|\bdbg!|\bFIXME\b|\bTODO\b|\bXXX\b|#\[ignore").unwrap();
    let own = "tests/tests/tidy/main.rs";
    for (path, text) in sources().iter().filter(|(path, _)| path != own) {
        for (number, line) in text.lines().enumerate() {
            let mark = marks.find(line).map(|mark| mark.as_str());
            assert_eq!(mark, None, "{path}:{}: do it now, or say in words why it is as it is", number + 1);
        }
    }
}

/// The README tells of the built-in model what the model's card says.
#[test]
fn figures_of_the_readme_are_those_of_the_model_card() {
    let read = |name: &str| std::fs::read_to_string(package_file("..").join(name)).unwrap();
    let card = read("models/builtin/README.md");
    let of_card = |pattern: &str| {
        let found = Regex::new(pattern).unwrap().captures(&card);
        found.unwrap_or_else(|| panic!("the card has no {pattern}"))[1].to_owned()
    };
    let minutes = of_card(r"\| Time and hardware \| (\d+) min on two cores");
    let trained_on = of_card(r"\| Data \| \d+ views of (\d+) vehicles");
    let judged_by = of_card(r"\| Evaluation set \| \d+ views of (\d+) other vehicles");
    let rounded = |pattern: &str| format!("{:.1}", of_card(pattern).parse::<f64>().unwrap());
    let before = rounded(r"\| \(a\) base shading \| ([\d.]+) \|");
    let after = rounded(r"\| \(c\) \*\*this model\*\*, one step from zeros \| \*\*([\d.]+)\*\* \|");
    let readme = read("README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    for sentence in [
        format!("{minutes} minutes of training on two CPU cores, from {trained_on} vehicles of our own geometry"),
        format!("On {judged_by} vehicles it never saw it takes the studio's own shading from {before} to {after} dB"),
    ] {
        assert!(readme.contains(&sentence), "README.md, \"Honesty\", is to say: {sentence}");
    }
}
