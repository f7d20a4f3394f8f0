//! Prices, packs and free credits. They are settings, with the contract's values as defaults.

use super::stripe::StripeSettings;
use super::{ConfigError, SettingsSource};
use crate::ledger::CREDITS_MAX;
use std::time::Duration;

/// A pack of credits as it is sold.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Pack {
    pub credits: i64,
    /// Price in US cents.
    pub cents: i64,
}

/// The payment provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payments {
    /// A page of our own, which takes no money.
    Local,
    Stripe(StripeSettings),
    /// No provider: only the operator gives credits.
    Off,
}

#[derive(Debug, Clone)]
pub struct Prices {
    pub credits_per_dollar: i64,
    /// The credits of a new account.
    pub free_credits: i64,
    pub packs: Vec<Pack>,
    pub payments: Payments,
    /// Time between two checks for accounts that are due for an automatic reload.
    pub auto_reload_every: Duration,
}

impl Prices {
    pub fn read(source: &SettingsSource) -> Result<Self, ConfigError> {
        let packs = source
            .text("packs")
            .unwrap_or_default()
            .split(',')
            .map(|pack| {
                let (credits, cents) = pack.trim().split_once(':')?;
                let pack = Pack { credits: credits.trim().parse().ok()?, cents: cents.trim().parse().ok()? };
                ((1..=CREDITS_MAX).contains(&pack.credits) && pack.cents > 0).then_some(pack)
            })
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| {
                let expected = format!("credits:cents pairs above 0 separated by commas, such as 5000:500,10000:1000; at most {CREDITS_MAX} credits");
                source.refuse("packs", expected)
            })?;
        let payments = match source.text("payments") {
            Some("local") => Payments::Local,
            Some("stripe") => Payments::Stripe(StripeSettings::read(source)?),
            Some("off") => Payments::Off,
            _ => return Err(source.refuse("payments", "local, stripe or off")),
        };
        Ok(Prices {
            payments,
            auto_reload_every: Duration::from_secs(source.number("auto_reload_seconds", 1..=3600)?),
            credits_per_dollar: source.number("credits_per_dollar", 1..=1_000_000)?,
            free_credits: source.number("free_credits", 0..=1_000_000)?,
            packs,
        })
    }
}
