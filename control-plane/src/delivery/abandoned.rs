//! Clients that ask for a new picture and leave before they pay. It costs them nothing, and the picture stays: so there are only so many a day.

use super::{DeliveryError, Order};
use crate::app::App;
use crate::clock::{DAY_MS, UnixMs};
use crate::http::extract::Caller;
use crate::ledger::abandoned;

/// Refuses to begin a new picture for an account that has left too many unpaid today. One that is in the making may be waited for by everybody:
/// a client that comes back for what it left begins nothing.
pub(super) async fn refuse_too_many(app: &App, caller: &Caller, order: &Order) -> Result<(), DeliveryError> {
    let now = app.clock.now();
    let today = abandoned::find(&app.db.readers, &caller.account_id, now).await?;
    if today.has_room(app.config.limits.abandoned_renders_per_day)
        || app.renders.is_in_the_making(&order.variant).await?
    {
        return Ok(());
    }
    let reset_at = UnixMs((now.0.div_euclid(DAY_MS) + 1) * DAY_MS);
    Err(DeliveryError::TooManyAbandoned { abandoned: today.renders, reset_at })
}

/// Counts a new picture whose client has left. Before its credits are given back, so that they are not asked with again meanwhile.
pub(super) async fn count(app: &App, account_id: &str) {
    if let Err(error) = abandoned::count(&app.db, account_id, app.clock.now()).await {
        tracing::warn!(error = &error as &dyn std::error::Error, account_id, "an abandoned picture was not counted");
    }
}
