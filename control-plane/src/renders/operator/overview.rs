//! The work of a farm at one glance: waiting jobs, jobs in progress, and the results of the last
//! day.

use crate::clock::DAY_MS;
use crate::renders::Renders;
use crate::renders::lane::Lane;
use sqlx::Row;

const HOUR_MS: i64 = 3_600_000;
const HOURS: i64 = 24;

/// Maximum number of jobs in progress that are listed; a farm may have more.
const WORKING_MAX: i64 = 100;

/// Jobs that wait in one lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneQueue {
    pub lane: Lane,
    /// `render` or `paint`.
    pub kind: String,
    pub jobs: i64,
    pub oldest_age_ms: i64,
}

/// A job that a node is working on.
#[derive(Debug, Clone, PartialEq)]
pub struct Working {
    pub node_id: String,
    pub kind: String,
    pub vehicle_key: String,
    pub view: String,
    /// The stage that the node last reported.
    pub stage: Option<String>,
    /// Progress from 0 to 1.
    pub progress: Option<f64>,
    pub attempt: i64,
    pub age_ms: i64,
}

/// One hour of the last day: its finished and failed jobs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hour {
    pub start_ms: i64,
    pub renders: i64,
    pub paints: i64,
    pub failures: i64,
}

#[derive(Debug, Clone, PartialEq)]
/// The work of a farm: waiting jobs, jobs in progress, and the results of the last day.
pub struct FarmOverview {
    /// In the order in which the lanes go.
    pub lanes: Vec<LaneQueue>,
    /// The job that has been leased longest comes first.
    pub working: Vec<Working>,
    /// The oldest hour first.
    pub hours: Vec<Hour>,
    /// Kinds of the last day's failures with their numbers, the most frequent first.
    pub failures: Vec<(String, i64)>,
}

impl Renders {
    /// Reads the overview of the queue and of the last 24 hours.
    pub async fn overview(&self) -> Result<FarmOverview, sqlx::Error> {
        let now = self.0.clock.now();
        let pool = &self.0.database.readers;
        let lanes = sqlx::query(
            "select kind, priority, count(*), min(queued_at_ms) from jobs where state = 'queued' group by kind, priority
             order by priority desc, kind",
        )
        .fetch_all(pool)
        .await?;
        let lanes = lanes.iter().map(|row| {
            Ok(LaneQueue {
                kind: row.try_get(0)?,
                lane: Lane::of(row.try_get(1)?),
                jobs: row.try_get(2)?,
                oldest_age_ms: now.0 - row.try_get::<i64, _>(3)?,
            })
        });
        let working = sqlx::query(
            "select node_id, kind, vehicle_key, view, stage, progress, attempt, leased_at_ms from jobs where state = 'leased'
             order by leased_at_ms limit $1",
        )
        .bind(WORKING_MAX)
        .fetch_all(pool)
        .await?;
        let working = working.iter().map(|row| {
            Ok(Working {
                node_id: row.try_get(0)?,
                kind: row.try_get(1)?,
                vehicle_key: row.try_get(2)?,
                view: row.try_get(3)?,
                stage: row.try_get(4)?,
                progress: row.try_get(5)?,
                attempt: row.try_get(6)?,
                age_ms: now.0 - row.try_get::<i64, _>(7)?,
            })
        });
        let failures = sqlx::query(
            "select coalesce(failure_kind, 'unknown'), count(*) from jobs where state = 'failed' and ended_at_ms >= $1
             group by 1 order by 2 desc, 1",
        )
        .bind(now.0 - DAY_MS)
        .fetch_all(pool)
        .await?;
        let failures = failures.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
        Ok(FarmOverview {
            lanes: lanes.collect::<Result<_, sqlx::Error>>()?,
            working: working.collect::<Result<_, sqlx::Error>>()?,
            hours: self.hours(now.0).await?,
            failures: failures.collect::<Result<_, sqlx::Error>>()?,
        })
    }

    async fn hours(&self, now_ms: i64) -> Result<Vec<Hour>, sqlx::Error> {
        let this_hour_ms = now_ms - now_ms.rem_euclid(HOUR_MS);
        let first_ms = this_hour_ms - (HOURS - 1) * HOUR_MS;
        let mut hours: Vec<Hour> =
            (0..HOURS).map(|hour| Hour { start_ms: first_ms + hour * HOUR_MS, ..Hour::default() }).collect();
        let rows = sqlx::query(
            "select (ended_at_ms - $1) / 3600000, kind, state, count(*) from jobs
             where state in ('done', 'failed') and ended_at_ms >= $1 group by 1, 2, 3",
        )
        .bind(first_ms)
        .fetch_all(&self.0.database.readers)
        .await?;
        for row in rows {
            let place = usize::try_from(row.try_get::<i64, _>(0)?).unwrap_or(usize::MAX);
            // A process whose clock is ahead may have ended a job in the next hour.
            let Some(hour) = hours.get_mut(place) else { continue };
            let jobs: i64 = row.try_get(3)?;
            match (row.try_get::<&str, _>(1)?, row.try_get::<&str, _>(2)?) {
                (_, "failed") => hour.failures += jobs,
                ("paint", _) => hour.paints += jobs,
                _ => hour.renders += jobs,
            }
        }
        Ok(hours)
    }
}
