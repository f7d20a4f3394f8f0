//! `POST /dashboard/billing/alerts`: sets when the holder of an account is sent an email.

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
        let detail = "This service does not send email, so alerts cannot be set.";
        return Err(Problem::conflict("mail_off", detail));
    }
    let thresholds = Thresholds { low_balance: read(&form, "low_balance")?, daily_spend: read(&form, "daily_spend")? };
    alerts::set(&app.db, &user.account_id, thresholds, app.clock.now()).await?;
    tracing::info!(account_id = user.account_id, ?thresholds, "alert emails set by their user");
    Ok(Redirect::to("/dashboard/billing").into_response())
}

/// Reads a threshold that was typed. An empty field is no threshold.
fn read(form: &Form, name: &str) -> Result<Option<i64>, Problem> {
    form.credits(name).map_err(|_| {
        Problem::bad_parameter(
            name,
            format!("`{name}` must be a whole number of credits, at least 1, or empty for no alert."),
        )
    })
}
