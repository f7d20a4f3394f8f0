//! Paints that no preset names. Each new one is a job for a node and a picture to store, so an account has only so many made a day.

use super::DeliveryError;
use crate::app::App;
use crate::renders::Asker;
use cyclorama_core::Variant;

/// Counts a picture that does not exist yet, if its paint is one that no preset names and an account asks for it. Everybody may wait for
/// one that is in the making. Refused before anything is begun; what was held for it is given back.
pub(super) async fn count(app: &App, variant: &Variant, asker: &Asker) -> Result<(), DeliveryError> {
    if variant.paint.is_preset() || asker.account_id.is_empty() {
        return Ok(());
    }
    if app.renders.is_in_the_making(variant).await? {
        return Ok(());
    }
    let now = app.clock.now();
    let allowed = app.config.limits.new_paints_per_account_day;
    match app.renders.count_new_paint(&asker.account_id, now.utc_day_start(), allowed).await? {
        true => Ok(()),
        false => Err(DeliveryError::TooManyPaints { paints: allowed, reset_at: now.utc_day_end() }),
    }
}
