//! Paints that no preset names. Each new one is a job for a node and a picture to store, so an account has only so many made a day.

use super::DeliveryError;
use crate::clock::Clock;
use crate::renders::{Asker, Renders};
use cyclorama_core::Variant;

/// Counts new paints of accounts.
#[derive(Debug, Clone)]
pub struct NewPaints {
    pub renders: Renders,
    pub clock: Clock,
    /// Pictures that one account may have made in a UTC day.
    pub per_account_day: i64,
}

impl NewPaints {
    /// Counts a picture that does not exist yet, if its paint is one that no preset names and an account asks for it.
    /// Everybody may wait for one that is in the making. Refused before anything is begun; what was held for it is
    /// given back.
    pub async fn count(&self, variant: &Variant, asker: &Asker) -> Result<(), DeliveryError> {
        if variant.paint.is_preset() || asker.account_id.is_empty() {
            return Ok(());
        }
        if self.renders.is_in_the_making(variant).await? {
            return Ok(());
        }
        let (now, allowed) = (self.clock.now(), self.per_account_day);
        match self.renders.count_new_paint(&asker.account_id, now.utc_day_start(), allowed).await? {
            true => Ok(()),
            false => Err(DeliveryError::TooManyPaints { paints: allowed, reset_at: now.utc_day_end() }),
        }
    }
}
