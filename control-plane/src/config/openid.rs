//! Providers with which people may sign in (OpenID Connect). They are in a file of their own,
//! because each has several settings, one of them a secret.

use super::peer::is_safe;
use super::{ConfigError, SettingsSource};
use crate::secret::Secret;
use serde::Deserialize;
use url::Url;

/// Maximum number of providers: each is a button on the page.
const PROVIDERS_MAX: usize = 8;

const SETTING: &str = "openid_providers";

#[derive(Debug, Clone)]
pub struct ProviderSettings {
    /// Identifies the provider in URLs.
    pub id: String,
    /// The text on the provider's button.
    pub name: String,
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Secret,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    provider: Vec<ProviderEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderEntry {
    id: String,
    name: String,
    issuer: String,
    client_id: String,
    client_secret: String,
}

impl ProviderSettings {
    /// Reads all providers. None means that people can sign in only with passwords.
    pub fn read_all(source: &SettingsSource) -> Result<Vec<Self>, ConfigError> {
        let Some(path) = source.text(SETTING) else { return Ok(Vec::new()) };
        let wrong = |reason: String| source.rule(SETTING, format!("{path}: {reason}"));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        // Only the message is shown: the text around it may hold a secret.
        let file: File = toml::from_str(&text).map_err(|error| wrong(error.message().to_owned()))?;
        if !(1..=PROVIDERS_MAX).contains(&file.provider.len()) {
            return Err(wrong(format!("must have 1 to {PROVIDERS_MAX} providers")));
        }
        let mut providers: Vec<Self> = Vec::new();
        for entry in file.provider {
            if let Some(reason) = entry.wrong() {
                return Err(wrong(format!("provider `{}`: {reason}", entry.id.escape_debug())));
            }
            if providers.iter().any(|known| known.id == entry.id || known.issuer == entry.issuer) {
                return Err(wrong(format!("provider `{}`: another provider has its id or issuer", entry.id)));
            }
            providers.push(ProviderSettings {
                id: entry.id,
                name: entry.name,
                issuer: entry.issuer,
                client_id: entry.client_id,
                client_secret: Secret::new(entry.client_secret),
            });
        }
        Ok(providers)
    }
}

impl ProviderEntry {
    fn wrong(&self) -> Option<&'static str> {
        let is_id = (1..=30).contains(&self.id.len())
            && self.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        let is_name = (1..=40).contains(&self.name.trim().chars().count()) && !self.name.chars().any(char::is_control);
        let is_issuer = Url::parse(&self.issuer)
            .is_ok_and(|url| is_safe(&url) && url.query().is_none() && url.fragment().is_none());
        if !is_id {
            Some("`id` must be up to 30 lower-case letters, digits and hyphens")
        } else if !is_name {
            Some("`name` must have 1 to 40 characters")
        } else if !is_issuer {
            Some("`issuer` must be https://host/path, or http:// and an address of this machine")
        } else if self.client_id.is_empty() || self.client_secret.is_empty() {
            Some("`client_id` and `client_secret` must be those that the provider gave")
        } else {
            None
        }
    }
}
