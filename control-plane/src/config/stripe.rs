//! Settings of Stripe: our key, the secret that signs its events, and its URL.

use super::peer::is_safe;
use super::{ConfigError, SettingsSource};
use crate::secret::Secret;
use url::Url;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripeSettings {
    pub secret_key: Secret,
    /// The secret of the webhook endpoint.
    pub webhook_secret: Secret,
    /// URL of the API without the slash at its end.
    pub api_url: String,
}

impl StripeSettings {
    pub fn read(source: &SettingsSource) -> Result<Self, ConfigError> {
        let secret = |name: &str, starts: &[&str], expected: &str| {
            let Some(text) = source.text(name) else {
                return Err(source.rule(name, format!("is needed with CYCLORAMA_PAYMENTS=stripe: {expected}")));
            };
            let rest = starts.iter().find_map(|start| text.strip_prefix(start));
            match rest {
                Some(rest) if (8..=250).contains(&rest.len()) && text.bytes().all(|b| b.is_ascii_graphic()) => {
                    Ok(Secret::new(text))
                }
                _ => Err(source.refuse(name, expected)),
            }
        };
        Ok(StripeSettings {
            secret_key: secret("stripe_secret_key", &["sk_", "rk_"], "a secret or restricted key, sk_... or rk_...")?,
            webhook_secret: secret(
                "stripe_webhook_secret",
                &["whsec_"],
                "the secret of the webhook endpoint, whsec_...",
            )?,
            api_url: api_url(source)?,
        })
    }
}

fn api_url(source: &SettingsSource) -> Result<String, ConfigError> {
    let refuse = || source.refuse("stripe_api_url", "https://host, or http:// with an address of this machine");
    let url = Url::parse(source.text("stripe_api_url").unwrap_or_default()).map_err(|_| refuse())?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    if !(is_safe(&url) && is_bare) {
        return Err(refuse());
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}
