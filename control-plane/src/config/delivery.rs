//! Settings of signed URLs: the bounds of their lifetime, and the legacy key in a query string.

use super::{ConfigError, SettingsSource};

#[derive(Debug, Clone)]
pub struct DeliverySettings {
    pub ttl_seconds_min: u64,
    pub ttl_seconds_max: u64,
    pub ttl_seconds_default: u64,
    pub allow_legacy_query_keys: bool,
}

impl DeliverySettings {
    pub fn read(source: &SettingsSource) -> Result<Self, ConfigError> {
        let ttl_seconds_min = source.number("delivery_ttl_min", 60..=604_800)?;
        let ttl_seconds_max = source.number("delivery_ttl_max", 60..=604_800)?;
        if ttl_seconds_min > ttl_seconds_max {
            return Err(source.rule("delivery_ttl_min", "must not be above CYCLORAMA_DELIVERY_TTL_MAX"));
        }
        let ttl_seconds_default: u64 = source.number("delivery_ttl_default", 60..=604_800)?;
        Ok(DeliverySettings {
            ttl_seconds_min,
            ttl_seconds_max,
            ttl_seconds_default: ttl_seconds_default.clamp(ttl_seconds_min, ttl_seconds_max),
            allow_legacy_query_keys: source.flag("allow_legacy_query_keys")?,
        })
    }
}
