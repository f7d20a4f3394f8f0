//! `GET /admin/payments/refused`: the events of Stripe that an operator should look at. These are
//! events that contradict our records, disputes and inquiries, failed refunds, and refunds of
//! credits that were already spent.

use crate::app::App;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::payments::stripe::noted::{self, NotedEvent};
use axum::Json;
use axum::extract::State;
use serde::Serialize;

const EVENTS_MAX: i64 = 200;

#[derive(Debug, Serialize)]
pub struct RefusedEvents {
    /// The newest first.
    events: Vec<RefusedEvent>,
}

#[derive(Debug, Serialize)]
struct RefusedEvent {
    /// Stripe's id of the event.
    event_id: String,
    kind: String,
    /// `refused` if nothing was done, `applied` if the event was applied but needs attention.
    outcome: &'static str,
    why: String,
    received_at: String,
}

impl From<NotedEvent> for RefusedEvent {
    fn from(event: NotedEvent) -> Self {
        RefusedEvent {
            outcome: event.outcome(),
            event_id: event.id,
            kind: event.kind,
            why: event.why,
            received_at: event.received_at.rfc3339(),
        }
    }
}

pub async fn list(State(app): State<App>, _: Operator) -> Result<Json<RefusedEvents>, Problem> {
    let events = noted::noted_events(&app.db, EVENTS_MAX).await?;
    Ok(Json(RefusedEvents { events: events.into_iter().map(RefusedEvent::from).collect() }))
}
