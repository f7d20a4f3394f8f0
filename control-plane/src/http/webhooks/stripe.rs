//! `POST /webhooks/stripe`: receives Stripe's events. It is not part of the client API. The caller
//! must have signed the body with the endpoint's secret.

use crate::app::App;
use crate::http::body::read_any_body;
use crate::http::error::Problem;
use crate::payments::stripe::event::StripeEvent;
use crate::payments::stripe::settle::{self, EventOutcome};
use crate::payments::stripe::signature;
use crate::plain_text;
use axum::extract::{Request, State};
use axum::http::StatusCode;

/// Maximum size of an event, in bytes. Stripe's largest events of the kinds that we handle have a
/// tenth of it.
pub const BODY_BYTES_MAX: usize = 256 * 1024;

/// Returns 204 once the event is handled, or if there is nothing to do. Stripe sends an event with
/// any other response again for three days.
pub async fn post(State(app): State<App>, request: Request) -> Result<StatusCode, Problem> {
    let Some(stripe) = &app.stripe else {
        return Err(Problem::not_found("unknown_route", "There is nothing at this URL."));
    };
    let header = request.headers().get("stripe-signature").cloned();
    let body = read_any_body(request, &app).await?;
    let header = header.as_ref().and_then(|header| header.to_str().ok()).unwrap_or_default();
    if let Err(error) = signature::verify(stripe.webhook_secret(), header, &body, app.clock.now()) {
        tracing::warn!(error = &error as &dyn std::error::Error, "a webhook request was refused: it is not Stripe's");
        return Err(Problem::bad_request("invalid_signature", format!("{error}.")));
    }
    // NUL is removed from what customers have typed: PostgreSQL cannot store it, and Stripe would
    // send an event that is refused again for three days.
    let event = StripeEvent::read(&plain_text::without_escaped_nul(&body)).map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "an event of Stripe could not be parsed");
        Problem::bad_request("unknown_form", "The event has an unknown form.")
    })?;
    let outcome = settle::apply(&app.db, &event, app.clock.now()).await?;
    let (event_id, kind) = (event.id.as_str(), event.kind.as_str());
    match outcome {
        EventOutcome::Applied(effect) => {
            tracing::info!(event_id, kind, "an event of Stripe was applied");
            if let Some(note) = effect.note {
                metrics::counter!("cyclorama_payment_alerts_total").increment(1);
                tracing::error!(event_id, kind, note, "an event of Stripe needs an operator");
            }
            if let Some(account_id) = effect.failed_reload_of {
                tracing::warn!(account_id, "auto-reload was turned off");
                app.reload_letters().tell_of_failure(&account_id).await;
            }
        }
        EventOutcome::Refused(why) => {
            metrics::counter!("cyclorama_payment_alerts_total").increment(1);
            tracing::error!(event_id, kind, why, "an event of Stripe matches no payment; nothing was credited");
        }
        EventOutcome::Ignored | EventOutcome::Repeated => {
            tracing::debug!(event_id, kind, "an event of Stripe was ignored")
        }
    }
    Ok(StatusCode::NO_CONTENT)
}
