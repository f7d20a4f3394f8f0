//! Parts that the sign-in page and the sign-up page have in common.

use crate::accounts::password::HashingError;
use crate::app::App;
use crate::http::error::Problem;
use serde::Serialize;

/// Values that were typed, to be shown again, and the error message.
#[derive(Debug, Default, Serialize)]
pub struct SignInFields {
    pub email: String,
    pub next: String,
    pub wrong: Option<String>,
}

/// A button for signing in through a provider.
#[derive(Debug, Serialize)]
pub struct Button {
    pub id: String,
    pub name: String,
}

/// Returns the buttons of all configured providers.
pub fn buttons(app: &App) -> Vec<Button> {
    app.openid
        .iter()
        .map(|provider| Button { id: provider.id().to_owned(), name: provider.name().to_owned() })
        .collect()
}

/// Returns the problem for a password that cannot be hashed now: 503.
pub fn busy(error: HashingError) -> Problem {
    tracing::warn!(error = &error as &dyn std::error::Error, "a password could not be hashed");
    Problem::unavailable("at_capacity", "Too many people are signing in now.").retry_after(5)
}
