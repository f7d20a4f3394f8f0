//! Monthly caps of keys: the total of credits that a key may take in a UTC month.
//!
//! Inside the meter's transaction the rows of the capped keys that a batch charges are locked, in
//! the order of their ids and before any balance. What is read from them therefore stays true until
//! the commit, and no number of processes can exceed a cap. Credits count in the month in which
//! they were taken, and are given back to that month.
//!
//! Why: `docs/decisions/credits-and-ledger.md` (Monthly cap of an API key).

use super::balance::CREDITS_MAX;
use super::ended::{CountedIn, EndedHold};
use super::{Charge, ChargeOutcome, Credits, LedgerError, MeterRequest};
use crate::clock::UnixMs;
use crate::db::{Database, Tx};
use sqlx::Row;
use std::collections::{BTreeMap, BTreeSet};

/// The cap of a key, and the credits that count against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyCap {
    pub cap: Credits,
    /// Credits taken in the month in question.
    pub spent: Credits,
}

impl KeyCap {
    /// Builds the cap from the columns of `api_keys`. Returns `None` if the key has no cap.
    pub fn of(cap: Option<i64>, spent_month: Option<&str>, spent: i64, now: UnixMs) -> Option<Self> {
        let is_of_now = spent_month.is_some_and(|month| month >= now.utc_month().as_str());
        Some(KeyCap { cap: Credits(cap?), spent: Credits(if is_of_now { spent } else { 0 }) })
    }
}

/// The capped keys that a batch charges or gives credits back to. Their rows are locked.
#[derive(Default)]
pub(super) struct Caps {
    locked: BTreeMap<String, LockedCaps>,
    /// For each key that was rotated, the key that has its place, cap and count now.
    replaced: BTreeMap<String, String>,
}

struct LockedCaps {
    /// `None` if the cap was removed after the request arrived.
    cap: Option<i64>,
    month: String,
    spent: i64,
    spent_before: i64,
}

impl Caps {
    /// Locks the rows, and gives back the credits of the holds and URLs that the batch ended.
    pub async fn lock(
        tx: &mut Tx<'_>,
        now: UnixMs,
        entries: &[&MeterRequest],
        ended: &BTreeMap<usize, EndedHold>,
        outcomes: &[Option<ChargeOutcome>],
    ) -> Result<Self, sqlx::Error> {
        let gives = |index: &usize| matches!(entries[*index].charge, Charge::Release { .. } | Charge::Refund { .. });
        let given_back: Vec<(&CountedIn, Credits)> = ended
            .iter()
            .filter(|(index, _)| gives(index))
            .filter_map(|(_, ended)| Some((ended.counted.as_ref()?, ended.credits)))
            .collect();
        let charged =
            entries.iter().zip(outcomes).filter(|(entry, outcome)| outcome.is_none() && entry.charge.asks().0 > 0);
        let mut key_ids: BTreeSet<String> = charged.filter_map(|(entry, _)| entry.capped_key_id.clone()).collect();
        key_ids.extend(given_back.iter().map(|(counted, _)| counted.key_id.clone()));
        let mut caps = Caps::lock_keys(tx, key_ids, now).await?;
        for (counted, credits) in given_back {
            caps.give_back(counted, credits);
        }
        Ok(caps)
    }

    /// Locks keys in the order of their ids. A rotated key is locked with the key in its place,
    /// which is younger and so comes later in that order.
    async fn lock_keys(tx: &mut Tx<'_>, mut key_ids: BTreeSet<String>, now: UnixMs) -> Result<Self, sqlx::Error> {
        let mut caps = Caps::default();
        while let Some(key_id) = key_ids.pop_first() {
            match lock_one(tx, &key_id, now).await? {
                None => {}
                Some((_, Some(replacement))) => {
                    key_ids.insert(replacement.clone());
                    caps.replaced.insert(key_id, replacement);
                }
                Some((locked, None)) => {
                    caps.locked.insert(key_id, locked);
                }
            }
        }
        Ok(caps)
    }

    fn get_mut(&mut self, key_id: &str) -> Option<&mut LockedCaps> {
        let key_id = self.replaced.get(key_id).map_or(key_id, String::as_str);
        self.locked.get_mut(key_id)
    }

    fn give_back(&mut self, counted: &CountedIn, credits: Credits) {
        if let Some(locked) = self.get_mut(&counted.key_id)
            && locked.month == counted.month
        {
            locked.spent = (locked.spent - credits.0).max(0);
        }
    }

    fn of<'c>(&'c self, entry: &MeterRequest) -> Option<&'c LockedCaps> {
        let key_id = entry.capped_key_id.as_deref()?;
        self.locked.get(self.replaced.get(key_id).map_or(key_id, String::as_str))
    }

    /// Returns the cap if it does not cover the entry.
    pub fn refuses(&self, entry: &MeterRequest) -> Option<KeyCap> {
        let locked = self.of(entry)?;
        let (cap, asked) = (locked.cap?, entry.charge.asks().0);
        (asked > 0 && locked.spent + asked > cap).then_some(KeyCap { cap: Credits(cap), spent: Credits(locked.spent) })
    }

    /// Counts the credits that an entry takes.
    pub fn take(&mut self, entry: &MeterRequest) {
        if let Some(locked) = entry.capped_key_id.as_deref().and_then(|key_id| self.get_mut(key_id)) {
            locked.spent += entry.charge.asks().0;
        }
    }

    /// Counts the credits that all these entries take. Returns false, and counts nothing, if a cap
    /// does not cover one of them.
    pub fn take_all(&mut self, entries: &[&MeterRequest]) -> bool {
        for (taken, entry) in entries.iter().enumerate() {
            if self.refuses(entry).is_some() {
                self.put_back(&entries[..taken]);
                return false;
            }
            self.take(entry);
        }
        true
    }

    /// Reverts [`Caps::take`] for entries whose credits were not taken after all.
    pub fn put_back(&mut self, entries: &[&MeterRequest]) {
        for entry in entries {
            if let Some(locked) = entry.capped_key_id.as_deref().and_then(|key_id| self.get_mut(key_id)) {
                locked.spent -= entry.charge.asks().0;
            }
        }
    }

    /// Returns the month in which the entry's credits count, if its key is capped.
    pub fn month(&self, entry: &MeterRequest) -> Option<&str> {
        self.of(entry).map(|locked| locked.month.as_str())
    }

    /// Writes the counts that have changed.
    pub async fn write(&self, tx: &mut Tx<'_>) -> Result<(), sqlx::Error> {
        for (key_id, locked) in self.locked.iter().filter(|(_, locked)| locked.spent != locked.spent_before) {
            sqlx::query("update api_keys set spent_credits = $1 where id = $2")
                .bind(locked.spent)
                .bind(key_id)
                .execute(&mut **tx)
                .await?;
        }
        Ok(())
    }
}

/// Gives counted credits back outside of a batch.
pub(super) async fn give_back<'c>(
    tx: &mut Tx<'_>,
    given_back: impl Iterator<Item = (&'c CountedIn, Credits)>,
    now: UnixMs,
) -> Result<(), sqlx::Error> {
    let given_back: Vec<(&CountedIn, Credits)> = given_back.collect();
    let key_ids = given_back.iter().map(|(counted, _)| counted.key_id.clone()).collect();
    let mut caps = Caps::lock_keys(tx, key_ids, now).await?;
    for (counted, credits) in given_back {
        caps.give_back(counted, credits);
    }
    caps.write(tx).await
}

/// Locks a key's row and resets its count if a new month has begun. Returns it with the key
/// that has taken its place, if it was rotated. A process whose clock is a little behind counts
/// into the newer month.
async fn lock_one(
    tx: &mut Tx<'_>,
    key_id: &str,
    now: UnixMs,
) -> Result<Option<(LockedCaps, Option<String>)>, sqlx::Error> {
    let row = sqlx::query(
        "update api_keys set spent_credits = case when spent_month >= $2 then spent_credits else 0 end,
            spent_month = case when spent_month >= $2 then spent_month else $2 end
         where id = $1 returning monthly_cap_credits, spent_month, spent_credits, replaced_by",
    )
    .bind(key_id)
    .bind(now.utc_month())
    .fetch_optional(&mut **tx)
    .await?;
    row.map(|row| {
        let spent = row.try_get(2)?;
        Ok((LockedCaps { cap: row.try_get(0)?, month: row.try_get(1)?, spent, spent_before: spent }, row.try_get(3)?))
    })
    .transpose()
}

/// Sets, changes or removes the cap of a key in use. Returns false if there is no such key, and
/// [`LedgerError::BadAmount`] if the cap is not between 1 and [`CREDITS_MAX`]. A first cap counts
/// what the key has already taken in this month.
pub async fn set(db: &Database, key_id: &str, cap: Option<Credits>, now: UnixMs) -> Result<bool, LedgerError> {
    if let Some(cap) = cap.filter(|cap| !(1..=CREDITS_MAX).contains(&cap.0)) {
        return Err(LedgerError::BadAmount(cap.0));
    }
    let mut tx = db.begin().await?;
    // Locks the row, so that no batch counts as well what is counted below.
    let before = sqlx::query(
        "update api_keys set spent_credits = spent_credits where id = $1 and revoked_at_ms is null
         returning monthly_cap_credits, account_id",
    )
    .bind(key_id)
    .fetch_optional(&mut *tx)
    .await?;
    let Some(before) = before else { return Ok(false) };
    if cap.is_some() && before.try_get::<Option<i64>, _>(0)?.is_none() {
        let spent = spent_since(&mut tx, before.try_get(1)?, key_id, now.utc_month_start()).await?;
        sqlx::query("update api_keys set spent_month = $1, spent_credits = $2 where id = $3")
            .bind(now.utc_month())
            .bind(spent)
            .bind(key_id)
            .execute(&mut *tx)
            .await?;
    }
    sqlx::query("update api_keys set monthly_cap_credits = $1 where id = $2")
        .bind(cap.map(|cap| cap.0))
        .bind(key_id)
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(true)
}

/// Returns the credits that a key has taken since then and that were not given back.
async fn spent_since(tx: &mut Tx<'_>, account_id: &str, key_id: &str, since: UnixMs) -> Result<i64, sqlx::Error> {
    sqlx::query(
        "select cast(
            coalesce((select sum(credits) from deliveries where account_id = $1 and at_ms >= $3 and key_id = $2), 0)
            + $4 * (select count(*) from delivery_urls where key_id = $2 and created_at_ms >= $3 and state = 'active')
            + coalesce((select sum(credits) from holds where account_id = $1 and state = 'open' and capped_key_id = $2), 0)
         as bigint)",
    )
    .bind(account_id)
    .bind(key_id)
    .bind(since.0)
    .bind(Credits::PER_PICTURE.0)
    .fetch_one(&mut **tx)
    .await?
    .try_get(0)
}
