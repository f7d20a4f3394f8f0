//! `GET /console`: the page of the console.

use super::live;
use super::session::{ConsoleOperator, form_token};
use crate::app::App;
use crate::clock::UnixMs;
use crate::http::error::Problem;
use crate::http::web::format::moment;
use crate::http::web::pages::{self, CommonValues};
use crate::payments::stripe::noted::{self, NotedEvent};
use crate::renders::{FlaggedRevision, Inspection};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use cyclorama_core::wire::Light;
use serde::Serialize;

const GALLERY: i64 = 24;
const FLAGGED: i64 = 20;
const REFUSED: i64 = 20;

#[derive(Serialize)]
struct Page {
    /// The current live part, as HTML.
    live: String,
    refused: Vec<ShownEvent>,
    flagged: Vec<ShownFlagged>,
    gallery: Vec<ShownRender>,
}

/// An event from Stripe that an operator should look at.
#[derive(Serialize)]
struct ShownEvent {
    id: String,
    kind: String,
    outcome: &'static str,
    why: String,
    at: String,
}

impl From<NotedEvent> for ShownEvent {
    fn from(event: NotedEvent) -> Self {
        ShownEvent {
            outcome: event.outcome(),
            id: event.id,
            kind: event.kind,
            why: event.why,
            at: moment(event.received_at),
        }
    }
}

#[derive(Serialize)]
struct ShownFlagged {
    id: String,
    name: String,
    revision: i64,
    reports: String,
    reasons: Vec<String>,
    since: String,
    /// Revision of the render's candidate, if there is one.
    candidate_revision: Option<i64>,
    is_in_the_making: bool,
}

#[derive(Serialize)]
struct ShownRender {
    id: String,
    name: String,
    state: &'static str,
    told: String,
    at: String,
    is_there: bool,
    receipt: Option<String>,
}

pub async fn get(State(app): State<App>, _: ConsoleOperator) -> Result<Response, Problem> {
    let flagged = app.renders.flagged(FLAGGED).await?;
    let refused = noted::noted_events(&app.db, REFUSED).await?;
    let latest = app.renders.latest(GALLERY).await?;
    let page = Page {
        live: live::render(&app).await?,
        refused: refused.into_iter().map(ShownEvent::from).collect(),
        flagged: flagged.into_iter().map(ShownFlagged::from).collect(),
        gallery: latest.into_iter().map(ShownRender::from).collect(),
    };
    let csrf = form_token(&app);
    Ok(pages::render(
        "console.html",
        StatusCode::OK,
        &CommonValues { email: None, csrf: &csrf, is_known: false },
        &page,
    ))
}

impl From<FlaggedRevision> for ShownFlagged {
    fn from(flagged: FlaggedRevision) -> Self {
        ShownFlagged {
            name: format!("{}, {}, {}", flagged.vehicle, flagged.view, flagged.color),
            reports: format!("{} bad, {} good", flagged.bad_reports, flagged.good_reports),
            since: moment(UnixMs(flagged.flagged_at_ms)),
            candidate_revision: flagged.candidate_revision,
            is_in_the_making: flagged.is_in_the_making,
            id: flagged.render_id,
            revision: flagged.revision,
            reasons: flagged.reasons,
        }
    }
}

impl From<Inspection> for ShownRender {
    fn from(render: Inspection) -> Self {
        let told = match (&render.failure_kind, render.revision) {
            (Some(kind), _) => format!("{kind}: {}", render.failure_detail.as_deref().unwrap_or("no detail")),
            // The render's light failed the node's checks twice.
            (None, Some(revision)) if render.receipt.read().light == Some(Light::BaseShading) => {
                format!("revision {revision}, base shading only")
            }
            (None, Some(revision)) => format!("revision {revision}"),
            (None, None) => "not rendered yet".to_owned(),
        };
        ShownRender {
            name: format!("{}, {}, {}", render.vehicle_key, render.view, render.colour),
            state: render.state.as_str(),
            told,
            at: moment(UnixMs(render.changed_at_ms)),
            is_there: render.master_sha256.is_some(),
            receipt: match render.receipt.into_document() {
                serde_json::Value::Null => None,
                receipt => serde_json::to_string_pretty(&receipt).ok(),
            },
            id: render.id,
        }
    }
}
