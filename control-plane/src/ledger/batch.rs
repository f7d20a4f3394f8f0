//! One batch of the meter: every statement of its transaction, in one fixed order.
//!
//! The order (windows, named requests, holds, signed addresses, capped keys, balances, usage; each sorted by id) is also the order in which
//! rows are locked, so that several processes on one PostgreSQL never wait for each other in a circle.

use super::key_cap::{Caps, CountedIn, KeyCap};
use super::{AnswerToKeep, Charge, Credits, Delivery, Entry, Metered, NewDeliveryUrl, Outcome, ProcessId, Window};
use super::{delivery_urls, idempotency, usage};
use crate::clock::UnixMs;
use crate::db::{self, Database, DatabaseKind, Tx};
use sqlx::any::AnyArguments;
use sqlx::{Arguments, Row};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use uuid::Uuid;

const WINDOW_MS: i64 = 60_000;

#[derive(Debug)]
pub(super) enum BatchError {
    /// The database refused something in the batch: another grouping may pass.
    Refused(sqlx::Error),
    /// The database cannot be reached or used now: no grouping would pass.
    Unavailable(sqlx::Error),
}

fn inside(error: sqlx::Error) -> BatchError {
    let refused = match &error {
        // Two transactions in each other's way (class 40): in smaller groups they pass.
        sqlx::Error::Database(refused)
            if refused.code().is_some_and(|code| code.len() == 5 && code.starts_with("40")) =>
        {
            true
        }
        sqlx::Error::Database(_) => !db::may_pass(&error),
        sqlx::Error::Encode(_) => true,
        _ => false,
    };
    if refused { BatchError::Refused(error) } else { BatchError::Unavailable(error) }
}

/// Rows for the tables that only grow, written together at the end.
#[derive(Default)]
struct Appended<'e> {
    holds: Vec<Vec<Value<'e>>>,
    delivery_urls: Vec<Vec<Value<'e>>>,
    ledger_entries: Vec<Vec<Value<'e>>>,
    deliveries: Vec<Vec<Value<'e>>>,
}

enum Value<'e> {
    Text(&'e str),
    Owned(String),
    Number(i64),
    NoText,
    NoNumber,
}

impl<'e> Value<'e> {
    fn text_or_null(text: Option<&'e str>) -> Self {
        text.map_or(Value::NoText, Value::Text)
    }
}

/// Applies all entries in one transaction and commits it. Answers are in the order of the entries.
pub(super) async fn apply(
    database: &Database,
    now: UnixMs,
    owner: &ProcessId,
    entries: &[&Entry],
) -> Result<Vec<Metered>, BatchError> {
    let mut tx = database.begin().await.map_err(BatchError::Unavailable)?;
    let written = write(&mut tx, database.kind, now, owner, entries).await;
    let (answers, witness) = match written {
        Ok(done) => done,
        Err(error) => {
            let _ = tx.rollback().await;
            return Err(inside(error));
        }
    };
    match tx.commit().await {
        Ok(()) => Ok(answers),
        // The connection may have broken after the database committed. Any one of the batch's rows tells for all of them.
        Err(error) => match witness {
            Some(id) if was_committed(database, &id).await => Ok(answers),
            _ => Err(BatchError::Unavailable(error)),
        },
    }
}

async fn was_committed(database: &Database, ledger_entry_id: &str) -> bool {
    let found = sqlx::query("select 1 from ledger_entries where id = $1")
        .bind(ledger_entry_id)
        .fetch_optional(&database.readers)
        .await;
    match found {
        Ok(row) => row.is_some(),
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                ledger_entry = ledger_entry_id,
                "a commit broke off and its outcome is unknown"
            );
            false
        }
    }
}

async fn write(
    tx: &mut Tx<'_>,
    kind: DatabaseKind,
    now: UnixMs,
    owner: &ProcessId,
    entries: &[&Entry],
) -> Result<(Vec<Metered>, Option<String>), sqlx::Error> {
    let windows = count_requests(tx, now, entries).await?;
    let mut outcomes: Vec<Option<Outcome>> = entries
        .iter()
        .zip(&windows)
        .map(|(entry, counted)| match counted {
            Some(counted) if counted.over => Some(Outcome::RateLimited),
            _ if matches!(entry.charge, Charge::Nothing) => Some(Outcome::Done { remaining: None }),
            _ => None,
        })
        .collect();

    // First of all: a hold whose attempt was taken over stays open, for its owner to give back.
    check_attempts(tx, entries, &mut outcomes).await?;
    let mut ended = end_holds(tx, now, entries, &mut outcomes).await?;
    change_urls(tx, now, entries, &mut outcomes, &mut ended).await?;
    let caps = move_balances(tx, now, entries, &ended, &mut outcomes).await?;
    keep_answers(tx, entries, &outcomes).await?;
    usage::add(tx, now, usage::of_batch(entries, &outcomes, &ended)).await?;
    let mut appended = Appended::default();
    for (index, entry) in entries.iter().enumerate() {
        if let Some(Outcome::Done { .. }) = outcomes[index] {
            append(&mut appended, now, owner, entry, ended.get(&index), caps.month(entry));
        }
    }
    let witness = appended.ledger_entries.first().and_then(|row| match row.first() {
        Some(Value::Owned(id)) => Some(id.clone()),
        _ => None,
    });
    // Holds and addresses before the ledger's entries, which name them.
    HOLDS.insert(tx, kind, appended.holds).await?;
    DELIVERY_URLS.insert(tx, kind, appended.delivery_urls).await?;
    LEDGER_ENTRIES.insert(tx, kind, appended.ledger_entries).await?;
    DELIVERIES.insert(tx, kind, appended.deliveries).await?;

    let answers = outcomes
        .into_iter()
        .zip(windows)
        .map(|(outcome, counted)| Metered {
            window: counted.map(|counted| counted.window),
            outcome: outcome.unwrap_or(Outcome::UnknownAccount),
        })
        .collect();
    Ok((answers, witness))
}

struct Counted {
    window: Window,
    over: bool,
}

/// Counts every request of the batch against its window: one row for each, taken over by the next window.
async fn count_requests(tx: &mut Tx<'_>, now: UnixMs, entries: &[&Entry]) -> Result<Vec<Option<Counted>>, sqlx::Error> {
    let window_start_ms = now.0 - now.0.rem_euclid(WINDOW_MS);
    let mut by_window: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, entry) in entries.iter().enumerate() {
        if let Some(count) = &entry.count {
            by_window.entry(&count.counted).or_default().push(index);
        }
    }
    let mut counted: Vec<Option<Counted>> = entries.iter().map(|_| None).collect();
    for (counted_for, indexes) in by_window {
        // A process whose clock is a little behind counts into the newer window rather than reopening the older one.
        let row = sqlx::query(
            "insert into rate_windows (counted, window_start_ms, requests) values ($1, $2, $3)
             on conflict (counted) do update set
                requests = case when excluded.window_start_ms > rate_windows.window_start_ms then excluded.requests
                                else rate_windows.requests + excluded.requests end,
                window_start_ms = case when excluded.window_start_ms > rate_windows.window_start_ms then excluded.window_start_ms
                                       else rate_windows.window_start_ms end
             returning window_start_ms, requests",
        )
        .bind(counted_for)
        .bind(window_start_ms)
        .bind(indexes.len() as i64)
        .fetch_one(&mut **tx)
        .await?;
        let (start_ms, requests): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        let reset_seconds = ((start_ms + WINDOW_MS - now.0).max(1) + 999) / 1000;
        let before = requests - indexes.len() as i64;
        for (position, index) in indexes.into_iter().enumerate() {
            let limit = entries[index].count.as_ref().map_or(0, |count| count.limit_per_minute);
            let used = before + position as i64 + 1;
            let window = Window { limit, remaining: (limit - used).max(0), reset_seconds };
            counted[index] = Some(Counted { window, over: used > limit });
        }
    }
    Ok(counted)
}

/// A hold that has ended, or a signed address that was loaded or whose credit is given back.
pub(super) struct Ended {
    pub account_id: String,
    pub credits: Credits,
    /// The cap that its credits count against.
    pub counted: Option<CountedIn>,
}

/// Ends the holds that the batch settles or releases; a hold that is not open any more is left as it is.
async fn end_holds(
    tx: &mut Tx<'_>,
    now: UnixMs,
    entries: &[&Entry],
    outcomes: &mut [Option<Outcome>],
) -> Result<BTreeMap<usize, Ended>, sqlx::Error> {
    let mut endings: Vec<(&str, &str, usize)> = entries
        .iter()
        .enumerate()
        .filter(|(index, _)| outcomes[*index].is_none())
        .filter_map(|(index, entry)| match &entry.charge {
            Charge::Settle { hold_id, .. } => Some((hold_id.as_str(), "settled", index)),
            Charge::Release { hold_id } => Some((hold_id.as_str(), "released", index)),
            _ => None,
        })
        .collect();
    endings.sort_unstable();
    let mut ended = BTreeMap::new();
    for (hold_id, state, index) in endings {
        let row = sqlx::query(
            "update holds set state = $1, ended_at_ms = $2 where id = $3 and state = 'open'
             returning account_id, credits, capped_key_id, capped_month",
        )
        .bind(state)
        .bind(now.0)
        .bind(hold_id)
        .fetch_optional(&mut **tx)
        .await?;
        match row {
            Some(row) => {
                let counted = CountedIn::read(row.try_get(2)?, row.try_get(3)?);
                ended.insert(index, Ended { account_id: row.try_get(0)?, credits: Credits(row.try_get(1)?), counted });
            }
            None => outcomes[index] = Some(Outcome::HoldNotOpen),
        }
    }
    Ok(ended)
}

/// Counts loads of signed addresses and closes those whose credit is given back.
async fn change_urls(
    tx: &mut Tx<'_>,
    now: UnixMs,
    entries: &[&Entry],
    outcomes: &mut [Option<Outcome>],
    ended: &mut BTreeMap<usize, Ended>,
) -> Result<(), sqlx::Error> {
    let mut changes: Vec<(&str, usize)> = entries
        .iter()
        .enumerate()
        .filter(|(index, _)| outcomes[*index].is_none())
        .filter_map(|(index, entry)| match &entry.charge {
            Charge::Load { delivery_url_id, .. } | Charge::Refund { delivery_url_id } => {
                Some((delivery_url_id.as_str(), index))
            }
            _ => None,
        })
        .collect();
    changes.sort_unstable();
    for (id, index) in changes {
        let is_load = matches!(entries[index].charge, Charge::Load { .. });
        let changed = match is_load {
            true => delivery_urls::count_load(tx, now, id).await?,
            false => delivery_urls::consume(tx, id).await?,
        };
        match changed {
            Some(delivery_urls::Changed { account_id, counted }) => {
                ended.insert(index, Ended { account_id, credits: Credits(1), counted });
                // A load moves no credits: its balance is nobody's business.
                if is_load {
                    outcomes[index] = Some(Outcome::Done { remaining: None });
                }
            }
            None => outcomes[index] = Some(Outcome::DeliveryUrlClosed),
        }
    }
    Ok(())
}

/// Refuses named requests that another attempt has taken over.
async fn check_attempts(
    tx: &mut Tx<'_>,
    entries: &[&Entry],
    outcomes: &mut [Option<Outcome>],
) -> Result<(), sqlx::Error> {
    let mut attempts: Vec<(&str, usize)> = answers_to_keep(entries)
        .filter(|(_, index)| outcomes[*index].is_none())
        .map(|(keep, index)| (keep.attempt_id.as_str(), index))
        .collect();
    attempts.sort_unstable();
    for (attempt_id, index) in attempts {
        if !idempotency::is_ours(tx, attempt_id).await? {
            outcomes[index] = Some(Outcome::AttemptLost);
        }
    }
    Ok(())
}

/// Keeps the answers of named requests that were charged.
async fn keep_answers(tx: &mut Tx<'_>, entries: &[&Entry], outcomes: &[Option<Outcome>]) -> Result<(), sqlx::Error> {
    for (keep, index) in answers_to_keep(entries) {
        if let Some(Outcome::Done { remaining: Some(remaining) }) = outcomes[index] {
            idempotency::keep(tx, &keep.attempt_id, &keep.answer, remaining).await?;
        }
    }
    Ok(())
}

fn answers_to_keep<'a>(entries: &[&'a Entry]) -> impl Iterator<Item = (&'a AnswerToKeep, usize)> {
    entries.iter().enumerate().filter_map(|(index, entry)| match &entry.charge {
        Charge::Mint { keep: Some(keep), .. }
        | Charge::Debit { keep: Some(keep), .. }
        | Charge::Settle { keep: Some(keep), .. } => Some((keep, index)),
        _ => None,
    })
}

/// Gives released credits back, then takes debits and holds by guarded updates, account by account. What is taken also fits in the caps of
/// the keys that ask.
async fn move_balances(
    tx: &mut Tx<'_>,
    now: UnixMs,
    entries: &[&Entry],
    ended: &BTreeMap<usize, Ended>,
    outcomes: &mut [Option<Outcome>],
) -> Result<Caps, sqlx::Error> {
    let mut caps = Caps::lock(tx, now, entries, ended, outcomes).await?;
    let mut by_account: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, entry) in entries.iter().enumerate().filter(|(index, _)| outcomes[*index].is_none()) {
        let account_id = match &entry.charge {
            Charge::Nothing | Charge::Load { .. } => continue,
            Charge::Read { account_id }
            | Charge::Debit { account_id, .. }
            | Charge::Hold { account_id, .. }
            | Charge::Mint { account_id, .. } => account_id,
            Charge::Settle { .. } | Charge::Release { .. } | Charge::Refund { .. } => match ended.get(&index) {
                Some(hold) => &hold.account_id,
                None => continue,
            },
        };
        by_account.entry(account_id).or_default().push(index);
    }
    for (account_id, indexes) in by_account {
        let given_back: i64 = indexes
            .iter()
            .filter(|index| matches!(entries[**index].charge, Charge::Release { .. } | Charge::Refund { .. }))
            .filter_map(|index| ended.get(index))
            .map(|hold| hold.credits.0)
            .sum();
        if given_back > 0 {
            sqlx::query("update balances set credits = credits + $1 where account_id = $2")
                .bind(given_back)
                .bind(account_id)
                .execute(&mut **tx)
                .await?;
        }
        let of_account: Vec<&Entry> = indexes.iter().map(|index| entries[*index]).collect();
        match take_all(tx, account_id, &of_account, &mut caps).await? {
            Some(after_all) => {
                let asked: i64 = of_account.iter().map(|entry| entry.charge.asks().0).sum();
                // Everybody is told the balance right after their own entry.
                let mut remaining = after_all.0 + asked;
                for index in indexes {
                    remaining -= entries[index].charge.asks().0;
                    outcomes[index] = Some(Outcome::Done { remaining: Some(Credits(remaining)) });
                }
            }
            None => one_by_one(tx, account_id, &indexes, entries, &mut caps, outcomes).await?,
        }
    }
    caps.write(tx).await?;
    Ok(caps)
}

/// Takes what all of an account's entries ask for, if caps and balance cover it; the balance after it.
async fn take_all(
    tx: &mut Tx<'_>,
    account_id: &str,
    entries: &[&Entry],
    caps: &mut Caps,
) -> Result<Option<Credits>, sqlx::Error> {
    if !caps.take_all(entries) {
        return Ok(None);
    }
    let asked = entries.iter().map(|entry| entry.charge.asks().0).sum();
    let after = take(tx, account_id, asked).await?;
    if after.is_none() {
        caps.put_back(entries);
    }
    Ok(after)
}

/// Takes credits if the balance covers them; returns the balance after it. Taking 0 reads.
async fn take(tx: &mut Tx<'_>, account_id: &str, credits: i64) -> Result<Option<Credits>, sqlx::Error> {
    let query = if credits == 0 {
        sqlx::query("select credits from balances where account_id = $1").bind(account_id)
    } else {
        sqlx::query(
            "update balances set credits = credits - $2 where account_id = $1 and credits >= $2 returning credits",
        )
        .bind(account_id)
        .bind(credits)
    };
    let row = query.fetch_optional(&mut **tx).await?;
    row.map(|row| Ok(Credits(row.try_get(0)?))).transpose()
}

/// The balance, or a key's cap, does not cover the whole group: first come, first served.
async fn one_by_one(
    tx: &mut Tx<'_>,
    account_id: &str,
    indexes: &[usize],
    entries: &[&Entry],
    caps: &mut Caps,
    outcomes: &mut [Option<Outcome>],
) -> Result<(), sqlx::Error> {
    for index in indexes {
        let entry = entries[*index];
        let over_cap = caps.refuses(entry);
        let taken = match over_cap {
            Some(_) => None,
            None => take(tx, account_id, entry.charge.asks().0).await?,
        };
        outcomes[*index] = Some(match (taken, over_cap) {
            (Some(remaining), _) => {
                caps.take(entry);
                Outcome::Done { remaining: Some(remaining) }
            }
            (None, over_cap) => match (take(tx, account_id, 0).await?, over_cap) {
                (Some(balance), Some(KeyCap { cap, spent })) => Outcome::OverCap { balance, cap, spent },
                (Some(balance), None) => Outcome::Insufficient { balance },
                (None, _) => Outcome::UnknownAccount,
            },
        });
    }
    Ok(())
}

/// Collects the rows that an applied entry leaves behind.
fn append<'e>(
    appended: &mut Appended<'e>,
    now: UnixMs,
    owner: &'e ProcessId,
    entry: &'e Entry,
    ended: Option<&Ended>,
    capped_month: Option<&'e str>,
) {
    let mut ledger_entry =
        |account_id: Value<'e>, kind: &'static str, credits: i64, [hold_id, url_id, reason]: [Value<'e>; 3]| {
            let id = Value::Owned(Uuid::now_v7().to_string());
            let credits = Value::Number(credits);
            let row = vec![id, account_id, Value::Text(kind), credits, hold_id, url_id, reason, Value::Number(now.0)];
            appended.ledger_entries.push(row);
        };
    match &entry.charge {
        Charge::Nothing | Charge::Read { .. } => {}
        // Paid for when the address was made.
        Charge::Load { delivery, .. } => {
            if let Some(url) = ended {
                let row = delivery_row(now, Value::Owned(url.account_id.clone()), Credits(0), delivery);
                appended.deliveries.push(row);
            }
        }
        Charge::Debit { account_id, credits, delivery, .. } => {
            ledger_entry(
                Value::Text(account_id),
                "debit",
                -credits.0,
                [Value::NoText, Value::NoText, Value::Text(&delivery.about)],
            );
            appended.deliveries.push(delivery_row(now, Value::Text(account_id), *credits, delivery));
        }
        Charge::Hold { account_id, credits, hold_id, expires_at_ms } => {
            ledger_entry(
                Value::Text(account_id),
                "hold",
                -credits.0,
                [Value::Text(hold_id), Value::NoText, Value::NoText],
            );
            appended.holds.push(vec![
                Value::Text(hold_id),
                Value::Text(account_id),
                Value::Number(credits.0),
                Value::Text("open"),
                Value::Text(owner.as_str()),
                Value::Number(now.0),
                Value::Number(*expires_at_ms),
                Value::text_or_null(entry.capped_key_id.as_deref().filter(|_| capped_month.is_some())),
                Value::text_or_null(capped_month),
            ]);
        }
        Charge::Settle { hold_id, delivery, address, .. } => {
            if let Some(hold) = ended {
                let about = match address {
                    Some(address) => about_urls(std::slice::from_ref(&**address)),
                    None => Value::Text(&delivery.about),
                };
                let of = [Value::Text(hold_id.as_str()), Value::NoText, about];
                ledger_entry(Value::Owned(hold.account_id.clone()), "settle", 0, of);
                // The credits stand in one row: the address's, where there is one.
                let credits = if address.is_some() { Credits(0) } else { hold.credits };
                appended.deliveries.push(delivery_row(now, Value::Owned(hold.account_id.clone()), credits, delivery));
                if let Some(address) = address {
                    let month = hold.counted.as_ref().map(|counted| Value::Owned(counted.month.clone()));
                    let paid_by = Value::Owned(hold.account_id.clone());
                    let loads = 1;
                    appended.delivery_urls.push(delivery_url_row(now, paid_by, address, loads, month));
                }
            }
        }
        Charge::Release { hold_id } => {
            if let Some(hold) = ended {
                let of = [Value::Text(hold_id.as_str()), Value::NoText, Value::NoText];
                ledger_entry(Value::Owned(hold.account_id.clone()), "release", hold.credits.0, of);
            }
        }
        Charge::Mint { account_id, urls, .. } => {
            ledger_entry(
                Value::Text(account_id),
                "debit",
                -(urls.len() as i64),
                [Value::NoText, Value::NoText, about_urls(urls)],
            );
            appended.delivery_urls.extend(
                urls.iter()
                    .map(|url| delivery_url_row(now, Value::Text(account_id), url, 0, capped_month.map(Value::Text))),
            );
        }
        Charge::Refund { delivery_url_id } => {
            if let Some(url) = ended {
                let of = [Value::NoText, Value::Text(delivery_url_id.as_str()), Value::NoText];
                ledger_entry(Value::Owned(url.account_id.clone()), "refund", url.credits.0, of);
            }
        }
    }
}

/// What the entry of signed addresses says.
fn about_urls<'e>(urls: &[NewDeliveryUrl]) -> Value<'e> {
    match urls {
        [] => Value::NoText,
        [one] => Value::Owned(format!("signed address: {}", one.variant.words())),
        [first, others @ ..] => {
            Value::Owned(format!("signed addresses: {} and {} more", first.variant.words(), others.len()))
        }
    }
}

fn delivery_row<'e>(now: UnixMs, account_id: Value<'e>, credits: Credits, delivery: &'e Delivery) -> Vec<Value<'e>> {
    vec![
        Value::Owned(Uuid::now_v7().to_string()),
        account_id,
        Value::Text(&delivery.key_id),
        Value::Text(&delivery.request_id),
        Value::Text(&delivery.render_id),
        Value::Number(delivery.revision),
        Value::Text(delivery.format.as_str()),
        Value::Number(i64::from(delivery.width)),
        Value::Number(i64::from(delivery.height)),
        Value::Text(delivery.source.as_str()),
        Value::Number(credits.0),
        Value::Number(now.0),
    ]
}

/// `loads`: how often it was loaded by what it is written with.
fn delivery_url_row<'e>(
    now: UnixMs,
    account_id: Value<'e>,
    url: &'e NewDeliveryUrl,
    loads: i64,
    capped_month: Option<Value<'e>>,
) -> Vec<Value<'e>> {
    let pixels = |side: Option<u32>| side.map_or(Value::NoNumber, |side| Value::Number(i64::from(side)));
    let variant = &url.variant;
    vec![
        Value::Text(&url.id),
        account_id,
        Value::Text(&url.key_id),
        Value::Text(&url.request_id),
        Value::Text(&variant.make),
        Value::Text(&variant.model),
        Value::Number(i64::from(variant.year)),
        Value::Text(variant.view.as_str()),
        Value::Text(variant.colour.as_str()),
        Value::Text(url.format.as_str()),
        pixels(url.width),
        pixels(url.height),
        Value::Number(url.max_uses),
        Value::Number(loads),
        Value::Text("active"),
        Value::Number(now.0),
        Value::Number(url.expires_at_ms),
        capped_month.unwrap_or(Value::NoText),
    ]
}

static HOLDS: GrowingTable = GrowingTable::new(
    "holds",
    &[
        "id",
        "account_id",
        "credits",
        "state",
        "owner",
        "opened_at_ms",
        "expires_at_ms",
        "capped_key_id",
        "capped_month",
    ],
);
static DELIVERY_URLS: GrowingTable = GrowingTable::new(
    "delivery_urls",
    &[
        "id",
        "account_id",
        "key_id",
        "request_id",
        "make",
        "model",
        "year",
        "view",
        "color",
        "format",
        "width",
        "height",
        "max_uses",
        "uses",
        "state",
        "created_at_ms",
        "expires_at_ms",
        "capped_month",
    ],
);
static LEDGER_ENTRIES: GrowingTable = GrowingTable::new(
    "ledger_entries",
    &["id", "account_id", "kind", "credits", "hold_id", "delivery_url_id", "reason", "at_ms"],
);
static DELIVERIES: GrowingTable = GrowingTable::new(
    "deliveries",
    &[
        "id",
        "account_id",
        "key_id",
        "request_id",
        "render_id",
        "revision",
        "format",
        "width",
        "height",
        "source",
        "credits",
        "at_ms",
    ],
);

/// Rows of one statement: few distinct texts, so that connections keep them prepared, and few statements for any number of rows.
const GROUPS: [usize; 8] = [128, 64, 32, 16, 8, 4, 2, 1];

/// A table that rows are only added to, many at once, and the texts that do it.
struct GrowingTable {
    name: &'static str,
    columns: &'static [&'static str],
    /// By database, then by [`GROUPS`]; written at first use.
    texts: [[OnceLock<String>; GROUPS.len()]; 2],
}

impl GrowingTable {
    const fn new(name: &'static str, columns: &'static [&'static str]) -> Self {
        GrowingTable { name, columns, texts: [const { [const { OnceLock::new() }; GROUPS.len()] }; 2] }
    }

    /// Each row has a value for every column, in their order.
    async fn insert(
        &'static self,
        tx: &mut Tx<'_>,
        kind: DatabaseKind,
        rows: Vec<Vec<Value<'_>>>,
    ) -> Result<(), sqlx::Error> {
        let mut rows = rows.into_iter();
        while rows.len() > 0 {
            let group = GROUPS.iter().position(|size| *size <= rows.len()).unwrap_or(GROUPS.len() - 1);
            let mut arguments = AnyArguments::default();
            for value in rows.by_ref().take(GROUPS[group]).flatten() {
                match value {
                    Value::Text(text) => arguments.add(text),
                    Value::Owned(text) => arguments.add(text),
                    Value::Number(number) => arguments.add(number),
                    Value::NoText => arguments.add(None::<String>),
                    Value::NoNumber => arguments.add(None::<i64>),
                }
                .map_err(sqlx::Error::Encode)?;
            }
            sqlx::query_with(self.text(kind, group), arguments).execute(&mut **tx).await?;
        }
        Ok(())
    }

    fn text(&'static self, kind: DatabaseKind, group: usize) -> &'static str {
        let [sqlite, postgres] = &self.texts;
        let texts = match kind {
            DatabaseKind::Sqlite => sqlite,
            DatabaseKind::Postgres => postgres,
        };
        texts[group].get_or_init(|| {
            let columns = self.columns.len();
            let place = |number: usize| match kind {
                // SQLite looks every numbered one up by its name when a value is bound: the time grows with their square.
                DatabaseKind::Sqlite => "?".to_owned(),
                DatabaseKind::Postgres => format!("${number}"),
            };
            let row = |row: usize| {
                let places: Vec<String> = (1..=columns).map(|column| place(row * columns + column)).collect();
                format!("({})", places.join(", "))
            };
            let rows: Vec<String> = (0..GROUPS[group]).map(row).collect();
            format!("insert into {} ({}) values {}", self.name, self.columns.join(", "), rows.join(", "))
        })
    }
}
