//! Emails about reloads that failed.

use crate::accounts::account;
use crate::db::Database;
use crate::mail::{Email, Mailer};

/// The parts needed to write and send emails about reloads.
#[derive(Clone)]
pub struct FailureEmails {
    pub db: Database,
    /// `None` if no email is sent.
    pub mailer: Option<Mailer>,
    pub base_url: String,
}

impl FailureEmails {
    /// Sends the email to an account whose card was not charged. Errors are only logged:
    /// auto-reload is off either way.
    pub async fn tell_of_failure(&self, account_id: &str) {
        let Some(mailer) = &self.mailer else { return };
        let account = match account::find(&self.db, account_id).await {
            Ok(account) => account,
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "an account has no email address");
                return;
            }
        };
        let text = format!(
            "Your balance at {base} is low, and your card could not be charged for more credits. Auto-reload is now turned off, so no further charge is tried.\n\nBuy credits, or turn it on again: {base}/dashboard/billing\n",
            base = self.base_url,
        );
        let letter = Email { to: account.email, subject: "Auto-reload did not work and is turned off", text };
        if let Err(error) = mailer.room().and_then(|room| mailer.post(room, letter)) {
            tracing::error!(error = &error as &dyn std::error::Error, account_id, "an email could not be queued");
        }
    }
}
