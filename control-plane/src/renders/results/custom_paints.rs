//! Images in paints that are not presets: the count of those that an account has made in a day, and
//! the limit of those that are kept.
//!
//!
//! Why: `docs/decisions/frames-and-formats.md` (Where pictures in custom paints are stored).

use crate::clock::UnixMs;
use crate::db::Tx;
use crate::objects::ObjectError;
use crate::objects::keys::{self, InvalidKey};
use crate::renders::Renders;
use crate::renders::state::IS_CUSTOM;
use cyclorama_core::View;
use sqlx::Row;
use std::time::Duration;

/// Interval between two sweeps of images in paints that are not presets.
pub const SWEEP_EVERY: Duration = Duration::from_secs(600);

/// Time for which an image stays after its row was marked as expired, in milliseconds: processes
/// may still know the image, and a client may be reading it.
const GRACE_MS: i64 = 15 * 60_000;

/// Maximum number of images that one sweep expires, and that it removes.
const AT_ONCE: i64 = 1_000;

/// The errors with which a sweep fails; the next sweep tries again.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    #[error("the database did not answer")]
    Database(#[from] sqlx::Error),
    #[error("the object store does not answer")]
    Store(#[from] ObjectError),
    #[error(transparent)]
    Name(#[from] InvalidKey),
}

impl Renders {
    /// Counts one more new paint of the account on the day that begins at `day`. Returns false if
    /// the account has had `allowed` already.
    pub async fn count_new_paint(&self, account_id: &str, day: UnixMs, allowed: i64) -> Result<bool, sqlx::Error> {
        if allowed <= 0 {
            return Ok(false);
        }
        let counted = sqlx::query(
            "insert into new_paints (account_id, day_start_ms, paints) values ($1, $2, 1)
             on conflict (account_id, day_start_ms) do update set paints = new_paints.paints + 1 where new_paints.paints < $3",
        )
        .bind(account_id.to_owned())
        .bind(day.0)
        .bind(allowed);
        Ok(self.0.database.write(counted).await? > 0)
    }

    /// Expires the oldest of such images beyond `kept_max`, and removes images that expired a while
    /// ago.
    pub(in crate::renders) async fn sweep_paints(&self, kept_max: i64) -> Result<(), SweepError> {
        let now = self.0.clock.now();
        let forget = format!(
            "update renders set state = 'lapsed', changed_at_ms = $1
             where state = 'done' and id in (
                select id from renders where state = 'done' and {IS_CUSTOM} order by changed_at_ms desc, id desc limit $2 offset $3)"
        );
        let forgotten = sqlx::query(sqlx::AssertSqlSafe(forget)).bind(now.0).bind(AT_ONCE).bind(kept_max);
        let forgotten = self.0.database.write(forgotten).await?;
        let find = format!(
            "select id, master_sha256 from renders
             where state in ('lapsed', 'failed') and master_sha256 is not null and changed_at_ms < $1 and {IS_CUSTOM}
             order by changed_at_ms limit $2"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(find))
            .bind(now.0 - GRACE_MS)
            .bind(AT_ONCE)
            .fetch_all(&self.0.database.readers)
            .await?;
        for row in &rows {
            self.remove_picture(row.try_get(0)?, row.try_get(1)?).await?;
        }
        let tidied = sqlx::query("delete from new_paints where day_start_ms < $1").bind(now.utc_day_start().0);
        self.0.database.write(tidied).await?;
        if forgotten > 0 || !rows.is_empty() {
            tracing::info!(forgotten, removed = rows.len(), "images in custom paints were swept");
        }
        Ok(())
    }

    /// Removes the image of an expired row, unless another row has the same image.
    async fn remove_picture(&self, render_id: &str, master_sha256: &str) -> Result<(), SweepError> {
        let unname = sqlx::query(
            "update renders set master_sha256 = null where id = $1 and state in ('lapsed', 'failed') and master_sha256 = $2",
        )
        .bind(render_id.to_owned())
        .bind(master_sha256.to_owned());
        if self.0.database.write(unname).await? == 0 {
            return Ok(());
        }
        let others = format!("select 1 from renders where master_sha256 = $1 and {IS_CUSTOM}");
        let others = sqlx::query(sqlx::AssertSqlSafe(others))
            .bind(master_sha256)
            .fetch_optional(&self.0.database.readers)
            .await?;
        if others.is_none() {
            self.0.store.delete(&keys::custom_master(master_sha256)?).await?;
        }
        Ok(())
    }
}

/// Expires the images of a vehicle and view in such paints that are older than a revision. They are
/// painted from the revision's layers when a request wants them.
pub async fn forget_older(
    tx: &mut Tx<'_>,
    vehicle_key: &str,
    view: View,
    revision: i64,
    now: UnixMs,
) -> Result<(), sqlx::Error> {
    let forget = format!(
        "update renders set state = 'lapsed', changed_at_ms = $1
         where vehicle_key = $2 and view = $3 and state = 'done' and revision < $4 and {IS_CUSTOM}"
    );
    sqlx::query(sqlx::AssertSqlSafe(forget))
        .bind(now.0)
        .bind(vehicle_key.to_owned())
        .bind(view.as_str())
        .bind(revision)
        .execute(&mut **tx)
        .await
        .map(drop)
}
