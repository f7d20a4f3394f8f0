//! Forgetting what is over: sessions, links, attempts, counts of sign-ups, device logins, answers to forms.

use super::{attempts, device_login, form_answers, session, sign_up_counts, user};
use crate::clock::{self, Clock, UnixMs};
use crate::db::Database;
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(600);

/// Answers to forms are kept for a minute, and some of them are large.
const ANSWERS_EVERY: Duration = Duration::from_secs(30);

/// Runs until the task is aborted.
pub fn start_tidying(db: Database, clock: Clock) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        let (mut ticks, mut answers) = (clock::ticks(EVERY), clock::ticks(ANSWERS_EVERY));
        loop {
            let tidied = tokio::select! {
                _ = ticks.tick() => tidy(&db, clock.now()).await,
                _ = answers.tick() => form_answers::forget_old(&db, clock.now()).await,
            };
            if let Err(error) = tidied {
                tracing::warn!(error = &error as &dyn std::error::Error, "accounts could not be tidied");
            }
        }
    })
}

async fn tidy(db: &Database, now: UnixMs) -> Result<(), sqlx::Error> {
    session::forget_expired(db, now).await?;
    user::forget_expired(db, now).await?;
    attempts::forget_old(db, now).await?;
    sign_up_counts::forget_old(db, now).await?;
    device_login::forget_old(db, now).await
}
