//! Feedback of accounts on images, and the rule by which bad reports put a render into review.

use crate::clock::UnixMs;
use crate::renders::Renders;
use cyclorama_core::Variant;
use sqlx::Row;
use sqlx::any::AnyRow;

/// Number of different accounts whose bad reports on one revision put it into review.
const BAD_REPORTS_TO_FLAG: i64 = 3;

/// Maximum number of images that one request id can stand for: a batch of signed URLs.
const CANDIDATES_MAX: i64 = 64;

/// Ratings up to this one are bad if there is no verdict.
const BAD_RATING_MAX: i64 = 2;

cyclorama_core::named_enum! {
    /// An account's verdict on an image.
    pub enum Verdict { Good = "good", Bad = "bad" }
}

/// An opinion: a rating from 1 to 5, a verdict, or both.
#[derive(Debug, Clone)]
pub struct Opinion {
    pub rating: Option<i64>,
    pub verdict: Option<Verdict>,
    pub reason: Option<String>,
}

impl Opinion {
    /// True if the verdict is bad. Without a verdict, the rating decides.
    fn is_bad(&self) -> bool {
        match self.verdict {
            Some(verdict) => verdict == Verdict::Bad,
            None => self.rating.is_some_and(|rating| rating <= BAD_RATING_MAX),
        }
    }
}

/// An image that an account gives feedback on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RatedImage {
    pub render_id: String,
    /// The revision that was delivered.
    pub revision: i64,
    pub vehicle_key: String,
    pub view: String,
    pub color: String,
}

impl RatedImage {
    fn read(row: &AnyRow) -> Result<Self, sqlx::Error> {
        Ok(RatedImage {
            render_id: row.try_get("id")?,
            revision: row.try_get("revision")?,
            vehicle_key: row.try_get("vehicle_key")?,
            view: row.try_get("view")?,
            color: row.try_get("color")?,
        })
    }

    /// True if this is the image that is stored under a variant's key.
    pub fn shows(&self, kept: &Variant) -> bool {
        self.vehicle_key == kept.vehicle_key()
            && self.view == kept.view.as_str()
            && self.color == kept.paint.to_string()
    }
}

impl Renders {
    /// Returns the image that the account's newest request with this id delivered.
    pub async fn judged_by_request(&self, account_id: &str, request_id: &str) -> Result<Vec<RatedImage>, sqlx::Error> {
        let pool = &self.0.database.readers;
        let delivered = sqlx::query(
            "select r.id, d.revision, r.vehicle_key, r.view, r.color from deliveries d join renders r on r.id = d.render_id
             where d.account_id = $1 and d.request_id = $2 order by d.at_ms desc, d.id desc limit 1",
        )
        .bind(account_id)
        .bind(request_id)
        .fetch_optional(pool)
        .await?;
        if let Some(row) = delivered {
            return Ok(vec![RatedImage::read(&row)?]);
        }
        Ok(Vec::new())
    }

    /// Returns what the signed URLs show that the account's request with this id minted: the
    /// vehicle as the text of a `VehicleKey`, the view and the paint.
    pub async fn minted_by_request(
        &self,
        account_id: &str,
        request_id: &str,
    ) -> Result<Vec<(String, String, String)>, sqlx::Error> {
        let minted = sqlx::query(
            "select distinct make || '/' || model || case when body = '' then '' else '.' || body end || '/' || cast(year as text),
                view, color
             from delivery_urls where account_id = $1 and request_id = $2 order by 1, 2, 3 limit $3",
        )
        .bind(account_id)
        .bind(request_id)
        .bind(CANDIDATES_MAX)
        .fetch_all(&self.0.database.readers)
        .await?;
        minted.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))).collect()
    }

    /// Stores an account's opinion on a revision, in place of its earlier one. Returns true if this
    /// opinion put the render into review.
    pub async fn judge(
        &self,
        account_id: &str,
        judged: &RatedImage,
        opinion: &Opinion,
        now: UnixMs,
    ) -> Result<bool, sqlx::Error> {
        let mut tx = self.0.database.begin().await?;
        // Takes the render's row lock, so that of several concurrent reports exactly one is the
        // third.
        let current = sqlx::query("update renders set changed_at_ms = changed_at_ms where id = $1 returning revision")
            .bind(&judged.render_id)
            .fetch_optional(&mut *tx)
            .await?;
        let current: Option<i64> = current.map(|row| row.try_get(0)).transpose()?.flatten();
        sqlx::query(
            "insert into feedback (id, account_id, render_id, revision, rating, verdict, is_bad, reason, at_ms)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
             on conflict (render_id, revision, account_id) do update set rating = excluded.rating, verdict = excluded.verdict,
                is_bad = excluded.is_bad, reason = excluded.reason, at_ms = excluded.at_ms",
        )
        .bind(uuid::Uuid::now_v7().to_string())
        .bind(account_id)
        .bind(&judged.render_id)
        .bind(judged.revision)
        .bind(opinion.rating)
        .bind(opinion.verdict.map(Verdict::as_str))
        .bind(i64::from(opinion.is_bad()))
        .bind(opinion.reason.as_deref())
        .bind(now.0)
        .execute(&mut *tx)
        .await?;
        let mut flagged = false;
        // An opinion on a revision that has been replaced meanwhile has no consequence.
        if opinion.is_bad() && current == Some(judged.revision) {
            let bad: i64 =
                sqlx::query("select count(*) from feedback where render_id = $1 and revision = $2 and is_bad = 1")
                    .bind(&judged.render_id)
                    .bind(judged.revision)
                    .fetch_one(&mut *tx)
                    .await?
                    .try_get(0)?;
            if bad >= BAD_REPORTS_TO_FLAG {
                let put = sqlx::query(
                    "insert into reviews (render_id, revision, state, flagged_at_ms) values ($1, $2, 'flagged', $3) on conflict do nothing",
                )
                .bind(&judged.render_id)
                .bind(judged.revision)
                .bind(now.0)
                .execute(&mut *tx)
                .await?;
                flagged = put.rows_affected() == 1;
            }
        }
        tx.commit().await?;
        Ok(flagged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_says_it_and_else_the_rating() {
        for (rating, verdict, bad) in [
            (Some(1), None, true),
            (Some(2), None, true),
            (Some(3), None, false),
            (Some(1), Some(Verdict::Good), false),
            (Some(5), Some(Verdict::Bad), true),
            (None, Some(Verdict::Bad), true),
            (None, Some(Verdict::Good), false),
        ] {
            assert_eq!(Opinion { rating, verdict, reason: None }.is_bad(), bad, "{rating:?} {verdict:?}");
        }
    }
}
