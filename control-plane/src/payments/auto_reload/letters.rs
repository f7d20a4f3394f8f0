//! Letters about reloads that did not work.

use crate::accounts::account;
use crate::db::Database;
use crate::mail::{Letter, Mailer};

/// What letters about reloads are written and sent with.
#[derive(Clone)]
pub struct Letters {
    pub db: Database,
    /// `None`: no mail is sent.
    pub mailer: Option<Mailer>,
    pub base_url: String,
}

impl Letters {
    /// The letter to somebody whose card was not charged. What goes wrong is logged: auto-reload is off either way.
    pub async fn tell_of_failure(&self, account_id: &str) {
        let Some(mailer) = &self.mailer else { return };
        let account = match account::find(&self.db, account_id).await {
            Ok(account) => account,
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "a letter has no address");
                return;
            }
        };
        let text = format!(
            "Your balance at {base} is low, and your card could not be charged for more credits. Auto-reload is turned off, so that it is not tried again.\n\nBuy credits, or turn it on again: {base}/dashboard/billing\n",
            base = self.base_url,
        );
        let letter = Letter { to: account.email, subject: "Auto-reload did not work and is turned off", text };
        if let Err(error) = mailer.room().and_then(|room| mailer.post(room, letter)) {
            tracing::error!(error = &error as &dyn std::error::Error, account_id, "a letter was not taken");
        }
    }
}
