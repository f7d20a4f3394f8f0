//! Finds environment variables that look like ours but that nothing reads: a misspelt setting, or
//! one that no longer exists, would otherwise be ignored silently.

use super::source::{PREFIX, names, retired};
use std::ffi::OsStr;
use std::fmt;

/// Variables of the command line, the render node, and the scripts that set
/// a machine up, without the prefix.
const OF_OTHERS: &[&str] = &[
    "ADMIN_URL",
    "CACHE",
    "CONFIG",
    "KEY",
    "NODE_ADAPTER",
    "NODE_BATCH_MAX",
    "NODE_CONFIG",
    "NODE_MEMORY_WATERMARK",
    "NODE_MODELS",
    "NODE_NAME",
    "NODE_PROVIDER",
    "NODE_SHEETS",
    "NODE_SLOTS",
    "NODE_STUDIOS",
    "NODE_TOKEN",
    "NODE_URL",
    "NODE_USD_PER_HOUR",
    "PORT",
    "URL",
];

/// Prefixes of variables of the test suite and its benchmarks, and of those that Kubernetes makes
/// for a service named `cyclorama`.
const FOREIGN_STARTS: &[&str] = &["TEST_", "BENCH_", "PORT_", "SERVICE_"];

/// Least Jaro-Winkler similarity of a misspelt name. Names that are less similar are unrelated.
const ALIKE: f64 = 0.85;

/// A variable that nothing reads. It is displayed as a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownVariable {
    name: String,
    why: UnknownReason,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum UnknownReason {
    /// The name is similar to none of ours.
    Strange,
    /// The variable that may have been meant.
    Misspelt(String),
    /// A setting of that name existed; the text is the rule that holds now.
    Retired(&'static str),
}

impl fmt::Display for UnknownVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match &self.why {
            UnknownReason::Strange => write!(f, "{name} is not a setting and is ignored"),
            UnknownReason::Misspelt(nearest) => {
                write!(f, "{name} is not a setting and is ignored; did you mean {nearest}?")
            }
            UnknownReason::Retired(now) => write!(f, "{name} is no longer a setting and is ignored: {now}"),
        }
    }
}

/// Returns the variables among the names of an environment that nothing reads.
pub fn unknown(environment: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Vec<UnknownVariable> {
    let known: Vec<String> =
        names().map(str::to_ascii_uppercase).chain(OF_OTHERS.iter().map(|name| (*name).to_owned())).collect();
    let mut found = Vec::new();
    for name in environment {
        let Some(short) = name.as_ref().to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        if known.iter().any(|known| known == short) || FOREIGN_STARTS.iter().any(|start| short.starts_with(start)) {
            continue;
        }
        let upper = short.to_ascii_uppercase();
        let likeness = |known: &&String| strsim::jaro_winkler(known, &upper);
        let nearest = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let why = match (retired(&short.to_ascii_lowercase()), nearest.filter(|known| likeness(known) >= ALIKE)) {
            (Some(now), _) => UnknownReason::Retired(now),
            (None, Some(nearest)) => UnknownReason::Misspelt(format!("{PREFIX}{nearest}")),
            (None, None) => UnknownReason::Strange,
        };
        found.push(UnknownVariable { name: format!("{PREFIX}{short}"), why });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_nothing_reads_is_told_with_what_was_meant_or_holds_now() {
        let misspelt = |of: &str| Some(format!("is not a setting and is ignored; did you mean {of}?"));
        for (given, expected) in [
            ("CYCLORAMA_TRUSTED_PROXY", misspelt("CYCLORAMA_TRUSTED_PROXIES")),
            ("CYCLORAMA_LISTENS", misspelt("CYCLORAMA_LISTEN")),
            ("CYCLORAMA_Listen", misspelt("CYCLORAMA_LISTEN")),
            ("CYCLORAMA_NODE_SLOT", misspelt("CYCLORAMA_NODE_SLOTS")),
            ("CYCLORAMA_WXYZ", Some("is not a setting and is ignored".to_owned())),
            (
                "CYCLORAMA_CREDITS_PER_IMAGE",
                Some("is no longer a setting and is ignored: an image is one credit".to_owned()),
            ),
            ("CYCLORAMA_LISTEN", None),
            ("CYCLORAMA_BASE_URL", None),
            ("CYCLORAMA_ALLOW_LEGACY_QUERY_KEYS", None),
            ("CYCLORAMA_KEY", None),
            ("CYCLORAMA_NODE_TOKEN", None),
            ("CYCLORAMA_TEST_POSTGRES_URL", None),
            ("CYCLORAMA_SERVICE_HOST", None),
            ("PATH", None),
            ("MYCYCLORAMA_LISTENS", None),
        ] {
            let told = unknown([given]).pop().map(|told| told.to_string());
            assert_eq!(told, expected.map(|expected| format!("{given} {expected}")), "{given}");
        }
    }

    #[test]
    fn every_variable_of_the_node_is_known() {
        let source = include_str!("../../../render-node/src/config.rs");
        for (at, _) in source.match_indices("\"CYCLORAMA_") {
            let is_of_a_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
            let name = source[at + 1..].split(|c| !is_of_a_name(c)).next().expect("a name");
            assert_eq!(unknown([name]), [], "{name}");
        }
    }
}
