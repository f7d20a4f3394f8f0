//! `POST /dashboard/billing/alerts`: when the holder of an account is sent a letter.

use crate::alerts::{self, Thresholds};
use crate::app::App;
use crate::http::error::Problem;
use crate::http::web::form::Form;
use crate::http::web::visit::SignedInVisit;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};

pub async fn post(
    State(app): State<App>,
    SignedInVisit { user, .. }: SignedInVisit,
    form: Form,
) -> Result<Response, Problem> {
    if app.mailer.is_none() {
        let detail = "This service is set up without mail, so it sends no letters: there is nothing to set here.";
        return Err(Problem::conflict("mail_off", detail));
    }
    let thresholds = Thresholds { low_balance: read(&form, "low_balance")?, daily_spend: read(&form, "daily_spend")? };
    alerts::set(&app.db, &user.account_id, thresholds, app.clock.now()).await?;
    tracing::info!(account_id = user.account_id, ?thresholds, "letters set by their reader");
    Ok(Redirect::to("/dashboard/billing").into_response())
}

/// A threshold that was typed; empty for none.
fn read(form: &Form, name: &str) -> Result<Option<i64>, Problem> {
    form.credits(name).map_err(|_| {
        Problem::bad_parameter(
            name,
            format!("`{name}` is a whole number of credits, at least 1, or empty for no letter."),
        )
    })
}
