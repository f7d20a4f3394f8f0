//! Feeds rows of running batches to the render queue, a few at a time, and records the
//! results of those it fed.
//!
//! Every process has a feeder. They may process the same row at the same moment: the queue has one
//! live job for each vehicle and view, and rows change state by guarded updates.

use super::batches::{self, OpenRow, PrewarmBatch};
use crate::app::App;
use crate::renders::{PaintProgress, RenderError};
use crate::tasks::every;
use cyclorama_core::Variant;
use std::time::Duration;

const TICK: Duration = Duration::from_secs(1);

/// Longest time that a row may stay in the queue before it goes back to its batch, in milliseconds:
/// it can take long behind the requests of people who wait.
const QUEUED_MS_MAX: i64 = 60 * 60_000;

/// Starts the task that feeds rows of batches to the queue. It runs until it is aborted.
pub fn start(app: App) -> tokio::task::JoinHandle<()> {
    every(TICK, "a prewarming batch could not be read; it is retried", app, |app| async move { feed(&app).await })
}

async fn feed(app: &App) -> Result<(), sqlx::Error> {
    let most = app.renders.ahead_max();
    let queued = batches::open_rows(&app.db, "queued", None, most * 2).await?;
    let mut room = most;
    for row in &queued {
        room -= i64::from(!settle(app, row).await?);
    }
    let running = PrewarmBatch::running(&app.db).await?;
    if running.is_empty() {
        return Ok(());
    }
    for (batch_id, budget_percent) in running {
        if room <= 0 {
            break;
        }
        for row in batches::open_rows(&app.db, "waiting", Some(&batch_id), room).await? {
            match queue(app, &row, budget_percent).await? {
                FeedOutcome::Queued => room -= 1,
                FeedOutcome::AlreadyThere => {}
                FeedOutcome::NotNow => break,
            }
        }
    }
    PrewarmBatch::finish(&app.db, app.clock.now()).await
}

/// Updates a queued row from the state of its render. Returns true if the row has left the queue.
async fn settle(app: &App, row: &OpenRow) -> Result<bool, sqlx::Error> {
    let now = app.clock.now();
    let home = app.pictures.looks.home_ahead(&row.wish.vehicle, row.wish.view).await?.to_string();
    let (to, failure) = match app.renders.progress(&home, row.wish.view, &row.wish.colours).await? {
        PaintProgress::Done => ("done", None),
        PaintProgress::Failed { kind, detail } => ("failed", Some((kind, detail))),
        PaintProgress::Making => return Ok(false),
        // The row's job was dropped.
        PaintProgress::Nowhere => ("waiting", None),
    };
    batches::step(&app.db, row, "queued", to, failure, now).await?;
    Ok(true)
}

enum FeedOutcome {
    Queued,
    AlreadyThere,
    /// The queue is full, or the day's budget for prewarming is used up; the row
    /// is tried again later.
    NotNow,
}

async fn queue(app: &App, row: &OpenRow, budget_percent: i64) -> Result<FeedOutcome, sqlx::Error> {
    let now = app.clock.now();
    let wish = &row.wish;
    let home = app.pictures.looks.home_ahead(&wish.vehicle, wish.view).await?;
    let vehicle = app.pictures.looks.drawn(&home, &wish.vehicle);
    let variants: Vec<Variant> =
        wish.colours.iter().map(|paint| Variant::new(home.clone(), wish.view, *paint)).collect();
    let wanted = app.renders.prewarm(&vehicle, &variants, budget_percent, now.0 + QUEUED_MS_MAX);
    let (to, fed) = match wanted.await {
        Ok(true) => ("done", FeedOutcome::AlreadyThere),
        Ok(false) => ("queued", FeedOutcome::Queued),
        Err(RenderError::AtCapacity { .. } | RenderError::BudgetSpent { .. }) => return Ok(FeedOutcome::NotNow),
        Err(error) => {
            tracing::warn!(vehicle = wish.vehicle.key(), view = %wish.view, error = &error as &dyn std::error::Error, "a row of a prewarming batch could not be enqueued");
            return Ok(FeedOutcome::NotNow);
        }
    };
    batches::step(&app.db, row, "waiting", to, None, now).await?;
    Ok(fed)
}
