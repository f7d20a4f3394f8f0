//! Settings for stored images in sizes without a preset name.

use super::{ConfigError, SettingsSource};
use crate::delivery::sizes::DerivativeBounds;
use std::time::Duration;

const MIB: u64 = 1024 * 1024;
const DAY_SECONDS: u64 = 86_400;

pub fn read(source: &SettingsSource) -> Result<DerivativeBounds, ConfigError> {
    Ok(DerivativeBounds {
        paid_bytes_max: source.number::<u64>("size_store_mib", 0..=16_384)? * MIB,
        free_bytes_max: source.number::<u64>("size_store_free_mib", 0..=16_384)? * MIB,
        age_max: Duration::from_secs(source.number::<u64>("size_store_days", 1..=365)? * DAY_SECONDS),
        sweep_every: Duration::from_secs(source.number("size_store_sweep_seconds", 1..=DAY_SECONDS)?),
    })
}
