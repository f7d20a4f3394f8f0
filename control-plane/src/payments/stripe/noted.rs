//! Events of Stripe that an operator should look at.

use crate::clock::UnixMs;
use crate::db::Database;
use sqlx::Row;

/// An event that an operator should look at: it does not fit our records, or there is
/// something to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotedEvent {
    /// Stripe's id of the event.
    pub id: String,
    pub kind: String,
    /// True if the event was refused and nothing was done.
    pub is_refused: bool,
    pub why: String,
    pub received_at: UnixMs,
}

impl NotedEvent {
    pub const fn outcome(&self) -> &'static str {
        if self.is_refused { "refused" } else { "applied" }
    }
}

/// Returns the events that an operator should look at, newest first. They are stored as
/// long as all events are.
pub async fn noted_events(db: &Database, limit: i64) -> Result<Vec<NotedEvent>, sqlx::Error> {
    let rows = sqlx::query(
        "select id, kind, outcome, detail, received_at_ms from webhook_events where detail is not null order by received_at_ms desc, id limit $1",
    )
    .bind(limit)
    .fetch_all(&db.readers)
    .await?;
    rows.iter()
        .map(|row| {
            Ok(NotedEvent {
                id: row.try_get(0)?,
                kind: row.try_get(1)?,
                is_refused: row.try_get::<&str, _>(2)? == "refused",
                why: row.try_get(3)?,
                received_at: UnixMs(row.try_get(4)?),
            })
        })
        .collect()
}
