//! `POST /webhooks/stripe`: Stripe's events. Not part of the client API; whoever calls must have signed the body with
//! the endpoint's secret.

use crate::app::App;
use crate::http::body::read_any_body;
use crate::http::error::Problem;
use crate::payments::stripe::event::Event;
use crate::payments::stripe::settle::{self, Outcome};
use crate::payments::stripe::signature;
use crate::plain_text;
use axum::extract::{Request, State};
use axum::http::StatusCode;

/// Stripe's largest events of our kinds have a tenth of it.
pub const BODY_BYTES_MAX: usize = 256 * 1024;

/// 204 once it is done, or there is nothing to do: Stripe sends everything else again for three days.
pub async fn post(State(app): State<App>, request: Request) -> Result<StatusCode, Problem> {
    let Some(stripe) = &app.stripe else {
        return Err(Problem::not_found("unknown_route", "There is nothing at this address."));
    };
    let header = request.headers().get("stripe-signature").cloned();
    let body = read_any_body(request, &app).await?;
    let header = header.as_ref().and_then(|header| header.to_str().ok()).unwrap_or_default();
    if let Err(error) = signature::verify(stripe.webhook_secret(), header, &body, app.clock.now()) {
        tracing::warn!(error = &error as &dyn std::error::Error, "an event is not Stripe's");
        return Err(Problem::bad_request("invalid_signature", format!("{error}.")));
    }
    // Of what customers have typed. PostgreSQL cannot keep NUL, and Stripe would send an event that is refused for three days.
    let event = Event::read(&plain_text::without_escaped_nul(&body)).map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "an event of Stripe has another form than we know");
        Problem::bad_request("unknown_form", "The event has not the form that is known here.")
    })?;
    let outcome = settle::apply(&app.db, &event, app.clock.now()).await?;
    let (event_id, kind) = (event.id.as_str(), event.kind.as_str());
    match outcome {
        Outcome::Applied(effect) => {
            tracing::info!(event_id, kind, "event of Stripe applied");
            if let Some(note) = effect.note {
                metrics::counter!("cyclorama_payment_alerts_total").increment(1);
                tracing::error!(event_id, kind, note, "an operator should look at a payment");
            }
            if let Some(account_id) = effect.failed_reload_of {
                tracing::warn!(account_id, "auto-reload is turned off");
                app.reload_letters().tell_of_failure(&account_id).await;
            }
        }
        Outcome::Refused(why) => {
            metrics::counter!("cyclorama_payment_alerts_total").increment(1);
            tracing::error!(event_id, kind, why, "an event of Stripe does not fit our payments; nothing was credited");
        }
        Outcome::Ignored | Outcome::Repeated => tracing::debug!(event_id, kind, "event of Stripe passed over"),
    }
    Ok(StatusCode::NO_CONTENT)
}
