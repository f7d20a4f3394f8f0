//! New pictures whose client left before it paid. Each is free, and its render goes on for a while for a client that comes back; how many an
//! account may leave in a day is bounded by the caller with what is counted here.

use crate::clock::UnixMs;
use crate::db::Database;
use sqlx::{AnyPool, Row};

/// What an account did on a UTC day, by every process on the database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Abandoned {
    /// Requests for new pictures whose client left before it paid.
    pub renders: i64,
    /// Credits taken less given back, those on hold included.
    pub credits_spent: i64,
}

impl Abandoned {
    /// Whether one more new picture may be begun: so many may be left unpaid, and one more for each credit that the account spends. Who comes
    /// back for the picture and pays has used up nothing.
    pub fn has_room(self, free_of_charge: i64) -> bool {
        self.renders < free_of_charge.saturating_add(self.credits_spent.max(0))
    }
}

/// Today's count.
pub async fn find(pool: &AnyPool, account_id: &str, now: UnixMs) -> Result<Abandoned, sqlx::Error> {
    let sql = "select abandoned_renders, credits_spent from usage_daily where account_id = $1 and day = $2";
    let row = sqlx::query(sql).bind(account_id).bind(now.utc_day()).fetch_optional(pool).await?;
    row.map_or(Ok(Abandoned::default()), |row| {
        Ok(Abandoned { renders: row.try_get(0)?, credits_spent: row.try_get(1)? })
    })
}

/// Counts one more.
pub async fn count(db: &Database, account_id: &str, now: UnixMs) -> Result<(), sqlx::Error> {
    let upsert = sqlx::query(
        "insert into usage_daily (account_id, day, requests, images, cached_images, credits_spent, abandoned_renders)
         values ($1, $2, 0, 0, 0, 0, 1)
         on conflict (account_id, day) do update set abandoned_renders = usage_daily.abandoned_renders + 1",
    )
    .bind(account_id.to_owned())
    .bind(now.utc_day());
    db.write(upsert).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_may_be_left_and_one_for_each_credit_that_is_spent() {
        for (renders, credits_spent, has_room) in [
            (0, 0, true),
            (19, 0, true),
            (20, 0, false),
            (20, 1, true),
            (21, 1, false),
            (20, -5, false),
            (500, 481, true),
        ] {
            assert_eq!(Abandoned { renders, credits_spent }.has_room(20), has_room, "{renders} {credits_spent}");
        }
        assert!(!Abandoned::default().has_room(0), "none is allowed");
    }
}
