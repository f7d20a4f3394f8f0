//! Conversion between US dollars as people write them and as they are stored: in whole millionths,
//! because money is never added up in floating point.

/// Converts US dollars to millionths, rounded to the nearest.
pub fn microusd_from(usd: f64) -> i64 {
    (usd * 1e6).round() as i64
}

/// Converts millionths to US dollars, for people and for metrics.
pub fn usd_from(microusd: i64) -> f64 {
    microusd as f64 / 1e6
}
