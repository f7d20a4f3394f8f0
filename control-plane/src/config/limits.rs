//! Limits on what one caller, and all callers together, may request of a process.

use super::{ConfigError, SettingsSource};
use std::time::Duration;

/// Default limit of an account, as a multiple of the limit of one key: this many keys of an account
/// may use their full rate at the same time.
const KEYS_AT_FULL_RATE: i64 = 10;

#[derive(Debug, Clone)]
pub struct Limits {
    /// For keys without a limit of their own.
    pub rate_limit_per_minute: i64,
    /// For all of an account's keys without a limit of their own together.
    pub account_rate_limit_per_minute: i64,
    pub device_code_per_minute: i64,
    pub device_token_per_minute: i64,
    pub events_per_minute: i64,
    pub sign_in_per_minute: i64,
    pub sign_up_per_minute: i64,
    pub playground_per_minute: i64,
    pub dashboard_pictures_per_minute: i64,
    /// Free images that have to be rendered, for one client address or account.
    pub free_renders_per_minute: i64,
    /// New images that an account may request and leave unpaid in a UTC day, beside one for each
    /// credit that it spends.
    pub abandoned_renders_per_day: i64,
    /// Images in paints without a preset name that are rendered for one account in a UTC day.
    pub new_paints_per_account_day: i64,
    /// Number of images in such paints that are stored.
    pub custom_paints_kept: i64,
    /// Free images whose size has to be made, for one client address or account.
    pub free_sizes_per_minute: i64,
    pub dashboard_per_minute: i64,
    /// Time between two checks for accounts whose holders want an email about
    /// a low balance or high spending.
    pub alerts_every: Duration,
    pub events: Events,
    /// Requests without a key, for one client network.
    pub public_reads_per_minute: i64,
    /// Accounts that people make by themselves, all together.
    pub sign_ups_per_day: i64,
    /// Sign-ups from one client, and from the network around it, in one UTC day.
    pub sign_ups_per_client_day: i64,
    pub sign_ups_per_network_day: i64,
    pub connections_max: usize,
    /// Time that a client may take for a request's head, or leave our bytes unread.
    pub client_timeout: Duration,
    pub image_cache_bytes_max: u64,
}

/// Limits on the telemetry events that are accepted and stored.
#[derive(Debug, Clone, Copy)]
pub struct Events {
    pub kept_days: i64,
    /// Bytes of one UTC day, from everybody together.
    pub bytes_per_day: i64,
    pub kept_bytes: i64,
}

const MIB: i64 = 1024 * 1024;

impl Limits {
    pub fn read(source: &SettingsSource) -> Result<Self, ConfigError> {
        let per_minute = |name| source.number::<i64>(name, 1..=1_000_000_000);
        let rate_limit_per_minute = per_minute("rate_limit_per_minute")?;
        Ok(Limits {
            rate_limit_per_minute,
            account_rate_limit_per_minute: match source.text("account_rate_limit_per_minute") {
                Some(_) => per_minute("account_rate_limit_per_minute")?,
                None => rate_limit_per_minute * KEYS_AT_FULL_RATE,
            },
            device_code_per_minute: per_minute("device_code_per_minute")?,
            device_token_per_minute: per_minute("device_token_per_minute")?,
            events_per_minute: per_minute("events_per_minute")?,
            sign_in_per_minute: per_minute("sign_in_per_minute")?,
            sign_up_per_minute: per_minute("sign_up_per_minute")?,
            playground_per_minute: per_minute("playground_per_minute")?,
            dashboard_pictures_per_minute: per_minute("dashboard_pictures_per_minute")?,
            free_renders_per_minute: per_minute("free_renders_per_minute")?,
            abandoned_renders_per_day: source.number("abandoned_renders_per_day", 0..=1_000_000_000)?,
            new_paints_per_account_day: source.number("new_paints_per_account_day", 0..=1_000_000_000)?,
            custom_paints_kept: source.number("custom_paints_kept", 0..=1_000_000_000)?,
            free_sizes_per_minute: per_minute("free_sizes_per_minute")?,
            dashboard_per_minute: per_minute("dashboard_per_minute")?,
            alerts_every: Duration::from_secs(source.number("alert_seconds", 1..=3600)?),
            events: Events {
                kept_days: source.number("events_kept_days", 1..=3650)?,
                bytes_per_day: source.number::<i64>("events_mib_per_day", 1..=1_000_000)? * MIB,
                kept_bytes: source.number::<i64>("events_kept_mib", 1..=10_000_000)? * MIB,
            },
            public_reads_per_minute: per_minute("public_reads_per_minute")?,
            sign_ups_per_day: source.number("sign_ups_per_day", 0..=1_000_000_000)?,
            sign_ups_per_client_day: source.number("sign_ups_per_client_day", 1..=1_000_000_000)?,
            sign_ups_per_network_day: source.number("sign_ups_per_network_day", 1..=1_000_000_000)?,
            client_timeout: Duration::from_secs(source.number("client_timeout_seconds", 1..=600)?),
            connections_max: source.number("connections_max", 16..=1_000_000)?,
            image_cache_bytes_max: source.number::<u64>("image_cache_mib", 0..=65_536)? * 1024 * 1024,
        })
    }
}
