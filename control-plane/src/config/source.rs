//! The sources of settings, in rising precedence: the embedded defaults, the file, the environment.
//! This module knows names and types, not the purpose of any setting.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

/// A setting that stops the start. The error is one line that names
/// the setting and its allowed values.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("setting {name} ({origin}): `{given}` is not allowed; expected {expected}")]
    Value { name: String, origin: String, given: String, expected: String },
    #[error("setting {name} ({origin}): {reason}")]
    Rule { name: String, origin: String, reason: String },
    #[error("setting `{name}` in {file} is unknown; `cyclorama serve --print-defaults` lists all settings")]
    Unknown { name: String, file: String },
    #[error("setting `{name}` in {file} no longer exists: {now}; leave it out")]
    Retired { name: String, file: String, now: &'static str },
    #[error("settings file {file} cannot be read")]
    Read {
        file: String,
        #[source]
        cause: std::io::Error,
    },
    #[error("settings file {file} is not valid TOML: {reason}")]
    Syntax { file: String, reason: String },
}

const DEFAULTS: &str = include_str!("defaults.toml");

/// Environment names without the usual prefix, which the contract fixes.
const BARE_NAMES: &[&str] = &["allow_legacy_query_keys", "ort_dylib_path", "otel_exporter_otlp_endpoint"];

/// Settings that no longer exist, by their short names, and the rule that holds now.
const RETIRED: &[(&str, &str)] = &[("credits_per_image", "an image is one credit")];

/// The prefix of our own variables.
pub const PREFIX: &str = "CYCLORAMA_";

struct GivenValue {
    text: String,
    origin: &'static str,
}

/// Every setting with its value, by its short lower-case name.
pub struct SettingsSource {
    values: BTreeMap<String, GivenValue>,
}

impl SettingsSource {
    /// Returns the defaults file with its comments, as shipped.
    pub fn defaults_text() -> &'static str {
        DEFAULTS
    }

    /// Gathers the three layers. `environment` is an argument so that tests need not change the
    /// process. Only our own variables are read: those of other programs may hold anything, even
    /// bytes that are not text.
    pub fn gather<N: Into<OsString>, V: Into<OsString>>(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, ConfigError> {
        let mut source = SettingsSource { values: BTreeMap::new() };
        source.add_toml("the built-in defaults", DEFAULTS, "default")?;
        if let Some(path) = file {
            let shown = path.display().to_string();
            let text =
                std::fs::read_to_string(path).map_err(|cause| ConfigError::Read { file: shown.clone(), cause })?;
            source.add_toml(&shown, &text, "settings file")?;
        }
        for (name, value) in environment {
            let Some(short) = name.into().to_str().and_then(setting_of) else { continue };
            match value.into().into_string() {
                Ok(text) => source.values.insert(short, GivenValue { text, origin: "environment" }),
                Err(_) => {
                    let (name, origin) = (env_name(&short), "environment".to_owned());
                    return Err(ConfigError::Rule { name, origin, reason: "its value is not UTF-8 text".to_owned() });
                }
            };
        }
        Ok(source)
    }

    fn add_toml(&mut self, file: &str, text: &str, origin: &'static str) -> Result<(), ConfigError> {
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| ConfigError::Syntax {
            file: file.to_owned(),
            reason: e.message().to_owned(),
        })?;
        for (key, value) in table {
            let short = key.strip_prefix(PREFIX).unwrap_or(&key).to_ascii_lowercase();
            if let Some(now) = retired(&short) {
                return Err(ConfigError::Retired { name: key, file: file.to_owned(), now });
            }
            if !is_known(&short) {
                return Err(ConfigError::Unknown { name: key, file: file.to_owned() });
            }
            let text = match value {
                toml::Value::String(text) => text,
                toml::Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
                other => plain(&other),
            };
            self.values.insert(short, GivenValue { text, origin });
        }
        Ok(())
    }

    /// Returns the text of a setting. An empty one counts as not given.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|g| g.text.trim()).filter(|t| !t.is_empty())
    }

    /// Returns a number within bounds, or an error that names the bounds.
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

    /// Returns the error for a value that is not allowed. Values of settings that
    /// hold secrets are not repeated.
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

    /// Returns the error for values that are allowed alone but not together.
    pub fn rule(&self, name: &str, reason: impl Into<String>) -> ConfigError {
        ConfigError::Rule { name: env_name(name), origin: self.origin(name), reason: reason.into() }
    }

    /// True if only the built-in defaults gave this setting.
    pub fn is_default(&self, name: &str) -> bool {
        self.values.get(name).is_none_or(|g| g.origin == "default")
    }

    fn origin(&self, name: &str) -> String {
        self.values.get(name).map_or("not given", |g| g.origin).to_owned()
    }
}

/// Returns the setting that an environment variable gives. Other CYCLORAMA_ variables belong to the
/// node and to the command line, so an unknown one is no error here; [`super::variables`] warns of
/// those that nothing reads.
fn setting_of(variable: &str) -> Option<String> {
    let short = variable.strip_prefix(PREFIX).unwrap_or(variable).to_ascii_lowercase();
    let is_ours = variable.starts_with(PREFIX)
        || (BARE_NAMES.contains(&short.as_str()) && variable == short.to_ascii_uppercase());
    (is_ours && is_known(&short)).then_some(short)
}

/// Returns the names of all settings, as [`SettingsSource::text`] takes them.
pub fn names() -> impl Iterator<Item = &'static str> {
    DEFAULTS.lines().filter_map(|line| {
        let (name, _) = line.trim_start_matches("# ").split_once('=')?;
        let name = name.trim_end();
        (!name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'))
            .then_some(name)
    })
}

/// Returns the rule that holds now, for the name of a setting that no longer exists.
pub fn retired(short: &str) -> Option<&'static str> {
    RETIRED.iter().find(|(name, _)| *name == short).map(|(_, now)| *now)
}

/// Returns the name of a setting in the environment, which is also its name in messages.
fn env_name(short: &str) -> String {
    let upper = short.to_ascii_uppercase();
    if BARE_NAMES.contains(&short) { upper } else { format!("{PREFIX}{upper}") }
}

/// True if the defaults file mentions the setting, commented or not: so no
/// setting can be missing from the manual.
fn is_known(short: &str) -> bool {
    names().any(|name| name == short)
}

fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
