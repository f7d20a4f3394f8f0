//! Visitors: browsers in which nobody is signed in.
//!
//! A cookie tells visitors apart. It binds a form to the browser that got it, and lets the
//! playground show the visitor images. The cookie is signed and holds a random number and the time
//! of issue. The service stores nothing about it.

use crate::app::App;
use crate::clock::UnixMs;
use uuid::{Builder, Uuid};

/// Lifetime of a visitor's cookie, in milliseconds. A page that has been open for longer has forms
/// that are out of date.
pub const LIFETIME_MS: i64 = 24 * 3_600_000;

/// UUID version of visitors' ids. Version 8 is free for a format of our own (RFC 9562). Ids of
/// signed URLs, which are signed with the same keys, have version 7, so neither can pass for the
/// other.
const VERSION: usize = 8;

/// Returns the cookie for a new visitor.
pub async fn welcome(app: &App) -> Result<String, sqlx::Error> {
    app.signing_keys.sign(id(rand::random(), app.clock.now())).await
}

/// Returns true if the service issued the cookie less than [`LIFETIME_MS`] ago.
pub async fn is_known(app: &App, cookie: &str) -> Result<bool, sqlx::Error> {
    let verified = app.signing_keys.verify(cookie).await?;
    Ok(verified.is_some_and(|id| is_current(id, app.clock.now())))
}

/// Returns a visitor's id: 48 bits of time, as in version 7, and 74 random bits from `bytes`.
fn id(mut bytes: [u8; 16], now: UnixMs) -> Uuid {
    bytes[..6].copy_from_slice(&now.0.to_be_bytes()[2..]);
    Builder::from_custom_bytes(bytes).into_uuid()
}

fn is_current(id: Uuid, now: UnixMs) -> bool {
    let mut at = [0; 8];
    at[2..].copy_from_slice(&id.as_bytes()[..6]);
    let age_ms = now.0 - i64::from_be_bytes(at);
    id.get_version_num() == VERSION && (0..LIFETIME_MS).contains(&age_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_long_and_nothing_else() {
        let now = UnixMs(1_795_219_200_000);
        let visitor = id([0xff; 16], now);
        for (after_ms, current) in [(0, true), (LIFETIME_MS - 1, true), (LIFETIME_MS, false), (-1, false)] {
            assert_eq!(is_current(visitor, now.plus_ms(after_ms)), current, "{after_ms}");
        }
        assert_ne!(id([1; 16], now), id([2; 16], now));
        assert!(!is_current(Uuid::now_v7(), UnixMs(i64::MAX)), "the id of a signed address is no visitor's");
    }
}
