//! Where settings come from, in rising order: the embedded defaults, the file, the environment. Knows names and types,
//! not what any setting is for.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

/// A setting that stops the start: one line that names it and what is allowed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("setting {name} ({origin}): `{given}` is not allowed; expected {expected}")]
    Value { name: String, origin: String, given: String, expected: String },
    #[error("setting {name} ({origin}): {reason}")]
    Rule { name: String, origin: String, reason: String },
    #[error("setting `{name}` in {file} is not known; see `cyclorama serve --print-defaults` for all of them")]
    Unknown { name: String, file: String },
    #[error("settings file {file} cannot be read")]
    Read {
        file: String,
        #[source]
        cause: std::io::Error,
    },
    #[error("settings file {file} is not TOML: {reason}")]
    Syntax { file: String, reason: String },
}

const DEFAULTS: &str = include_str!("defaults.toml");

/// Environment names without the usual prefix, which the contract fixes.
const BARE_NAMES: &[&str] = &["allow_legacy_query_keys", "ort_dylib_path", "otel_exporter_otlp_endpoint"];

struct Given {
    text: String,
    origin: &'static str,
}

/// Every setting given so far, by its short lower-case name.
pub struct Source {
    values: BTreeMap<String, Given>,
}

impl Source {
    /// The commented defaults, as shipped.
    pub fn defaults_text() -> &'static str {
        DEFAULTS
    }

    /// Gathers the three layers. `environment` is passed in so that tests need not change the process.
    pub fn gather(
        file: Option<&Path>,
        environment: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let mut source = Source { values: BTreeMap::new() };
        source.add_toml("the built-in defaults", DEFAULTS, "default")?;
        if let Some(path) = file {
            let shown = path.display().to_string();
            let text =
                std::fs::read_to_string(path).map_err(|cause| ConfigError::Read { file: shown.clone(), cause })?;
            source.add_toml(&shown, &text, "settings file")?;
        }
        for (name, text) in environment {
            let short = match name.strip_prefix("CYCLORAMA_") {
                Some(short) => short.to_ascii_lowercase(),
                None => name.to_ascii_lowercase(),
            };
            let bare = !name.starts_with("CYCLORAMA_");
            // Other CYCLORAMA_ variables belong to the node and to the command line, so an unknown one is no error here.
            if is_known(&short)
                && (!bare || (BARE_NAMES.contains(&short.as_str()) && name == short.to_ascii_uppercase()))
            {
                source.values.insert(short, Given { text, origin: "environment" });
            }
        }
        Ok(source)
    }

    fn add_toml(&mut self, file: &str, text: &str, origin: &'static str) -> Result<(), ConfigError> {
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| ConfigError::Syntax {
            file: file.to_owned(),
            reason: e.message().to_owned(),
        })?;
        for (key, value) in table {
            let short = key.strip_prefix("CYCLORAMA_").unwrap_or(&key).to_ascii_lowercase();
            if !is_known(&short) {
                return Err(ConfigError::Unknown { name: key, file: file.to_owned() });
            }
            let text = match value {
                toml::Value::String(text) => text,
                toml::Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
                other => plain(&other),
            };
            self.values.insert(short, Given { text, origin });
        }
        Ok(())
    }

    /// The text of a setting; empty counts as not given.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|g| g.text.trim()).filter(|t| !t.is_empty())
    }

    /// A number within bounds.
    pub fn number<T>(&self, name: &str, allowed: RangeInclusive<T>) -> Result<T, ConfigError>
    where
        T: FromStr + PartialOrd + Display,
    {
        let expected = || format!("{} to {}", allowed.start(), allowed.end());
        match self.text(name).and_then(|text| text.parse::<T>().ok()) {
            Some(value) if allowed.contains(&value) => Ok(value),
            _ => Err(self.refuse(name, expected())),
        }
    }

    pub fn flag(&self, name: &str) -> Result<bool, ConfigError> {
        match self.text(name).map(str::to_ascii_lowercase).as_deref() {
            None | Some("false" | "0" | "no" | "off") => Ok(false),
            Some("true" | "1" | "yes" | "on") => Ok(true),
            Some(_) => Err(self.refuse(name, "true or false")),
        }
    }

    /// The error for a value that is not allowed. Values of settings that hold secrets are not repeated.
    pub fn refuse(&self, name: &str, expected: impl Into<String>) -> ConfigError {
        let secret = matches!(
            name,
            "operator_token" | "database_url" | "smtp_url" | "stripe_secret_key" | "stripe_webhook_secret"
        );
        let given = if secret { "(not shown)" } else { self.text(name).unwrap_or("") };
        ConfigError::Value {
            name: env_name(name),
            origin: self.origin(name),
            given: given.to_owned(),
            expected: expected.into(),
        }
    }

    /// The error for values that are allowed alone but not together.
    pub fn rule(&self, name: &str, reason: impl Into<String>) -> ConfigError {
        ConfigError::Rule { name: env_name(name), origin: self.origin(name), reason: reason.into() }
    }

    /// Whether nobody but the built-in defaults gave this setting.
    pub fn is_default(&self, name: &str) -> bool {
        self.values.get(name).is_none_or(|g| g.origin == "default")
    }

    fn origin(&self, name: &str) -> String {
        self.values.get(name).map_or("not given", |g| g.origin).to_owned()
    }
}

/// The name in the environment, which is how messages call a setting.
fn env_name(short: &str) -> String {
    let upper = short.to_ascii_uppercase();
    if BARE_NAMES.contains(&short) { upper } else { format!("CYCLORAMA_{upper}") }
}

/// A setting exists when the defaults file mentions it, commented or not: so none can be missing from the manual.
fn is_known(short: &str) -> bool {
    DEFAULTS.lines().any(|line| {
        let line = line.trim_start_matches("# ");
        line.split_once('=').is_some_and(|(name, _)| name.trim_end() == short)
    })
}

fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
