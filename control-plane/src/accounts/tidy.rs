//! Deletes what has expired: sessions, links, attempts, counts of sign-ups, device
//! logins, answers to forms.

use super::{attempts, device_login, form_answers, session, sign_up_counts, user};
use crate::clock::{Clock, UnixMs};
use crate::db::Database;
use crate::tasks::every;
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(600);

/// Pause between two deletions of answers to forms, which are kept for a minute;
/// some of them are large.
const ANSWERS_EVERY: Duration = Duration::from_secs(30);

/// Starts two tasks that delete it. Both run until they are aborted.
pub fn start_tidying(db: Database, clock: Clock) -> [tokio::task::JoinHandle<()>; 2] {
    const FAILURE: &str = "old rows of accounts could not be deleted";
    [
        every(EVERY, FAILURE, db.clone(), move |db| async move { tidy(&db, clock.now()).await }),
        every(ANSWERS_EVERY, FAILURE, db, move |db| async move { form_answers::forget_old(&db, clock.now()).await }),
    ]
}

async fn tidy(db: &Database, now: UnixMs) -> Result<(), sqlx::Error> {
    session::forget_expired(db, now).await?;
    user::forget_expired(db, now).await?;
    attempts::forget_old(db, now).await?;
    sign_up_counts::forget_old(db, now).await?;
    device_login::forget_old(db, now).await
}
