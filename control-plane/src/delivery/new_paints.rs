//! Limit on images in paints that are not presets. Each new one is a job for a node and an image to
//! store, so an account may have only a limited number made in a day.

use super::DeliveryError;
use crate::clock::Clock;
use crate::renders::{Renders, Requester};
use cyclorama_core::Variant;

/// Counts new paints of accounts, and refuses further ones.
#[derive(Debug, Clone)]
pub struct NewPaints {
    pub renders: Renders,
    pub clock: Clock,
    /// Number of such images that one account may have made in a UTC day.
    pub per_account_day: i64,
}

impl NewPaints {
    /// Counts an image that does not exist yet, if its paint is not a preset and an account
    /// requests it. Every request may wait for an image that is being made. Fails with
    /// [`DeliveryError::TooManyPaints`] before anything is begun; the caller gives held credits
    /// back.
    pub async fn count(&self, variant: &Variant, requester: &Requester) -> Result<(), DeliveryError> {
        if variant.paint.is_preset() || requester.account_id.is_empty() {
            return Ok(());
        }
        if self.renders.is_in_the_making(variant).await? {
            return Ok(());
        }
        let (now, allowed) = (self.clock.now(), self.per_account_day);
        match self.renders.count_new_paint(&requester.account_id, now.utc_day_start(), allowed).await? {
            true => Ok(()),
            false => Err(DeliveryError::TooManyPaints { paints: allowed, reset_at: now.utc_day_end() }),
        }
    }
}
