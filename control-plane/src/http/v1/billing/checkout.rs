//! `POST /api/v1/billing/checkout`: a payment page for a pack of credits. Making it charges nothing; a person must open it and pay.

use crate::accounts::Scope;
use crate::accounts::token::PlainKey;
use crate::app::App;
use crate::config::prices::{Pack, Payments};
use crate::http::error::Problem;
use crate::http::extract::{Caller, RequestId, bad_json, read_body};
use crate::http::rate_limit::counted;
use crate::http::v1::named_request::{Begun, REPLAYED, begin};
use crate::ledger::{Credits, idempotency};
use crate::payments::{self, PAGE_PREFIX};
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

pub const BODY_BYTES_MAX: usize = 1024;

const ENDPOINT: &str = "billing/checkout";

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckoutRequest {
    /// One of the packs.
    #[schema(example = 5000)]
    credits: i64,
}

#[derive(Serialize, ToSchema)]
pub struct Checkout {
    /// Where a person pays.
    #[schema(format = Uri)]
    url: String,
    #[schema(minimum = 1)]
    credits: i64,
    #[schema(minimum = 1)]
    amount_cents: i64,
}

#[derive(Serialize, ToSchema)]
pub struct CheckoutResponse {
    data: Checkout,
    request_id: String,
}

/// Open a payment page
///
/// For one of the packs. Nothing is charged here: a person must open the page and pay, within a day.
#[utoipa::path(
    post, path = "/api/v1/billing/checkout", tag = "Account", operation_id = "createCheckout",
    security(("bearer" = ["billing:write"]), ("apiKey" = ["billing:write"])),
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]([ -~]*[!-~])?$",
            description = "Names this request: sent again within 24 hours with the same body it gets the same answer.")),
    request_body(content = CheckoutRequest, content_type = "application/json", description = "At most 1 KiB."),
    responses(
        (status = 201, description = "The payment page.", body = CheckoutResponse,
         headers(("Idempotent-Replayed" = Option<String>, description = "`true` on an answer that was given before."))),
        (status = 400), (status = 401), (status = 403),
        (status = 409, description = "A request with this Idempotency-Key is being answered, or too many payments of the account are open."),
        (status = 413),
        (status = 422, description = "The Idempotency-Key was used with another body."),
        (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn post(State(app): State<App>, caller: Caller, id: RequestId, request: Request) -> Response {
    counted(&app, &caller, async {
        caller.require(Scope::BillingWrite)?;
        let headers = request.headers().clone();
        let body = read_body(request, &app).await?;
        let asked: CheckoutRequest = serde_json::from_slice(&body).map_err(|error| bad_json(&error))?;
        let pack = pack(&app, asked.credits)?;
        let attempt = match begin(&app, &caller, &headers, ENDPOINT, &body).await? {
            Begun::Ours(attempt) => attempt,
            Begun::Done(kept) => {
                let answer: Value = serde_json::from_str(&kept.answer).unwrap_or(Value::Null);
                return Ok(([(REPLAYED, "true")], created(answer)).into_response());
            }
        };
        let mut tx = app.db.begin().await?;
        let page = PlainKey::generate(PAGE_PREFIX, &mut rand::rng());
        let made = payments::offer(&mut tx, &caller.account_id, pack, &page, app.clock.now()).await?;
        made.ok_or_else(too_many)?;
        let answer = json!(CheckoutResponse {
            data: Checkout { url: page_url(&app, &page), credits: pack.credits, amount_cents: pack.cents },
            request_id: id.0,
        });
        if let Some(attempt) = &attempt {
            if !idempotency::is_ours(&mut tx, attempt.id()).await? {
                let detail = "Another request with this Idempotency-Key is being answered.";
                return Err(Problem::conflict("idempotency_key_in_use", detail).retry_after(1));
            }
            idempotency::keep(&mut tx, attempt.id(), &answer.to_string(), Credits(0)).await?;
        }
        tx.commit().await?;
        if let Some(attempt) = attempt {
            attempt.was_kept();
        }
        Ok(created(answer))
    })
    .await
}

fn created(answer: Value) -> Response {
    (StatusCode::CREATED, [(CACHE_CONTROL, "private, no-store")], Json(answer)).into_response()
}

/// The pack of so many credits, for the JSON API and the dashboard alike. 503 where nothing is sold.
pub fn pack(app: &App, credits: i64) -> Result<&Pack, Problem> {
    if app.config.prices.payments == Payments::Off {
        return Err(Problem::unavailable("payments_off", "This service sells no credits by itself: ask its operator."));
    }
    let packs = &app.config.prices.packs;
    packs.iter().find(|pack| pack.credits == credits).ok_or_else(|| {
        let allowed = packs.iter().map(|pack| pack.credits.to_string()).collect::<Vec<_>>().join(", ");
        Problem::bad_parameter("credits", format!("`credits` is one of {allowed}, not {credits}."))
    })
}

/// As many payments are open as may be.
pub fn too_many() -> Problem {
    let detail = format!("{} payments of this account are open: pay or cancel one first.", payments::OPEN_MAX);
    Problem::conflict("too_many_payments", detail)
}

/// Where a person pays.
pub fn page_url(app: &App, page: &PlainKey) -> String {
    format!("{}/pay/{}", app.base_url, page.reveal())
}
