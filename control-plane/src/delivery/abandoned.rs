//! Limit on clients that request a new image and leave before they pay. Such a request costs the
//! client nothing, and the image stays; therefore an account may leave only a limited number of
//! them unpaid in a day.

use super::looks::Looks;
use super::{DeliveryError, Order};
use crate::clock::Clock;
use crate::db::Database;
use crate::ledger;
use crate::renders::Renders;

/// True if an account may begin one more render. It may leave `allowed` renders unpaid in a day,
/// and one more for each credit that it spends, so that a client that comes back for its image and
/// pays has used up nothing.
fn has_room(abandoned: i64, allowed: i64, credits_spent: i64) -> bool {
    abandoned < allowed.saturating_add(credits_spent.max(0))
}

/// Counts new images that accounts leave unpaid, and refuses further ones.
#[derive(Debug, Clone)]
pub struct AbandonedImages {
    pub renders: Renders,
    pub looks: Looks,
    pub db: Database,
    pub clock: Clock,
    /// Number of new images that an account may leave unpaid in a UTC day, beside one for each
    /// credit that it spends.
    pub allowed_per_day: i64,
}

impl AbandonedImages {
    /// Fails with [`DeliveryError::TooManyAbandoned`] if a request would begin a new image for an
    /// account that has left too many unpaid today. Every account may wait for an image that is
    /// being made: a client that comes back for the image that it left begins nothing.
    pub async fn refuse_too_many(&self, account_id: &str, order: &Order) -> Result<(), DeliveryError> {
        let today = self.clock.now().utc_day_start();
        let abandoned = self.renders.abandoned_since(account_id, today).await?;
        // Hardly any account leaves more than that, so the spend need not be read for most
        // requests.
        if has_room(abandoned, self.allowed_per_day, 0) {
            return Ok(());
        }
        let spent = ledger::credits_spent_on(&self.db.readers, account_id, today).await?;
        if has_room(abandoned, self.allowed_per_day, spent.0) {
            return Ok(());
        }
        if let Some(kept) = self.looks.kept_variant(order).await?
            && self.renders.is_in_the_making(&kept).await?
        {
            return Ok(());
        }
        Err(DeliveryError::TooManyAbandoned { abandoned, reset_at: today.utc_day_end() })
    }

    /// Records that the client of a new image has left. This happens before its credits are given
    /// back, so that they cannot pay for another new image before the record exists.
    pub async fn note(&self, account_id: &str, order: &Order) {
        let noted = async {
            match self.looks.kept_variant(order).await? {
                Some(kept) => self.renders.abandon(&kept, account_id).await,
                None => Ok(()),
            }
        };
        if let Err(error) = noted.await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                account_id,
                "an abandoned render could not be counted"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_may_be_left_and_one_for_each_credit_that_is_spent() {
        for (abandoned, credits_spent, expected) in [
            (0, 0, true),
            (19, 0, true),
            (20, 0, false),
            (20, 1, true),
            (21, 1, false),
            (20, -5, false),
            (500, 481, true),
        ] {
            assert_eq!(has_room(abandoned, 20, credits_spent), expected, "{abandoned} {credits_spent}");
        }
        assert!(!has_room(0, 0, 0), "none is allowed");
    }
}
