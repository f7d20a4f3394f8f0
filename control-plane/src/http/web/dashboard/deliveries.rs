//! `GET /dashboard/deliveries`: the images that were delivered to the account's keys, newest first.

use super::shown::ShownDelivery;
use crate::app::App;
use crate::http::error::Problem;
use crate::http::web::visit::SignedInVisit;
use crate::ledger;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};

const SHOWN: usize = 30;

#[derive(Deserialize)]
pub struct DeliveriesQuery {
    before: Option<String>,
}

#[derive(Serialize)]
struct Page {
    deliveries: Vec<ShownDelivery>,
    /// Id of the delivery after which the next page begins, if there are older ones.
    older: Option<String>,
}

pub async fn get(
    State(app): State<App>,
    SignedInVisit { user, visit }: SignedInVisit,
    Query(asked): Query<DeliveriesQuery>,
) -> Result<Response, Problem> {
    let before = asked.before.as_deref();
    if before.is_some_and(|before| uuid::Uuid::parse_str(before).is_err()) {
        return Err(Problem::bad_parameter("before", "`before` must be the id of a delivery."));
    }
    let mut found = ledger::deliveries(&app.db.readers, &user.account_id, before, SHOWN as i64 + 1).await?;
    let is_more = found.len() > SHOWN;
    found.truncate(SHOWN);
    let older = if is_more { found.last().map(|last| last.id.clone()) } else { None };
    let deliveries = found.into_iter().map(|delivered| ShownDelivery::of(&app, delivered)).collect();
    Ok(visit.page("deliveries.html", &Page { deliveries, older }))
}
