//! Counts the accounts that people create by themselves, for each network and UTC day, because
//! every account gets free credits. The counts are in the database, and all processes share them.
//!
//! Why: `docs/decisions/accounts-and-sign-in.md` (Sign-ups per network).

use super::account::AccountError;
use crate::clock::UnixMs;
use crate::db::{Database, Tx};

/// The unique name of a client or of a network around clients, and the number of accounts that it
/// may create in a day.
pub type SignUpCount = (String, i64);

/// Counts one account for each network, in a transaction of its own. Fails with
/// [`AccountError::NetworkFull`], and counts nothing, if one of them has created as
/// many accounts as it may.
pub async fn count(db: &Database, networks: &[SignUpCount], now: UnixMs) -> Result<(), AccountError> {
    let mut tx = db.begin().await?;
    count_in(&mut tx, networks, now).await?;
    tx.commit().await?;
    Ok(())
}

/// Returns true if the next account would be refused. Counts nothing.
pub async fn is_full(db: &Database, networks: &[SignUpCount], now: UnixMs) -> Result<bool, sqlx::Error> {
    for (network, most) in networks {
        let sql = "select accounts from sign_up_counts where network = $1 and day = $2";
        let made: Option<i64> =
            sqlx::query_scalar(sql).bind(network).bind(now.utc_day()).fetch_optional(&db.readers).await?;
        if made.unwrap_or(0) >= *most {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Counts one account for each network in the transaction that creates the account, so that a
/// failed creation is not counted. After an error the transaction must not be committed.
pub(super) async fn count_in(tx: &mut Tx<'_>, networks: &[SignUpCount], now: UnixMs) -> Result<(), AccountError> {
    // All callers count the narrow network first, so that two transactions never
    // wait for each other.
    for (network, most) in networks {
        let counted = sqlx::query(
            "insert into sign_up_counts (network, day, accounts) values ($1, $2, 1)
             on conflict (network, day) do update set accounts = sign_up_counts.accounts + 1
                where sign_up_counts.accounts < $3",
        )
        .bind(network)
        .bind(now.utc_day())
        .bind(most)
        .execute(&mut **tx)
        .await?;
        if counted.rows_affected() != 1 {
            return Err(AccountError::NetworkFull);
        }
    }
    Ok(())
}

/// Returns the seconds until the counts start again at zero, at least one.
pub fn seconds_left(now: UnixMs) -> u64 {
    ((now.utc_day_end().0 - now.0).max(1000) / 1000).unsigned_abs()
}

/// Deletes the counts of days that are over.
pub(super) async fn forget_old(db: &Database, now: UnixMs) -> Result<(), sqlx::Error> {
    db.write(sqlx::query("delete from sign_up_counts where day < $1").bind(now.utc_day())).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::DAY_MS;
    use crate::test_database::databases;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_network_makes_so_many_accounts_a_day() {
        for db in databases().await {
            let now = UnixMs(DAY_MS * 20_000 + DAY_MS / 2);
            let from = |client: u8| [(format!("client 192.0.2.{client}"), 3), ("network 192.0.2.0/24".to_owned(), 5)];
            let at_once = (0..8).map(|_| {
                let (db, networks) = (db.clone(), from(1));
                tokio::spawn(async move { count(&db, &networks, now).await.is_ok() })
            });
            let taken = futures::future::join_all(at_once).await;
            assert_eq!(taken.into_iter().filter(|taken| *taken.as_ref().expect("joins")).count(), 3, "{:?}", db.kind);
            let mut taken = Vec::new();
            for client in [2, 3, 4, 2] {
                let is_full = is_full(&db, &from(client), now).await.expect("counts");
                let counted = count(&db, &from(client), now).await;
                assert!(matches!(counted, Ok(()) | Err(AccountError::NetworkFull)), "{counted:?}");
                assert_eq!(is_full, counted.is_err());
                taken.push(counted.is_ok());
            }
            assert_eq!(taken, [true, true, false, false], "five of the network, what was refused not counted");
            let elsewhere = [("client 198.51.100.1".to_owned(), 3), ("network 198.51.100.0/24".to_owned(), 5)];
            count(&db, &elsewhere, now).await.expect("counts");
            let tomorrow = now.plus_ms(DAY_MS);
            count(&db, &from(1), tomorrow).await.expect("counts");
            forget_old(&db, tomorrow).await.expect("forgets");
            let left: i64 =
                sqlx::query_scalar("select count(*) from sign_up_counts").fetch_one(&db.readers).await.expect("counts");
            assert_eq!(left, 2);
        }
    }

    #[test]
    fn counts_begin_anew_at_midnight() {
        for (ms, seconds) in [(0, 86_400), (DAY_MS - 60_000, 60), (DAY_MS - 1, 1)] {
            assert_eq!(seconds_left(UnixMs(DAY_MS * 20_000 + ms)), seconds, "{ms}");
        }
    }
}
