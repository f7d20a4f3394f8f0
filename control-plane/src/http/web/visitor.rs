//! Visitors: browsers nobody has signed in with. A cookie tells one from another; it makes forms theirs alone and lets the playground show
//! them pictures. It is signed, holds a random number and its time, and nothing is kept of it here.

use crate::app::App;
use crate::clock::UnixMs;
use uuid::{Builder, Uuid};

/// How long a page may lie open before its form is out of date.
pub const LIFETIME_MS: i64 = 24 * 3_600_000;

/// Ids of visitors are of version 8 (RFC 9562: ours to define), those of signed addresses, which the same keys sign, of version 7: one is
/// never taken for the other.
const VERSION: usize = 8;

/// A new visitor's cookie.
pub async fn welcome(app: &App) -> Result<String, sqlx::Error> {
    app.signing_keys.sign(id(rand::random(), app.clock.now())).await
}

/// Whether a cookie is one that we gave out, not too long ago.
pub async fn is_known(app: &App, cookie: &str) -> Result<bool, sqlx::Error> {
    let verified = app.signing_keys.verify(cookie).await?;
    Ok(verified.is_some_and(|id| is_current(id, app.clock.now())))
}

/// 48 bits of time, as in version 7, and 74 random ones.
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
