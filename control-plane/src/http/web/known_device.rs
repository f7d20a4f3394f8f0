//! Browsers that an account's holder has signed in with. A cookie says so: a random name, signed together with the account, so that nobody
//! can make one for an account that is not theirs. Whoever has it is counted apart when signing in, and strangers who try passwords of the
//! same address do not lock its holder out. It opens nothing, and nothing is kept of it here.

use crate::app::App;
use sha2::{Digest, Sha256};
use time::Duration;
use uuid::{Builder, Uuid};

/// Renewed with each sign-in.
pub const LIFETIME: Duration = Duration::days(180);

/// A new browser's cookie, for the holder of the account.
pub async fn remember(app: &App, account_id: &str) -> Result<String, sqlx::Error> {
    let name = format!("{:032x}", rand::random::<u128>());
    let signed = app.signing_keys.sign(id(&name, account_id)).await?;
    Ok(format!("{name}.{signed}"))
}

/// The browser's name, if the cookie is one that we gave out for this account.
pub async fn recognise(app: &App, cookie: &str, account_id: &str) -> Result<Option<String>, sqlx::Error> {
    let Some((name, signed)) = cookie.split_once('.') else { return Ok(None) };
    let verified = app.signing_keys.verify(signed).await?;
    Ok((verified == Some(id(name, account_id))).then(|| name.to_owned()))
}

/// What is signed: of version 5 (made of a name), which neither visitors (8) nor signed addresses (7) have.
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
