//! One batch of the meter: every statement of its transaction, in one fixed order.
//!
//! The order (rate windows, idempotency keys, holds, signed URLs, capped keys, balances, usage;
//! each sorted by id) is also the order in which rows are locked, so that several processes on one
//! PostgreSQL never wait for each other in a circle.

mod money;
mod rows;
mod table;

use super::ended::{CountedIn, EndedHold};
use super::unanswered::{self, BatchId};
use super::{AnswerToKeep, Charge, ChargeOutcome, Credits, MeterAnswer, MeterRequest, ProcessId, Window};
use super::{delivery_urls, idempotency, usage};
use crate::clock::UnixMs;
use crate::db::{self, Database, Tx};
use sqlx::Row;
use std::collections::BTreeMap;

const WINDOW_MS: i64 = 60_000;

/// Result of a batch that was applied.
#[derive(Debug)]
pub(super) struct AppliedBatch {
    /// One answer for each request, in the order of the requests.
    pub answers: Vec<MeterAnswer>,
    /// True if the batch contains a final charge. It then has a row in `meter_batches`, which
    /// records whether its waiting requests were answered.
    pub has_charged: bool,
}

#[derive(Debug)]
pub(super) enum MeterBatchError {
    /// The database refused something in the batch; its halves may succeed.
    Refused(sqlx::Error),
    /// The database cannot be reached or used now; no part of the batch would succeed.
    Unavailable(sqlx::Error),
    /// The connection broke during the commit, so the batch may or may not be committed. Only
    /// returned for a batch that charges somebody.
    Unknown(sqlx::Error, AppliedBatch),
}

fn classify(error: sqlx::Error) -> MeterBatchError {
    let refused = match &error {
        // Two transactions conflict (SQLSTATE class 40); in smaller batches they succeed.
        sqlx::Error::Database(refused)
            if refused.code().is_some_and(|code| code.len() == 5 && code.starts_with("40")) =>
        {
            true
        }
        sqlx::Error::Database(_) => !db::may_pass(&error),
        sqlx::Error::Encode(_) => true,
        _ => false,
    };
    if refused { MeterBatchError::Refused(error) } else { MeterBatchError::Unavailable(error) }
}

/// Applies all requests in one transaction and commits it. The ids of the rows that it
/// writes begin with `batch`.
pub(super) async fn apply(
    database: &Database,
    now: UnixMs,
    owner: &ProcessId,
    batch: &BatchId,
    requests: &[&MeterRequest],
) -> Result<AppliedBatch, MeterBatchError> {
    let mut tx = database.begin().await.map_err(MeterBatchError::Unavailable)?;
    let written = write(&mut tx, database, now, owner, batch, requests).await;
    let applied = match written {
        Ok(applied) => applied,
        Err(error) => {
            let _ = tx.rollback().await;
            return Err(classify(error));
        }
    };
    match tx.commit().await {
        Ok(()) => Ok(applied),
        // The connection may have broken after the database committed.
        Err(error) if applied.has_charged => Err(MeterBatchError::Unknown(error, applied)),
        // Nothing was charged for good: an open hold is released by itself.
        Err(error) => Err(MeterBatchError::Unavailable(error)),
    }
}

async fn write(
    tx: &mut Tx<'_>,
    database: &Database,
    now: UnixMs,
    owner: &ProcessId,
    batch: &BatchId,
    requests: &[&MeterRequest],
) -> Result<AppliedBatch, sqlx::Error> {
    let windows = count_requests(tx, now, requests).await?;
    let mut outcomes: Vec<Option<ChargeOutcome>> = requests
        .iter()
        .zip(&windows)
        .map(|(request, counted)| match counted {
            Some(CountedWindow { over: Some(over), .. }) => Some(*over),
            _ if matches!(request.charge, Charge::Nothing) => Some(ChargeOutcome::Done { remaining: None }),
            _ => None,
        })
        .collect();

    // Check the attempts before ending holds: if another attempt has taken the request over, this
    // attempt's hold must stay open, so that its owner can give it back.
    check_attempts(tx, requests, &mut outcomes).await?;
    let mut ended = end_holds(tx, now, requests, &mut outcomes).await?;
    change_urls(tx, now, requests, &mut outcomes, &mut ended).await?;
    let moved = money::move_balances(tx, now, requests, &ended, &mut outcomes).await?;
    keep_answers(tx, batch, requests, &outcomes).await?;
    usage::add(tx, now, usage::of_batch(requests, &outcomes, &ended)).await?;
    let mut appended = rows::AppendedRows::default();
    let is_done = |index: usize| matches!(outcomes[index], Some(ChargeOutcome::Done { .. }));
    for (index, request) in requests.iter().enumerate().filter(|(index, _)| is_done(*index)) {
        let (id, capped_month) = (batch.entry(index), moved.caps.month(request));
        appended.add(rows::Done { now, owner, request, id, ended: ended.get(&index), capped_month });
    }
    appended.write(tx, database.kind, now, &moved.books).await?;
    let charged = requests.iter().enumerate().filter(|(index, request)| is_done(*index) && request.charge.is_final());
    let has_charged = charged.clone().next().is_some();
    if has_charged {
        let loads = charged.clone().filter_map(|(_, request)| match &request.charge {
            Charge::Load { delivery_url_id, .. } => Some(delivery_url_id.as_str()),
            _ => None,
        });
        unanswered::begin(tx, database.kind, now, owner, batch, &loads.collect::<Vec<_>>()).await?;
    }
    let entry_ids: BTreeMap<usize, String> = charged
        .filter(|(_, request)| !matches!(request.charge, Charge::Load { .. }))
        .map(|(index, _)| (index, batch.entry(index)))
        .collect();

    let answers = outcomes
        .into_iter()
        .zip(windows)
        .enumerate()
        .map(|(index, (outcome, counted))| MeterAnswer {
            window: counted.map(|counted| counted.window),
            outcome: outcome.unwrap_or(ChargeOutcome::UnknownAccount),
            entry_id: entry_ids.get(&index).cloned(),
        })
        .collect();
    Ok(AppliedBatch { answers, has_charged })
}

struct CountedWindow {
    /// The window of the key or the client address, not that of the account.
    window: Window,
    over: Option<ChargeOutcome>,
}

/// Counts every request of the batch against its own window and against its account's window. Each
/// window is one row, which the next window takes over.
async fn count_requests(
    tx: &mut Tx<'_>,
    now: UnixMs,
    requests: &[&MeterRequest],
) -> Result<Vec<Option<CountedWindow>>, sqlx::Error> {
    let window_start_ms = now.0 - now.0.rem_euclid(WINDOW_MS);
    let mut by_window: BTreeMap<String, Vec<(usize, i64, bool)>> = BTreeMap::new();
    for (index, request) in requests.iter().enumerate() {
        let Some(count) = &request.count else { continue };
        by_window.entry(count.counted.clone()).or_default().push((index, count.limit_per_minute, false));
        if let (Some(account_id), Some(limit)) = (&count.account_id, count.account_limit_per_minute) {
            by_window.entry(format!("account {account_id}")).or_default().push((index, limit, true));
        }
    }
    let mut windows: Vec<Option<Window>> = requests.iter().map(|_| None).collect();
    let mut over: Vec<Option<ChargeOutcome>> = requests.iter().map(|_| None).collect();
    for (counted_for, counted) in by_window {
        // A process whose clock is a little behind counts into the newer window rather than
        // reopening the older one.
        let row = sqlx::query(
            "insert into rate_windows (counted, window_start_ms, requests) values ($1, $2, $3)
             on conflict (counted) do update set
                requests = case when excluded.window_start_ms > rate_windows.window_start_ms then excluded.requests
                                else rate_windows.requests + excluded.requests end,
                window_start_ms = case when excluded.window_start_ms > rate_windows.window_start_ms then excluded.window_start_ms
                                       else rate_windows.window_start_ms end
             returning window_start_ms, requests",
        )
        .bind(&counted_for)
        .bind(window_start_ms)
        .bind(counted.len() as i64)
        .fetch_one(&mut **tx)
        .await?;
        let (start_ms, requests): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        let reset_seconds = ((start_ms + WINDOW_MS - now.0).max(1) + 999) / 1000;
        let before = requests - counted.len() as i64;
        for (position, (index, limit, of_account)) in counted.into_iter().enumerate() {
            let used = before + position as i64 + 1;
            if !of_account {
                windows[index] = Some(Window { limit, remaining: (limit - used).max(0), reset_seconds });
            }
            // If both windows are full, the key's is reported: it is the window that
            // the key's holder sees.
            if used > limit && (over[index].is_none() || !of_account) {
                over[index] = Some(ChargeOutcome::RateLimited { limit, of_account });
            }
        }
    }
    let counted = windows.into_iter().zip(over);
    Ok(counted.map(|(window, over)| window.map(|window| CountedWindow { window, over })).collect())
}

/// Ends the holds that the batch settles or releases. A hold that is no longer
/// open is left as it is.
async fn end_holds(
    tx: &mut Tx<'_>,
    now: UnixMs,
    requests: &[&MeterRequest],
    outcomes: &mut [Option<ChargeOutcome>],
) -> Result<BTreeMap<usize, EndedHold>, sqlx::Error> {
    let mut endings: Vec<(&str, bool, usize)> = requests
        .iter()
        .enumerate()
        .filter(|(index, _)| outcomes[*index].is_none())
        .filter_map(|(index, request)| match &request.charge {
            Charge::Settle { hold_id, .. } => Some((hold_id.as_str(), true, index)),
            Charge::Release { hold_id } => Some((hold_id.as_str(), false, index)),
            _ => None,
        })
        .collect();
    endings.sort_unstable();
    let mut ended = BTreeMap::new();
    for (hold_id, is_settled, index) in endings {
        // A released hold leaves no row behind, because no entry was written for it.
        let row = match is_settled {
            true => sqlx::query(
                "update holds set state = 'settled', ended_at_ms = $2 where id = $1 and state = 'open'
                 returning account_id, credits, capped_key_id, capped_month",
            )
            .bind(hold_id)
            .bind(now.0),
            false => sqlx::query(
                "delete from holds where id = $1 and state = 'open' returning account_id, credits, capped_key_id, capped_month",
            )
            .bind(hold_id),
        };
        let row = row.fetch_optional(&mut **tx).await?;
        match row {
            Some(row) => {
                let counted = CountedIn::read(row.try_get(2)?, row.try_get(3)?);
                ended.insert(
                    index,
                    EndedHold { account_id: row.try_get(0)?, credits: Credits(row.try_get(1)?), counted },
                );
            }
            None => outcomes[index] = Some(ChargeOutcome::HoldNotOpen),
        }
    }
    Ok(ended)
}

/// Counts loads of signed URLs, and closes those whose credit is given back.
async fn change_urls(
    tx: &mut Tx<'_>,
    now: UnixMs,
    requests: &[&MeterRequest],
    outcomes: &mut [Option<ChargeOutcome>],
    ended: &mut BTreeMap<usize, EndedHold>,
) -> Result<(), sqlx::Error> {
    let mut changes: Vec<(&str, usize)> = requests
        .iter()
        .enumerate()
        .filter(|(index, _)| outcomes[*index].is_none())
        .filter_map(|(index, request)| match &request.charge {
            Charge::Load { delivery_url_id, .. } | Charge::Refund { delivery_url_id } => {
                Some((delivery_url_id.as_str(), index))
            }
            _ => None,
        })
        .collect();
    changes.sort_unstable();
    for (id, index) in changes {
        let is_load = matches!(requests[index].charge, Charge::Load { .. });
        let changed = match is_load {
            true => delivery_urls::count_load(tx, now, id).await?,
            false => delivery_urls::consume(tx, id).await?,
        };
        match changed {
            Some(delivery_urls::ChangedUrl { account_id, counted }) => {
                ended.insert(index, EndedHold { account_id, credits: Credits::PER_PICTURE, counted });
                // A load moves no credits, so its answer contains no balance.
                if is_load {
                    outcomes[index] = Some(ChargeOutcome::Done { remaining: None });
                }
            }
            None => outcomes[index] = Some(ChargeOutcome::DeliveryUrlClosed),
        }
    }
    Ok(())
}

/// Refuses requests whose idempotency key another attempt has taken over.
async fn check_attempts(
    tx: &mut Tx<'_>,
    requests: &[&MeterRequest],
    outcomes: &mut [Option<ChargeOutcome>],
) -> Result<(), sqlx::Error> {
    let mut attempts: Vec<(&str, usize)> = answers_to_keep(requests)
        .filter(|(_, index)| outcomes[*index].is_none())
        .map(|(keep, index)| (keep.attempt_id.as_str(), index))
        .collect();
    attempts.sort_unstable();
    for (attempt_id, index) in attempts {
        if !idempotency::is_ours(tx, attempt_id).await? {
            outcomes[index] = Some(ChargeOutcome::AttemptLost);
        }
    }
    Ok(())
}

/// Stores the answers of the requests with an idempotency key that were charged.
async fn keep_answers(
    tx: &mut Tx<'_>,
    batch: &BatchId,
    requests: &[&MeterRequest],
    outcomes: &[Option<ChargeOutcome>],
) -> Result<(), sqlx::Error> {
    for (keep, index) in answers_to_keep(requests) {
        if let Some(ChargeOutcome::Done { remaining: Some(remaining) }) = outcomes[index] {
            let entry_id = batch.entry(index);
            idempotency::keep_charged(tx, &keep.attempt_id, &keep.answer, remaining, Some(&entry_id)).await?;
        }
    }
    Ok(())
}

fn answers_to_keep<'a>(requests: &[&'a MeterRequest]) -> impl Iterator<Item = (&'a AnswerToKeep, usize)> {
    requests.iter().enumerate().filter_map(|(index, request)| match &request.charge {
        Charge::Mint { keep: Some(keep), .. }
        | Charge::Debit { keep: Some(keep), .. }
        | Charge::Settle { keep: Some(keep), .. } => Some((keep, index)),
        _ => None,
    })
}
