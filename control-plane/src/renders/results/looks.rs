//! Selects the model year under which the images of a look are stored.

use crate::catalog::Look;
use crate::clock::UnixMs;
use crate::db::Tx;
use crate::renders::Renders;
use cyclorama_core::{VehicleKey, View};
use sqlx::Row;

/// Maximum number of years of one look; the catalog has no more.
const KEYS_MAX: usize = 64;

impl Renders {
    /// Returns the vehicle key under which images of the look in one view are stored, or `None` if
    /// there are none.
    pub async fn home(&self, look: &Look, view: View) -> Result<Option<VehicleKey>, sqlx::Error> {
        let sql = "select vehicle_key from looks where look = $1 and view = $2";
        let readers = &self.0.database.readers;
        if let Some(row) = sqlx::query(sql).bind(&look.id).bind(view.as_str()).fetch_optional(readers).await? {
            return read_key(row.try_get(0)?).map(Some);
        }
        // Images of years that were each rendered by themselves are still served.
        let sql = format!(
            "select 1 from renders where view = $1 and state = 'done' and vehicle_key in ({}) limit 1",
            places(look, 2)
        );
        let mut earlier = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(view.as_str());
        for key in look.keys.iter().take(KEYS_MAX) {
            earlier = earlier.bind(key.to_string());
        }
        if look.keys.is_empty() || earlier.fetch_optional(readers).await?.is_none() {
            return Ok(None);
        }
        let Some(first) = look.keys.first() else { return Ok(None) };
        self.home_or(look, view, first.clone()).await.map(Some)
    }

    /// Does the same as [`Renders::home`], but stores and returns `own` where no year of the look
    /// has images. Concurrent calls all get the same key.
    pub async fn home_or(&self, look: &Look, view: View, own: VehicleKey) -> Result<VehicleKey, sqlx::Error> {
        let sql = "select vehicle_key from looks where look = $1 and view = $2";
        let known =
            sqlx::query(sql).bind(&look.id).bind(view.as_str()).fetch_optional(&self.0.database.readers).await?;
        if let Some(row) = known {
            return read_key(row.try_get(0)?);
        }
        let mut tx = self.0.database.begin().await?;
        let home = most_pictures(&mut tx, look, view).await?.unwrap_or_else(|| own.to_string());
        let inserted = sqlx::query(
            "insert into looks (look, view, vehicle_key) values ($1, $2, $3) on conflict (look, view) do nothing",
        )
        .bind(&look.id)
        .bind(view.as_str())
        .bind(&home)
        .execute(&mut *tx)
        .await?;
        if inserted.rows_affected() == 1 {
            gather(&mut tx, self.0.clock.now(), look, view, &home).await?;
        }
        let row = sqlx::query(sql).bind(&look.id).bind(view.as_str()).fetch_one(&mut *tx).await?;
        let home = read_key(row.try_get(0)?)?;
        tx.commit().await?;
        Ok(home)
    }
}

/// Copies to the home of a look the rows of images of its other years that it lacks. Masters are
/// stored under the digest of their content, so rows may share them.
async fn gather(tx: &mut Tx<'_>, now: UnixMs, look: &Look, view: View, home: &str) -> Result<(), sqlx::Error> {
    for key in look.keys.iter().take(KEYS_MAX).map(VehicleKey::to_string).filter(|key| key != home) {
        let sql = "select color, revision, master_sha256, job_id from renders r
                   where vehicle_key = $1 and view = $2 and state = 'done' and not exists
                       (select 1 from renders o where o.vehicle_key = $3 and o.view = r.view and o.color = r.color)";
        let lacking = sqlx::query(sql).bind(&key).bind(view.as_str()).bind(home).fetch_all(&mut **tx).await?;
        for row in lacking {
            sqlx::query(
                "insert into renders (id, vehicle_key, view, color, state, round, revision, master_sha256, job_id, changed_at_ms)
                 values ($1, $2, $3, $4, 'done', 1, $5, $6, $7, $8) on conflict do nothing",
            )
            .bind(uuid::Uuid::now_v7().to_string())
            .bind(home)
            .bind(view.as_str())
            .bind(row.try_get::<String, _>("color")?)
            .bind(row.try_get::<i64, _>("revision")?)
            .bind(row.try_get::<String, _>("master_sha256")?)
            .bind(row.try_get::<String, _>("job_id")?)
            .bind(now.0)
            .execute(&mut **tx)
            .await?;
        }
    }
    Ok(())
}

/// Returns the year of the look that has the most images in this view; a year with layers comes
/// before one without.
async fn most_pictures(tx: &mut Tx<'_>, look: &Look, view: View) -> Result<Option<String>, sqlx::Error> {
    if look.keys.is_empty() {
        return Ok(None);
    }
    let sql = format!(
        "select r.vehicle_key from renders r left join layers l on l.vehicle_key = r.vehicle_key and l.view = r.view
         where r.view = $1 and r.state = 'done' and r.vehicle_key in ({}) group by r.vehicle_key
         order by max(case when l.view is null then 0 else 1 end) desc, count(*) desc, r.vehicle_key limit 1",
        places(look, 2)
    );
    let mut query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(view.as_str());
    for key in look.keys.iter().take(KEYS_MAX) {
        query = query.bind(key.to_string());
    }
    query.fetch_optional(&mut **tx).await?.map(|row| row.try_get(0)).transpose()
}

/// Returns placeholders for the keys of a look, numbered from `from` on.
fn places(look: &Look, from: usize) -> String {
    let places: Vec<String> = (0..look.keys.len().min(KEYS_MAX)).map(|place| format!("${}", place + from)).collect();
    places.join(", ")
}

fn read_key(text: &str) -> Result<VehicleKey, sqlx::Error> {
    text.parse().map_err(|_| sqlx::Error::Decode(format!("looks.vehicle_key is `{text}`").into()))
}
