//! Links that set a new password. They are sent by email, or handed over by the operator.

use super::error::Problem;
use crate::accounts::token::PlainKey;
use crate::accounts::user::{self, LINK_PREFIX, User};
use crate::app::App;

/// Makes and stores a link that sets a new password for the user, and works once.
pub async fn make_link(app: &App, user: &User) -> Result<String, Problem> {
    let link = PlainKey::generate(LINK_PREFIX, &mut rand::rng());
    user::keep_reset(&app.db, user, &link, app.clock.now()).await?;
    Ok(format!("{}/reset-password/{}", app.base_url, link.reveal()))
}
