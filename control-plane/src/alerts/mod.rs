//! Emails that the holder of an account requested: the balance is low, or a day's spend is high.
//!
//! This module has an account's thresholds and the marks of the emails that were sent.
//! [`sweep`] checks balances and days separately from the debits, and writes the emails. An
//! email is marked as sent once the mail server has it, so that a crash in between sends it
//! again rather than never.

mod sweep;

pub use sweep::AlertSweep;

use crate::clock::{DAY_MS, UnixMs};
use crate::db::{Database, Tx};
use sqlx::{AnyPool, Row};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlertKind {
    /// The balance has fallen below the threshold.
    LowBalance,
    /// More than the threshold was spent on a UTC day.
    DailySpend,
}

impl AlertKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            AlertKind::LowBalance => "low_balance",
            AlertKind::DailySpend => "daily_spend",
        }
    }
}

/// The thresholds of an account, in credits. `None` if no email is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Thresholds {
    pub low_balance: Option<i64>,
    pub daily_spend: Option<i64>,
}

pub async fn find(pool: &AnyPool, account_id: &str) -> Result<Thresholds, sqlx::Error> {
    let sql = "select kind, threshold_credits from alerts where account_id = $1";
    let mut thresholds = Thresholds::default();
    for row in sqlx::query(sql).bind(account_id).fetch_all(pool).await? {
        let credits = Some(row.try_get(1)?);
        match row.try_get::<&str, _>(0)? {
            "low_balance" => thresholds.low_balance = credits,
            _ => thresholds.daily_spend = credits,
        }
    }
    Ok(thresholds)
}

/// Sets both thresholds. A threshold that is crossed already sends no email: a balance that is
/// below its threshold now has to rise above it first, and days before today no longer count.
pub async fn set(db: &Database, account_id: &str, thresholds: Thresholds, now: UnixMs) -> Result<(), sqlx::Error> {
    let mut tx = db.begin().await?;
    set_one(&mut tx, account_id, AlertKind::LowBalance, thresholds.low_balance, None).await?;
    let below = "update alerts set told = 'low' where account_id = $1 and kind = 'low_balance'
        and threshold_credits > (select credits from balances where balances.account_id = alerts.account_id)";
    sqlx::query(below).bind(account_id).execute(&mut *tx).await?;
    let yesterday = now.plus_ms(-DAY_MS).utc_day();
    set_one(&mut tx, account_id, AlertKind::DailySpend, thresholds.daily_spend, Some(&yesterday)).await?;
    tx.commit().await
}

async fn set_one(
    tx: &mut Tx<'_>,
    account_id: &str,
    kind: AlertKind,
    threshold: Option<i64>,
    told: Option<&str>,
) -> Result<(), sqlx::Error> {
    let query = match threshold {
        None => {
            sqlx::query("delete from alerts where account_id = $1 and kind = $2").bind(account_id).bind(kind.as_str())
        }
        // Setting the same threshold again changes nothing, and a day's email is not sent twice
        // because another number was set.
        Some(threshold) => sqlx::query(
            "insert into alerts (account_id, kind, threshold_credits, told) values ($1, $2, $3, $4)
             on conflict (account_id, kind) do update set threshold_credits = excluded.threshold_credits,
                told = case when alerts.kind = 'daily_spend' or alerts.threshold_credits = excluded.threshold_credits
                            then alerts.told else excluded.told end",
        )
        .bind(account_id)
        .bind(kind.as_str())
        .bind(threshold)
        .bind(told),
    };
    query.execute(&mut **tx).await?;
    Ok(())
}

/// An email that has to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DueEmail {
    kind: AlertKind,
    account_id: String,
    email: String,
    threshold_credits: i64,
    /// The balance, or the credits spent on the day.
    credits: i64,
    /// The mark to set once the email is sent: `low`, or the day.
    told: String,
}

/// Clears the marks of balances that have recovered, so that the next fall sends an email.
async fn arm(db: &Database) -> Result<(), sqlx::Error> {
    let recovered = "update alerts set told = null, retry_at_ms = 0 where kind = 'low_balance' and told is not null
        and threshold_credits <= (select credits from balances where balances.account_id = alerts.account_id)";
    db.write(sqlx::query(recovered)).await?;
    Ok(())
}

/// Returns the emails that have to be written, at most `limit` of each kind.
async fn due(db: &Database, now: UnixMs, limit: i64) -> Result<Vec<DueEmail>, sqlx::Error> {
    let mut found = Vec::new();
    let low = "select a.account_id, c.email, a.threshold_credits, b.credits, 'low'
        from alerts a join balances b on b.account_id = a.account_id join accounts c on c.id = a.account_id
        where a.kind = 'low_balance' and a.told is null and a.retry_at_ms <= $1 and b.credits < a.threshold_credits limit $2";
    let rows = sqlx::query(low).bind(now.0).bind(limit).fetch_all(&db.readers).await?;
    found.extend(rows.iter().map(|row| (AlertKind::LowBalance, row)).map(read).collect::<Result<Vec<_>, _>>()?);
    // Include yesterday: credits spent in its last seconds are seen today.
    let high = "select a.account_id, c.email, a.threshold_credits, u.credits_spent, u.day
        from alerts a join usage_daily u on u.account_id = a.account_id and u.day >= $3 and u.day > a.told
            join accounts c on c.id = a.account_id
        where a.kind = 'daily_spend' and a.retry_at_ms <= $1 and u.credits_spent > a.threshold_credits order by u.day limit $2";
    let rows =
        sqlx::query(high).bind(now.0).bind(limit).bind(now.plus_ms(-DAY_MS).utc_day()).fetch_all(&db.readers).await?;
    found.extend(rows.iter().map(|row| (AlertKind::DailySpend, row)).map(read).collect::<Result<Vec<_>, _>>()?);
    Ok(found)
}

fn read((kind, row): (AlertKind, &sqlx::any::AnyRow)) -> Result<DueEmail, sqlx::Error> {
    Ok(DueEmail {
        kind,
        account_id: row.try_get(0)?,
        email: row.try_get(1)?,
        threshold_credits: row.try_get(2)?,
        credits: row.try_get(3)?,
        told: row.try_get(4)?,
    })
}

/// Claims the writing of an email; other processes wait until `retry_at`. Returns false if another
/// process has claimed it.
async fn claim(db: &Database, due: &DueEmail, now: UnixMs, retry_at: UnixMs) -> Result<bool, sqlx::Error> {
    let update = sqlx::query(
        "update alerts set retry_at_ms = $1 where account_id = $2 and kind = $3 and retry_at_ms <= $4 and (told is null or told < $5)",
    )
    .bind(retry_at.0)
    .bind(due.account_id.clone())
    .bind(due.kind.as_str())
    .bind(now.0)
    .bind(due.told.clone());
    Ok(db.write(update).await? == 1)
}

/// Marks an email as sent, once the mail server has it.
async fn mark(db: &Database, due: &DueEmail) -> Result<(), sqlx::Error> {
    let update = sqlx::query(
        "update alerts set told = $1, retry_at_ms = 0 where account_id = $2 and kind = $3 and (told is null or told < $1)",
    )
    .bind(due.told.clone())
    .bind(due.account_id.clone())
    .bind(due.kind.as_str());
    db.write(update).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::account;
    use crate::ledger::{Credits, grant};
    use crate::test_database::databases;

    const NOON: UnixMs = UnixMs(1_795_176_000_000 + 12 * 3_600_000);

    async fn add(db: &Database, account_id: &str, credits: i64) {
        let mut tx = db.begin().await.expect("begins");
        grant(&mut tx, account_id, Credits(credits), "test", NOON).await.expect("grants");
        tx.commit().await.expect("commits");
    }

    async fn spend(db: &Database, account_id: &str, credits: i64, day: &str) {
        let sql = "insert into usage_daily (account_id, day, requests, images, cached_images, credits_spent) values ($1, $2, 0, 0, 0, $3)
                   on conflict (account_id, day) do update set credits_spent = usage_daily.credits_spent + excluded.credits_spent";
        db.write(sqlx::query(sql).bind(account_id.to_owned()).bind(day.to_owned()).bind(credits))
            .await
            .expect("writes");
        let sql = "update balances set credits = credits - $1 where account_id = $2";
        db.write(sqlx::query(sql).bind(credits).bind(account_id.to_owned())).await.expect("writes");
    }

    /// Runs the sweep once, and returns the emails that it would write, marked as sent.
    async fn told(db: &Database, now: UnixMs) -> Vec<(AlertKind, i64)> {
        arm(db).await.expect("arms");
        let mut told = Vec::new();
        for due in due(db, now, 10).await.expect("looks") {
            assert!(claim(db, &due, now, now.plus_ms(60_000)).await.expect("claims"));
            assert!(!claim(db, &due, now, now.plus_ms(60_000)).await.expect("claims"), "one of two writes it");
            mark(db, &due).await.expect("marks");
            told.push((due.kind, due.credits));
        }
        told
    }

    #[tokio::test]
    async fn a_crossing_and_a_day_are_told_once() {
        for db in databases().await {
            let id = account::open(&db, "a@example.com", Credits(100), NOON).await.expect("opens");
            let today = NOON.utc_day();
            set(&db, &id, Thresholds { low_balance: Some(50), daily_spend: Some(60) }, NOON).await.expect("sets");
            assert_eq!(told(&db, NOON).await, []);
            spend(&db, &id, 50, &today).await;
            assert_eq!(told(&db, NOON).await, [], "50 is not below 50");
            spend(&db, &id, 10, &today).await;
            assert_eq!(told(&db, NOON).await, [(AlertKind::LowBalance, 40)], "60 is not above 60");
            spend(&db, &id, 1, &today).await;
            assert_eq!(told(&db, NOON).await, [(AlertKind::DailySpend, 61)]);
            spend(&db, &id, 1, &today).await;
            assert_eq!(told(&db, NOON).await, []);
            add(&db, &id, 100).await;
            assert_eq!(told(&db, NOON).await, []);
            spend(&db, &id, 100, &today).await;
            assert_eq!(told(&db, NOON).await, [(AlertKind::LowBalance, 38)], "again, once it was above");
            // The last seconds of a day are seen on the next day.
            let tomorrow = NOON.plus_ms(DAY_MS);
            add(&db, &id, 1_000).await;
            spend(&db, &id, 70, &tomorrow.utc_day()).await;
            let after = tomorrow.plus_ms(DAY_MS);
            assert_eq!(told(&db, after).await, [(AlertKind::DailySpend, 70)]);
            spend(&db, &id, 70, &after.utc_day()).await;
            assert_eq!(told(&db, after).await, [(AlertKind::DailySpend, 70)], "once a day");
            assert_eq!(told(&db, after).await, []);
        }
    }

    #[tokio::test]
    async fn what_is_so_already_is_not_told() {
        for db in databases().await {
            let id = account::open(&db, "a@example.com", Credits(100), NOON).await.expect("opens");
            spend(&db, &id, 90, &NOON.plus_ms(-DAY_MS).utc_day()).await;
            let both = Thresholds { low_balance: Some(50), daily_spend: Some(20) };
            set(&db, &id, both, NOON).await.expect("sets");
            assert_eq!(find(&db.readers, &id).await.expect("finds"), both);
            assert_eq!(told(&db, NOON).await, [], "below already, and spent yesterday");
            set(&db, &id, Thresholds { low_balance: Some(5), daily_spend: None }, NOON).await.expect("sets");
            spend(&db, &id, 6, &NOON.utc_day()).await;
            assert_eq!(told(&db, NOON).await, [(AlertKind::LowBalance, 4)], "a lower threshold is crossed again");
            set(&db, &id, Thresholds { low_balance: Some(5), daily_spend: None }, NOON).await.expect("sets");
            assert_eq!(told(&db, NOON).await, [], "saving it again is no crossing");
            set(&db, &id, Thresholds::default(), NOON).await.expect("sets");
            assert_eq!(find(&db.readers, &id).await.expect("finds"), Thresholds::default());
        }
    }
}
