//! Tidiness of the sources, which needs no service. Two lists record the exceptions from when the
//! rules were made. They may only get shorter: `CYCLORAMA_UPDATE_TIDY=1 cargo test --workspace
//! --test tidy` writes them as they are now.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that cannot go on stops where it stands")]

mod documents;
mod imports;
mod names;

use cyclorama_tests::package_file;
use regex::Regex;
use std::collections::BTreeSet;
use std::path::Path;

/// Maximum line length, in characters. Lines that `rustfmt` does not break (comments, strings,
/// macros) must be readable too.
const LINE_CHARS_MAX: usize = 140;

/// Maximum width of a line of comment, in characters, as in a book.
const COMMENT_COLUMNS_MAX: usize = 100;

/// Maximum length of a function in lines, so that it can be seen as a whole.
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
/// Folders with built, downloaded or measured files.
const NOT_OURS: [&str; 6] = ["__pycache__", "artifacts", "dist", "node_modules", "target", "work"];

/// Returns the path from the top of the checkout and the text of every source file.
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

/// Fails unless a list beside this file has exactly the lines in `found`.
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

/// What begins a comment in a file of this ending.
fn comment_mark(path: &str) -> &'static str {
    if [".py", ".sh", ".toml"].iter().any(|ending| path.ends_with(ending)) { "#" } else { "//" }
}

/// The comments of a file: number of the line, and the line. A `#` in a string of several lines
/// counts as well: it is read the same way.
fn comments<'a>(path: &str, text: &'a str) -> Vec<(usize, &'a str)> {
    let mark = comment_mark(path);
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    lines.filter(|(_, line)| line.trim_start().starts_with(mark)).collect()
}

#[test]
fn comments_are_not_wide() {
    let mut sources = sources();
    let settings = "control-plane/src/config/defaults.toml";
    sources.push((settings.to_owned(), std::fs::read_to_string(package_file("..").join(settings)).unwrap()));
    let mut wide = Vec::new();
    for (path, text) in &sources {
        for (number, line) in comments(path, text) {
            // A URL cannot be broken, and scripts print the line of their usage.
            let may_be_wide = line.contains("://") || line.starts_with("# usage:");
            if line.chars().count() > COMMENT_COLUMNS_MAX && !may_be_wide {
                wide.push(format!("{path}:{number}"));
            }
        }
    }
    assert!(wide.is_empty(), "break comments at {COMMENT_COLUMNS_MAX} columns: {wide:#?}");
}

/// "Of the layers." makes a reader look for the noun, and "Whoever waits" for the verb.
#[test]
fn comments_begin_with_what_they_speak_of() {
    let beginning = Regex::new(r"^\s*(?:///|//!|//|#)\s*(?:Of [^,]*$|Whoever\s)").unwrap();
    let mut found = Vec::new();
    for (path, text) in sources() {
        let mut last = 0;
        for (number, line) in comments(&path, &text) {
            if last + 1 != number && beginning.is_match(line) {
                found.push(format!("{path}:{number}: {}", line.trim()));
            }
            last = number;
        }
    }
    assert!(found.is_empty(), "name the thing first: {found:#?}");
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

/// Finds functions of formatted Rust, and the number of lines of each, from `fn` to the closing
/// brace.
fn functions(text: &str) -> Vec<(String, usize)> {
    let head = Regex::new(r"^( *)(?:pub(?:\([a-z: ]+\))? )?(?:const |async )*fn ([a-z][a-z0-9_]*)").unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let Some(head) = head.captures(line) else { continue };
        let below = &lines[first..];
        // Otherwise it is a declaration, or a function on one line.
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

/// The README has the numbers that the model's card has for the built-in model.
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
        format!(
            "On {judged_by} vehicles it never saw, it raises the PSNR against the path tracer's image from {before} dB \
             (base shading) to {after} dB"
        ),
    ] {
        assert!(readme.contains(&sentence), "README.md, \"Honesty\", is to say: {sentence}");
    }
}
