//! Checks the names of types: none stands twice in a program or library, so that a search and a
//! stack trace lead to one place, and none is a lone participle, which would not say of what.

use crate::sources;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

const CRATES: [&str; 7] =
    ["catalog/src", "control-plane/src", "core/src", "render-node/src", "supervisor/src", "tests/src", "vin/src"];

/// Names that files of one kind share: the values of a page's template, the table that a file
/// embeds, and the content of a file that is read.
const OF_A_KIND: [&str; 3] = ["Page", "Table", "File"];

/// Names that stand for one idea in two forms: what the API shows of it and what the domain knows,
/// or what a build has with and without a feature.
const TWO_FORMS: [&str; 9] =
    ["Account", "Body", "Credentials", "CredentialsError", "ImageRequest", "ModelIndex", "Pack", "Pixel", "Problem"];

/// Words that end like a participle and are a noun, or are the public name of a schema.
const NO_PARTICIPLE: [&str; 3] = ["Bed", "Recorded", "Unparsed"];

/// Returns the types of a crate that are not associated types, each with the files that define it.
fn types(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let definition = Regex::new(
        r"(?m)^(?:type|\s*(?:pub(?:\([^)]*\))?\s+)(?:struct|enum|trait|type)|\s*(?:struct|enum|trait))\s+([A-Z]\w*)",
    )
    .unwrap();
    let mut found = BTreeMap::<String, BTreeSet<String>>::new();
    for (path, text) in sources() {
        if path.starts_with(&format!("{folder}/")) && path.ends_with(".rs") {
            for captures in definition.captures_iter(&text) {
                found.entry(captures[1].to_owned()).or_default().insert(path.clone());
            }
        }
    }
    found
}

#[test]
fn no_type_name_stands_twice_in_a_crate() {
    let mut found = Vec::new();
    let mut used = BTreeSet::new();
    for folder in CRATES {
        let types = types(folder);
        assert!(!types.is_empty(), "{folder}: no types found");
        for (name, files) in types.iter().filter(|(_, files)| files.len() > 1) {
            if TWO_FORMS.contains(&name.as_str()) && files.len() == 2 {
                used.insert(name.clone());
            } else if !OF_A_KIND.contains(&name.as_str()) {
                found.push(format!("{name} in {files:?}"));
            }
        }
    }
    assert!(found.is_empty(), "give each of these a name of its own: {found:#?}");
    let unused: Vec<_> = TWO_FORMS.iter().filter(|name| !used.contains(**name)).collect();
    assert!(unused.is_empty(), "these no longer stand twice, take them from the list: {unused:?}");
}

#[test]
fn no_type_is_a_lone_participle() {
    let participle = Regex::new("^[A-Z][a-z]*ed$").unwrap();
    let found: Vec<String> = CRATES
        .iter()
        .flat_map(|folder| types(folder).into_keys())
        .filter(|name| participle.is_match(name) && !NO_PARTICIPLE.contains(&name.as_str()))
        .collect();
    assert!(found.is_empty(), "say of what in the name: {found:?}");
}
