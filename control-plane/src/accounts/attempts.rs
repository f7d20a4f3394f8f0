//! Limits on attempts: to sign in to an email address, or to have email sent to it. Addresses
//! without an account are counted as well, so that the answer reveals nothing. The meter counts the
//! limits per client address.
//!
//! Why: `docs/decisions/accounts-and-sign-in.md` (Password guessing: limits on attempts to sign
//! in).

use crate::clock::UnixMs;
use crate::db::Database;
use sha2::{Digest, Sha256};
use sqlx::Row;
use std::net::{IpAddr, Ipv6Addr};

const WINDOW_MS: i64 = 15 * 60_000;

/// An attempt to count, with its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedAttempt<'a> {
    /// A sign-in at the sign-in page, from one client's network.
    SignIn { email: &'a str, network: IpAddr },
    /// A sign-in at the sign-in page, in a browser in which the account's holder has signed in
    /// before, identified by the browser's name.
    SignInOfDevice { device: &'a str },
    /// An entry of the old password by a user who is signed in.
    PasswordChange { account_id: &'a str },
    /// An email because of a sign-up.
    SignUpMail { email: &'a str },
    /// An email with a link for a new password.
    ResetMail { email: &'a str },
}

impl CountedAttempt<'_> {
    /// Returns the names under which the attempt is counted in a window, each with its maximum: a
    /// person who mistypes stays below it, guessing a password takes ages, and a mailbox is not
    /// flooded. The narrowest comes first.
    fn subjects(self) -> Vec<(String, i64)> {
        match self {
            // Attempts are counted for each network, so that a stranger cannot lock out the owner
            // of an address. They are also counted for the address alone, because a client with a
            // /48 of IPv6 has 65,536 networks; together these may try as often as two networks.
            CountedAttempt::SignIn { email, network } => {
                let address = subject("sign-in", email);
                let mut subjects = vec![(format!("{address} {network}"), 10)];
                subjects.extend(wide(network).map(|wide| (format!("{address} {wide}/48"), 20)));
                subjects.push((address, 100));
                subjects
            }
            CountedAttempt::SignInOfDevice { device } => vec![(format!("sign-in-device {device}"), 10)],
            CountedAttempt::PasswordChange { account_id } => vec![(format!("password-change {account_id}"), 10)],
            CountedAttempt::SignUpMail { email } => vec![(subject("sign-up-mail", email), 3)],
            CountedAttempt::ResetMail { email } => vec![(subject("reset-mail", email), 3)],
        }
    }
}

/// Returns the /48 of an IPv6 address: the prefix that a site or a rented machine commonly gets.
fn wide(network: IpAddr) -> Option<IpAddr> {
    match network {
        IpAddr::V4(_) => None,
        IpAddr::V6(network) => {
            let [a, b, c, ..] = network.segments();
            Some(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0).into())
        }
    }
}

fn subject(name: &str, email: &str) -> String {
    format!("{name} {}", hex::encode(Sha256::digest(email.trim().to_ascii_lowercase())))
}

/// Counts an attempt. Returns false if there have been too many. An attempt that the narrow count
/// refuses does not add to the wide one.
pub async fn count(db: &Database, attempt: CountedAttempt<'_>, now: UnixMs) -> Result<bool, sqlx::Error> {
    for (subject, max) in attempt.subjects() {
        let rows = db
            .write_returning(
                sqlx::query(
                    "insert into attempts (subject, window_start_ms, attempts) values ($1, $2, 1)
                     on conflict (subject) do update set
                        attempts = case when attempts.window_start_ms <= $3 then 1 else attempts.attempts + 1 end,
                        window_start_ms = case when attempts.window_start_ms <= $3 then $2 else attempts.window_start_ms end
                     returning attempts",
                )
                .bind(subject)
                .bind(now.0)
                .bind(now.0 - WINDOW_MS),
            )
            .await?;
        let attempts: i64 = rows.first().ok_or(sqlx::Error::RowNotFound)?.try_get(0)?;
        if attempts > max {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Deletes the counts after the right password was given.
pub async fn delete(db: &Database, attempt: CountedAttempt<'_>) -> Result<(), sqlx::Error> {
    for (subject, _) in attempt.subjects() {
        db.write(sqlx::query("delete from attempts where subject = $1").bind(subject)).await?;
    }
    Ok(())
}

/// Deletes the windows that are over.
pub(super) async fn forget_old(db: &Database, now: UnixMs) -> Result<(), sqlx::Error> {
    db.write(sqlx::query("delete from attempts where window_start_ms <= $1").bind(now.0 - WINDOW_MS)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_database::databases;

    const START: UnixMs = UnixMs(1_000_000);

    fn at_home(email: &str) -> CountedAttempt<'_> {
        CountedAttempt::SignIn { email, network: [203, 0, 113, 9].into() }
    }

    #[tokio::test]
    async fn ten_tries_a_quarter_of_an_hour() {
        for db in databases().await {
            let attempt =
                async |email: &str, at: i64| count(&db, at_home(email), START.plus_ms(at)).await.expect("counts");
            for at in 0..10 {
                assert!(attempt("Ada@example.com", at).await, "{at}");
            }
            assert!(!attempt("ada@EXAMPLE.com ", 10).await, "spelling the address differently does not help");
            assert!(attempt("bob@example.com", 10).await, "another address");
            assert!(!attempt("ada@example.com", WINDOW_MS - 1).await);
            assert!(attempt("ada@example.com", WINDOW_MS).await, "the window is over");
            for at in 0..20 {
                attempt("ada@example.com", WINDOW_MS + at).await;
            }
            delete(&db, at_home("ada@example.com")).await.expect("forgets");
            assert!(attempt("ada@example.com", WINDOW_MS + 30).await);
            forget_old(&db, START.plus_ms(3 * WINDOW_MS)).await.expect("forgets");
            let left: i64 =
                sqlx::query_scalar("select count(*) from attempts").fetch_one(&db.readers).await.expect("counts");
            assert_eq!(left, 0);
        }
    }

    #[tokio::test]
    async fn one_network_locks_nobody_out_and_many_do_not_guess_for_ever() {
        for db in databases().await {
            let email = "ada@example.com";
            let from = async |network: [u8; 4]| {
                count(&db, CountedAttempt::SignIn { email, network: network.into() }, START).await
            };
            for _ in 0..200 {
                from([198, 51, 100, 1]).await.expect("counts");
            }
            assert!(count(&db, at_home(email), START).await.expect("counts"), "the owner, at home");
            let mut taken = 0;
            for last in 0..30 {
                for _ in 0..10 {
                    taken += i64::from(from([192, 0, 2, last]).await.expect("counts"));
                }
            }
            assert_eq!(taken, 100 - 10 - 1, "a hundred for the address, wherever they come from");
            for other in [
                CountedAttempt::SignInOfDevice { device: "known" },
                CountedAttempt::PasswordChange { account_id: "ada" },
                CountedAttempt::SignUpMail { email },
                CountedAttempt::ResetMail { email },
            ] {
                assert!(count(&db, other, START).await.expect("counts"), "counted apart: {other:?}");
            }
        }
    }

    #[tokio::test]
    async fn a_host_with_many_ipv6_networks_does_not_lock_an_address() {
        for db in databases().await {
            let email = "ada@example.com";
            let from = async |segments: [u16; 4]| {
                let [a, b, c, d] = segments;
                let network = Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into();
                count(&db, CountedAttempt::SignIn { email, network }, START).await.expect("counts")
            };
            let mut taken = 0;
            for network in 0..200 {
                taken += i64::from(from([0x2001, 0xdb8, 1, network]).await);
            }
            assert_eq!(taken, 20, "a /48 is let count as two networks");
            assert!(from([0x2001, 0xdb8, 2, 1]).await, "another site");
            assert!(count(&db, at_home(email), START).await.expect("counts"), "the owner, at home");
            delete(&db, CountedAttempt::SignIn { email, network: "2001:db8:1:5::".parse().expect("address") })
                .await
                .expect("forgets");
            assert!(from([0x2001, 0xdb8, 1, 300]).await, "the right password forgets the counts of its network");
        }
    }
}
