//! Known devices: browsers in which an account's holder has signed in before.
//!
//! A cookie marks such a browser. It holds a random name that is signed together with the account,
//! so that nobody can make one for an account that is not theirs. Sign-in attempts from a known
//! device are counted separately, so that strangers who try passwords for the same address do not
//! lock its holder out. The cookie grants no access, and the service stores nothing about it.

use crate::app::App;
use sha2::{Digest, Sha256};
use time::Duration;
use uuid::{Builder, Uuid};

/// Lifetime of the cookie. Each sign-in renews it.
pub const LIFETIME: Duration = Duration::days(180);

/// Returns the cookie for a browser in which the account's holder has just signed in.
pub async fn remember(app: &App, account_id: &str) -> Result<String, sqlx::Error> {
    let name = format!("{:032x}", rand::random::<u128>());
    let signed = app.signing_keys.sign(id(&name, account_id)).await?;
    Ok(format!("{name}.{signed}"))
}

/// Returns the browser's name if the service issued the cookie for this account.
pub async fn recognise(app: &App, cookie: &str, account_id: &str) -> Result<Option<String>, sqlx::Error> {
    let Some((name, signed)) = cookie.split_once('.') else { return Ok(None) };
    let verified = app.signing_keys.verify(signed).await?;
    Ok((verified == Some(id(name, account_id))).then(|| name.to_owned()))
}

/// Returns the id that is signed. It is a UUID of version 5 (made from a name). Visitors have
/// version 8 and signed URLs version 7, so none of them can pass for another.
fn id(name: &str, account_id: &str) -> Uuid {
    let digest =
        Sha256::new().chain_update("device ").chain_update(account_id).chain_update(" ").chain_update(name).finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    Builder::from_sha1_bytes(bytes).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::id;

    #[test]
    fn a_cookie_is_of_one_browser_and_account() {
        let ours = id("a", "1");
        assert_eq!((ours, ours.get_version_num()), (id("a", "1"), 5));
        for other in [id("b", "1"), id("a", "2"), id("1", "a")] {
            assert_ne!(ours, other);
        }
    }
}
