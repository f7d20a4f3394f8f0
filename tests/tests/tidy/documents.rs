//! Checks that links of documents lead to files and headings that exist, and that decisions which
//! comments name exist.

use cyclorama_tests::package_file;
use regex::Regex;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Documents of this project, below the top of the checkout.
fn documents() -> Vec<PathBuf> {
    let top = package_file("..");
    let mut found = vec![top.join("README.md"), top.join("CONTRIBUTING.md"), top.join("CHANGELOG.md")];
    gather(&top.join("docs"), &mut found);
    assert!(found.len() > 30, "only {} documents were found", found.len());
    found
}

fn gather(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A document's headings, outside of code.
fn headings(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if let Some((_, heading)) = line.split_once(' ').filter(|(marks, _)| {
            !is_code && !marks.is_empty() && marks.len() <= 6 && marks.chars().all(|mark| mark == '#')
        }) {
            found.push(heading.trim().to_owned());
        }
    }
    found
}

/// The anchors of a Markdown page on the usual hosts: lower case, without punctuation, spaces as
/// hyphens.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for heading in headings(text) {
        let kept = heading.to_lowercase().replace(' ', "-");
        let anchor: String = kept.chars().filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter)).collect();
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone()).chain(numbered).find(|anchor| !found.contains(anchor));
        found.extend(free);
    }
    found
}

#[test]
fn links_of_documents_lead_somewhere() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut broken = Vec::new();
    for path in documents() {
        let text = read(&path);
        for target in link.captures_iter(&text).map(|captures| captures[1].to_owned()) {
            if target.contains("://") || target.starts_with("mailto:") || target.starts_with('/') {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let leads = match file.exists() {
                true if anchor.is_empty() || file.extension().is_none_or(|extension| extension != "md") => true,
                true => anchors(&read(&file)).contains(anchor),
                false => false,
            };
            if !leads {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

/// A file that documents name in backticks, by its path or the end of it.
#[test]
fn source_files_that_documents_name_are_there() {
    let named = Regex::new(r"`([\w./-]+/[\w.-]+\.(?:rs|wgsl|py|sh|ts|mjs))`").unwrap();
    let sources: Vec<String> = crate::sources().into_iter().map(|(path, _)| format!("/{path}")).collect();
    let (mut missing, mut count) = (Vec::new(), 0);
    for document in documents() {
        for captures in named.captures_iter(&read(&document)) {
            count += 1;
            let end = format!("/{}", &captures[1]);
            if !sources.iter().any(|source| source.ends_with(&end)) {
                missing.push(format!("{}: {}", document.display(), &captures[1]));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
    assert!(count > 200, "documents name only {count} source files");
}

/// `Why: docs/decisions/page.md (heading).` in a comment, which may span two lines.
#[test]
fn decisions_that_comments_name_are_there() {
    let comment = Regex::new(r"(?m)^\s*//[/!]? ?").unwrap();
    let named = Regex::new(r"(?s)Why: `(docs/decisions/[a-z-]+\.md)`\s*\((.{1,200}?)\)\.").unwrap();
    let (mut broken, mut count) = (Vec::new(), 0);
    for (path, text) in crate::sources() {
        let text = comment.replace_all(&text, " ");
        for captures in named.captures_iter(&text) {
            count += 1;
            let wanted = captures[2].split_whitespace().collect::<Vec<_>>().join(" ");
            let page = package_file("..").join(&captures[1]);
            let is_there = page.exists()
                && headings(&read(&page)).iter().any(|heading| heading.replace('`', "") == wanted.replace('`', ""));
            if !is_there {
                broken.push(format!("{path}: {} ({wanted})", &captures[1]));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
    assert!(count > 25, "only {count} comments name a decision");
}
