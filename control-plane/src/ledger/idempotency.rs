//! Requests with `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): each is carried out
//! once, and a repetition gets the stored answer.
//!
//! An attempt is claimed before anything is charged. The answer is stored in the transaction that
//! charges (the meter's), so a crash leaves either both or none, and a repetition is never charged
//! again. The handler decides which requests may have a key.
//!
//! Why: `docs/decisions/api.md` (`Idempotency-Key`: when it is claimed and how long it is kept).

use super::Credits;
use super::process::{ProcessId, SILENCE_MS};
use crate::clock::{DAY_MS, UnixMs};
use crate::db::{Database, Tx};
use sqlx::Row;
use sqlx::any::AnyRow;
use std::time::Duration;

/// Time for which an answer is kept, in milliseconds.
const KEPT_MS: i64 = DAY_MS;

/// A request with the idempotency key that its client chose.
#[derive(Debug, Clone, Copy)]
pub struct IdempotentRequest<'a> {
    pub account_id: &'a str,
    pub endpoint: &'static str,
    pub key: &'a str,
    /// Distinguishes it from other requests with the same key.
    pub fingerprint: &'a str,
    /// Fingerprint of the request as it was sent: the same text is the same request, even if it is
    /// understood differently by now. An earlier release stored this one as the fingerprint.
    pub text_fingerprint: &'a str,
    /// True if the whole answer is kept. If it is, the same text gets that answer, even if the text
    /// would be understood differently now. If it is not, the same text may only replace an attempt
    /// whose process is gone.
    pub is_kept_whole: bool,
}

/// Result of claiming an idempotency key.
#[derive(Debug)]
pub enum IdempotencyClaim {
    /// The caller must carry out the request. The key is given up if the attempt is dropped before
    /// its answer was stored.
    Ours(Attempt),
    /// The request was carried out before.
    Done(StoredAnswer),
    /// Another attempt is carrying out the request now.
    Running,
    /// The key was used for another request.
    OtherRequest,
}

/// The stored answer, and the balance that it contained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnswer {
    pub answer: String,
    pub credits_remaining: Credits,
}

/// An attempt at a request with an idempotency key. Dropping it lets the key be tried again, unless
/// the answer was stored.
#[derive(Debug)]
pub struct Attempt {
    id: String,
    database: Database,
}

impl Attempt {
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Records that the answer was stored, so that there is nothing to give up.
    pub fn was_kept(mut self) {
        self.id.clear();
    }

    /// Gives the key up, so that it can be tried again, before the client gets the answer that
    /// this attempt failed.
    pub async fn give_up(mut self) {
        give_up(self.database.clone(), std::mem::take(&mut self.id)).await;
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if self.id.is_empty() {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(give_up(self.database.clone(), std::mem::take(&mut self.id)));
        }
    }
}

/// Maximum number of tries to give a key up, and the pause between two tries: together as
/// long as a fail-over takes. A key that stays claimed all the same is answered with 409
/// until its process ends.
const GIVING_UP_TRIES: u32 = 300;
const GIVING_UP_PAUSE: Duration = Duration::from_secs(2);

/// Gives a key up. Tries once before it returns; if that fails, a separate task goes on trying.
async fn give_up(database: Database, id: String) {
    if given_up(&database, &id).await {
        return;
    }
    tokio::spawn(async move {
        for _ in 0..GIVING_UP_TRIES {
            tokio::time::sleep(GIVING_UP_PAUSE).await;
            if given_up(&database, &id).await {
                return;
            }
        }
        tracing::warn!("an idempotency key could not be released: the database did not answer");
    });
}

async fn given_up(database: &Database, id: &str) -> bool {
    let giving_up = sqlx::query("delete from idempotency_keys where attempt_id = $1 and state = 'running'").bind(id);
    let given_up = database.write(giving_up).await;
    if let Err(error) = &given_up {
        tracing::warn!(
            error = error as &dyn std::error::Error,
            "an idempotency key could not be released; it is retried"
        );
    }
    given_up.is_ok()
}

/// Claims an idempotency key, or returns the state of the request that has it.
pub async fn claim(
    database: &Database,
    owner: &ProcessId,
    now: UnixMs,
    named: IdempotentRequest<'_>,
) -> Result<IdempotencyClaim, sqlx::Error> {
    let (database, owner) = (database.clone(), owner.clone());
    let (account_id, key) = (named.account_id.to_owned(), named.key.to_owned());
    let (endpoint, fingerprint, text_fingerprint) =
        (named.endpoint, named.fingerprint.to_owned(), named.text_fingerprint.to_owned());
    let is_kept_whole = named.is_kept_whole;
    // Run to its end even if the client disconnects in the middle: nobody would give up a claim
    // that no attempt holds.
    let claiming = tokio::spawn(async move {
        let (fingerprint, text_fingerprint) = (&fingerprint, &text_fingerprint);
        let named = IdempotentRequest {
            account_id: &account_id,
            endpoint,
            key: &key,
            fingerprint,
            text_fingerprint,
            is_kept_whole,
        };
        claim_now(&database, &owner, now, named).await
    });
    claiming.await.map_err(|_| sqlx::Error::WorkerCrashed)?
}

async fn claim_now(
    database: &Database,
    owner: &ProcessId,
    now: UnixMs,
    named: IdempotentRequest<'_>,
) -> Result<IdempotencyClaim, sqlx::Error> {
    let attempt_id = uuid::Uuid::now_v7().to_string();
    let mut tx = database.begin().await?;
    // Replaces a row that has expired, and an attempt whose process is gone.
    let claimed = sqlx::query(
        "insert into idempotency_keys (account_id, endpoint, idempotency_key, body_sha256, state, attempt_id, owner, expires_at_ms, text_sha256)
         values ($1, $2, $3, $4, 'running', $5, $6, $7, $10)
         on conflict (account_id, endpoint, idempotency_key) do update set body_sha256 = excluded.body_sha256, state = 'running',
            attempt_id = excluded.attempt_id, owner = excluded.owner, answer = null, credits_remaining = null,
            entry_id = null, replayed = 0, expires_at_ms = excluded.expires_at_ms, text_sha256 = excluded.text_sha256
         where idempotency_keys.expires_at_ms <= $8
            or (idempotency_keys.state = 'running' and (idempotency_keys.body_sha256 in (excluded.body_sha256, $10)
                or idempotency_keys.text_sha256 = $10) and not exists (
                select 1 from processes p where p.id = idempotency_keys.owner and p.seen_at_ms >= $9))",
    )
    .bind(named.account_id)
    .bind(named.endpoint)
    .bind(named.key)
    .bind(named.fingerprint)
    .bind(&attempt_id)
    .bind(owner.as_str())
    .bind(now.0 + KEPT_MS)
    .bind(now.0)
    .bind(now.0 - SILENCE_MS)
    .bind(named.text_fingerprint)
    .execute(&mut *tx)
    .await?;
    if claimed.rows_affected() == 1 {
        tx.commit().await?;
        return Ok(IdempotencyClaim::Ours(Attempt { id: attempt_id, database: database.clone() }));
    }
    // An answer that is sent again keeps its charge, even if it is not known yet whether it
    // was sent a first time.
    let sql = "update idempotency_keys set replayed = 1
               where account_id = $1 and endpoint = $2 and idempotency_key = $3 and (body_sha256 in ($4, $5) or (text_sha256 = $5 and $6 = 1))
                  and state = 'done' and replayed = 0";
    sqlx::query(sql)
        .bind(named.account_id)
        .bind(named.endpoint)
        .bind(named.key)
        .bind(named.fingerprint)
        .bind(named.text_fingerprint)
        .bind(i64::from(named.is_kept_whole))
        .execute(&mut *tx)
        .await?;
    let row = sqlx::query(
        "select body_sha256, text_sha256, answer, credits_remaining from idempotency_keys
         where account_id = $1 and endpoint = $2 and idempotency_key = $3",
    )
    .bind(named.account_id)
    .bind(named.endpoint)
    .bind(named.key)
    .fetch_optional(&mut *tx)
    .await?;
    tx.commit().await?;
    // Another attempt gave the key up a moment ago: to the client this is the
    // same as still running.
    let Some(row) = row else { return Ok(IdempotencyClaim::Running) };
    // The same text may be understood differently by now, under another release of the catalog or
    // with other settings.
    let (kept, kept_text): (&str, &str) = (row.try_get("body_sha256")?, row.try_get("text_sha256")?);
    let is_running = row.try_get::<Option<&str>, _>("answer")?.is_none();
    let is_same_text = kept_text == named.text_fingerprint && (named.is_kept_whole || is_running);
    if !is_same_text && ![named.fingerprint, named.text_fingerprint].contains(&kept) {
        return Ok(IdempotencyClaim::OtherRequest);
    }
    answer_of(&row)
}

/// Returns the state of the very same request that this account sent before under this key: its
/// answer, or [`Claimed::Running`]. For a request that is no longer understood because the catalog
/// has changed since. Returns `None` if no such request is stored.
pub async fn known(
    database: &Database,
    now: UnixMs,
    account_id: &str,
    (endpoint, key): (&'static str, &str),
    text_sha256: &str,
) -> Result<Option<IdempotencyClaim>, sqlx::Error> {
    // An answer that is sent again keeps its charge, as in `claim_now`.
    let row = database.write_returning(
        sqlx::query(
            "update idempotency_keys set replayed = case when state = 'done' then 1 else replayed end
             where account_id = $1 and endpoint = $2 and idempotency_key = $3 and text_sha256 = $4 and expires_at_ms > $5
                and (state = 'done' or exists (
                    select 1 from processes p where p.id = idempotency_keys.owner and p.seen_at_ms >= $6))
             returning answer, credits_remaining",
        )
        .bind(account_id.to_owned())
        .bind(endpoint)
        .bind(key.to_owned())
        .bind(text_sha256.to_owned())
        .bind(now.0)
        .bind(now.0 - SILENCE_MS),
    );
    row.await?.first().map(answer_of).transpose()
}

/// Reads a row with the columns `answer` and `credits_remaining`.
fn answer_of(row: &AnyRow) -> Result<IdempotencyClaim, sqlx::Error> {
    let answer: Option<String> = row.try_get("answer")?;
    let remaining: Option<i64> = row.try_get("credits_remaining")?;
    Ok(match answer {
        Some(answer) => {
            IdempotencyClaim::Done(StoredAnswer { answer, credits_remaining: Credits(remaining.unwrap_or_default()) })
        }
        None => IdempotencyClaim::Running,
    })
}

/// Returns true if the attempt still holds its key. On PostgreSQL the row stays locked until
/// the transaction ends.
pub async fn is_ours(tx: &mut Tx<'_>, attempt_id: &str) -> Result<bool, sqlx::Error> {
    let locked = sqlx::query("update idempotency_keys set owner = owner where attempt_id = $1 and state = 'running'")
        .bind(attempt_id)
        .execute(&mut **tx)
        .await?;
    Ok(locked.rows_affected() == 1)
}

/// Stores the answer of an attempt that still holds its key.
pub async fn keep(tx: &mut Tx<'_>, attempt_id: &str, answer: &str, remaining: Credits) -> Result<(), sqlx::Error> {
    keep_charged(tx, attempt_id, answer, remaining, None).await
}

/// Stores the answer of an attempt that still holds its key, with the balance in the answer and the
/// entry that charged for it.
pub(super) async fn keep_charged(
    tx: &mut Tx<'_>,
    attempt_id: &str,
    answer: &str,
    remaining: Credits,
    entry_id: Option<&str>,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "update idempotency_keys set state = 'done', answer = $1, credits_remaining = $2, entry_id = $3, replayed = 0
         where attempt_id = $4 and state = 'running'",
    )
    .bind(answer)
    .bind(remaining.0)
    .bind(entry_id)
    .bind(attempt_id)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Deletes the answer for which an entry charged. Returns false if the answer was sent again, so
/// that the charge stays.
pub(super) async fn forget_charged(tx: &mut Tx<'_>, entry_id: &str) -> Result<bool, sqlx::Error> {
    sqlx::query("delete from idempotency_keys where entry_id = $1 and replayed = 0")
        .bind(entry_id)
        .execute(&mut **tx)
        .await?;
    let replayed =
        sqlx::query("select 1 from idempotency_keys where entry_id = $1").bind(entry_id).fetch_optional(&mut **tx);
    Ok(replayed.await?.is_none())
}

/// Deletes the answer to a request whose charge was given back.
pub async fn forget(database: &Database, account_id: &str, endpoint: &str, key: &str) -> Result<(), sqlx::Error> {
    let kept = sqlx::query(
        "delete from idempotency_keys where account_id = $1 and endpoint = $2 and idempotency_key = $3 and state = 'done'",
    );
    database.write(kept.bind(account_id.to_owned()).bind(endpoint.to_owned()).bind(key.to_owned())).await.map(drop)
}

/// Deletes the answers and claims that have expired, and returns their number.
pub(super) async fn forget_expired(database: &Database, now: UnixMs) -> Result<u64, sqlx::Error> {
    database.write(sqlx::query("delete from idempotency_keys where expires_at_ms <= $1").bind(now.0)).await
}
