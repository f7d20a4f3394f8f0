//! Forms that were sent, so that a form that is sent twice is carried out once: the claim
//! of the first request that sent it, and its sealed answer. The pages decide what is
//! sealed, and with what.
//!
//! Why: `docs/decisions/pages.md` (A form that is sent twice is done once).

use crate::clock::UnixMs;
use crate::db::Database;
use sqlx::Row;

/// Time for which an answer is kept, in milliseconds: long enough for a second click on a slow
/// network, short for an answer that shows a key.
const KEPT_MS: i64 = 60_000;

/// Number of answers that one statement deletes. An answer may have half a megabyte.
const FORGOTTEN_AT_ONCE: i64 = 200;

/// Claims a form for the caller. Returns `true` if the form was not sent before, or if its earlier
/// answer has expired. After `true` the caller carries the form out, and then either keeps the
/// answer or drops the claim.
pub async fn claim(db: &Database, id: &str, now: UnixMs) -> Result<bool, sqlx::Error> {
    let claim = sqlx::query(
        "insert into form_answers (id, expires_at_ms) values ($1, $2)
         on conflict (id) do update set expires_at_ms = excluded.expires_at_ms, answer = null where form_answers.expires_at_ms <= $3",
    )
    .bind(id.to_owned())
    .bind(now.0 + KEPT_MS)
    .bind(now.0);
    Ok(db.write(claim).await? == 1)
}

/// The progress of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormState {
    /// The form was not sent, or its answer has been deleted.
    Unknown,
    /// The form is being carried out.
    Begun,
    /// The form was carried out; this is the sealed answer.
    Done(String),
}

pub async fn find(db: &Database, id: &str, now: UnixMs) -> Result<FormState, sqlx::Error> {
    let row = sqlx::query("select answer from form_answers where id = $1 and expires_at_ms > $2")
        .bind(id)
        .bind(now.0)
        .fetch_optional(&db.readers)
        .await?;
    let Some(row) = row else { return Ok(FormState::Unknown) };
    Ok(row.try_get::<Option<String>, _>(0)?.map_or(FormState::Begun, FormState::Done))
}

pub async fn keep(db: &Database, id: &str, sealed: String) -> Result<(), sqlx::Error> {
    let update = sqlx::query("update form_answers set answer = $1 where id = $2").bind(sealed).bind(id.to_owned());
    db.write(update).await.map(drop)
}

/// Drops the claim of a form. If the form is sent again, it is carried out again.
pub async fn drop_claim(db: &Database, id: &str) -> Result<(), sqlx::Error> {
    db.write(sqlx::query("delete from form_answers where id = $1").bind(id.to_owned())).await.map(drop)
}

/// Deletes expired answers, a few at a time, so that other writers do not wait long
/// for any of the steps.
pub(super) async fn forget_old(db: &Database, now: UnixMs) -> Result<(), sqlx::Error> {
    loop {
        let delete = sqlx::query(
            "delete from form_answers where id in
             (select id from form_answers where expires_at_ms <= $1 order by expires_at_ms limit $2)",
        );
        if db.write(delete.bind(now.0).bind(FORGOTTEN_AT_ONCE)).await? < FORGOTTEN_AT_ONCE as u64 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_database::databases;

    #[tokio::test]
    async fn claimed_once_until_its_time_is_over() {
        for db in databases().await {
            let at = UnixMs(1_000);
            let claim = async |now| claim(&db, "id", now).await.expect("claims");
            assert!(claim(at).await);
            assert!(!claim(at.plus_ms(KEPT_MS - 1)).await);
            keep(&db, "id", "sealed".to_owned()).await.expect("keeps");
            let find = async |now| find(&db, "id", now).await.expect("finds");
            assert_eq!(find(at).await, FormState::Done("sealed".to_owned()));
            assert_eq!(find(at.plus_ms(KEPT_MS)).await, FormState::Unknown, "its time is over");
            assert!(claim(at.plus_ms(KEPT_MS)).await);
            assert_eq!(find(at.plus_ms(KEPT_MS)).await, FormState::Begun, "the old answer is not the new one's");
            drop_claim(&db, "id").await.expect("drops");
            assert_eq!(find(at).await, FormState::Unknown);
            assert!(claim(at).await);
            forget_old(&db, at.plus_ms(KEPT_MS - 1)).await.expect("forgets");
            assert!(!claim(at).await);
            forget_old(&db, at.plus_ms(KEPT_MS)).await.expect("forgets");
            assert!(claim(at).await);

            // There are more answers than one step deletes.
            for number in 0..FORGOTTEN_AT_ONCE + 1 {
                assert!(super::claim(&db, &number.to_string(), at).await.expect("claims"));
            }
            assert!(super::claim(&db, "young", at.plus_ms(1)).await.expect("claims"));
            forget_old(&db, at.plus_ms(KEPT_MS)).await.expect("forgets");
            let left = sqlx::query("select id from form_answers").fetch_all(&db.readers).await.expect("reads");
            let left: Vec<String> = left.iter().map(|row| row.get(0)).collect();
            assert_eq!(left, ["young"]);
        }
    }
}
