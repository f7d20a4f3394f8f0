//! What the pages to sign in and to sign up have in common.

use crate::accounts::password::HashingError;
use crate::app::App;
use crate::http::error::Problem;
use serde::Serialize;

/// What was typed, to be shown again, and what was wrong with it.
#[derive(Debug, Default, Serialize)]
pub struct Fields {
    pub email: String,
    pub next: String,
    pub wrong: Option<String>,
}

/// A provider's button.
#[derive(Debug, Serialize)]
pub struct Button {
    pub id: String,
    pub name: String,
}

/// The buttons of all providers that are set up.
pub fn buttons(app: &App) -> Vec<Button> {
    app.openid
        .iter()
        .map(|provider| Button { id: provider.id().to_owned(), name: provider.name().to_owned() })
        .collect()
}

/// Passwords that cannot be hashed now.
pub fn busy(error: HashingError) -> Problem {
    tracing::warn!(error = &error as &dyn std::error::Error, "a password was not hashed");
    Problem::unavailable("at_capacity", "Too many people are signing in at this moment.").retry_after(5)
}
