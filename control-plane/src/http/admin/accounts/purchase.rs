//! `POST /admin/accounts/{account_id}/purchases`: enters a payment that was made
//! elsewhere, such as a bank transfer.

use crate::app::App;
use crate::http::body::JsonBody;
use crate::http::error::Problem;
use crate::http::operator::Operator;
use crate::ledger::{self, Credits, ReceivedPayment};
use axum::Json;
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};

const REFERENCE_CHARS_MAX: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Purchase {
    credits: i64,
    /// The payment's own id. Entering the same payment again changes nothing.
    reference: String,
}

#[derive(Debug, Serialize)]
pub struct PurchasedCredits {
    /// The balance after the purchase.
    credits: Credits,
    /// False if the payment had been entered before.
    added: bool,
}

pub async fn purchase(
    State(app): State<App>,
    _: Operator,
    Path(account_id): Path<String>,
    JsonBody(body): JsonBody<Purchase>,
) -> Result<Json<PurchasedCredits>, Problem> {
    let reference = body.reference.trim();
    let is_text = !reference.chars().any(char::is_control);
    if reference.is_empty() || reference.chars().count() > REFERENCE_CHARS_MAX || !is_text {
        let detail = format!("`reference` must have 1 to {REFERENCE_CHARS_MAX} characters that name the payment.");
        return Err(Problem::bad_parameter("reference", detail));
    }
    let payment = ReceivedPayment { reference, credits: Credits(body.credits), reason: "entered by the operator" };
    let mut tx = app.db.begin().await?;
    let (credits, added) = ledger::purchase(&mut tx, &account_id, payment, app.clock.now()).await?;
    tx.commit().await?;
    tracing::info!(account_id, purchased = body.credits, reference, added, "purchase recorded by the operator");
    Ok(Json(PurchasedCredits { credits, added }))
}
