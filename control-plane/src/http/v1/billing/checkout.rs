//! `POST /api/v1/billing/checkout`: opens a payment page for a pack of credits. This charges
//! nothing; a person must open the page and pay.

use crate::accounts::Scope;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::config::prices::Pack;
use crate::delivery::DeliveryError;
use crate::http::answers::payment_page::{open, pack};
use crate::http::body::read_body;
use crate::http::delivery_problem::problem;
use crate::http::error::Problem;
use crate::http::json;
use crate::http::key_window::counted;
use crate::http::named_request::{REPLAYED, key_of};
use crate::http::request_id::RequestId;
use crate::ledger::Credits;
use crate::ledger::idempotency::{self, Attempt};
use crate::named_requests::{Fingerprint, NamedRequest, RequestStart, kept_or_given_up};
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
    /// The credits of one of the packs.
    #[schema(example = 5000)]
    credits: i64,
}

#[derive(Serialize, ToSchema)]
pub struct Checkout {
    /// The page on which a person pays.
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
/// Opens a payment page for one of the packs. Nothing is charged here: a person must open the page
/// and pay, within a day.
#[utoipa::path(
    post, path = "/api/v1/billing/checkout", tag = "Account", operation_id = "createCheckout",
    security(("bearer" = ["billing:write"]), ("apiKey" = ["billing:write"])),
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]([ -~]*[!-~])?$",
            description = "A key for this request. The same request with the same key within 24 hours gets the same \
                           answer.")),
    request_body(content = CheckoutRequest, content_type = "application/json", description = "At most 1 KiB."),
    responses(
        (status = 201, description = "The payment page.", body = CheckoutResponse,
         headers(("Idempotent-Replayed" = Option<String>, description = "`true` if this repeats an earlier answer."))),
        (status = 400), (status = 401), (status = 403),
        (status = 409, description = "A request with this Idempotency-Key is still running, or too many payments of \
                                      the account are open."),
        (status = 413),
        (status = 422, description = "The Idempotency-Key was used for another request."),
        (status = 429), (status = 500),
        (status = 502, description = "The payment provider refused; nothing was charged."),
        (status = 503),
    )
)]
pub async fn post(State(app): State<App>, caller: Caller, id: RequestId, request: Request) -> Response {
    counted(&app, &caller, async {
        caller.require(Scope::BillingWrite)?;
        let headers = request.headers().clone();
        let body = read_body(request, &app).await?;
        let asked: CheckoutRequest = json::read(&body, &[])?;
        let pack = pack(&app, asked.credits)?;
        let key = key_of(&headers)?;
        let fingerprint = Fingerprint::of(&json!({ "credits": asked.credits }), &body);
        let named =
            NamedRequest { endpoint: ENDPOINT, key: key.as_deref(), fingerprint: &fingerprint, is_kept_whole: true };
        let attempt = match app.named_requests.begin(&caller, named).await? {
            RequestStart::Ours(attempt) => attempt,
            RequestStart::Done(kept) => {
                let answer: Value = serde_json::from_str(&kept.answer).unwrap_or(Value::Null);
                return Ok(([(REPLAYED, "true")], created(answer)).into_response());
            }
        };
        let opened = open_and_keep(&app, &caller, id, pack, attempt.as_ref()).await;
        let answer = kept_or_given_up(attempt, opened).await?;
        Ok(created(answer))
    })
    .await
}

/// Opens the payment page, and stores the answer if the request has an idempotency key.
async fn open_and_keep(
    app: &App,
    caller: &Caller,
    id: RequestId,
    pack: &Pack,
    attempt: Option<&Attempt>,
) -> Result<Value, Problem> {
    let url = open(app, &caller.account_id, pack).await?;
    let answer = json!(CheckoutResponse {
        data: Checkout { url, credits: pack.credits, amount_cents: pack.cents },
        request_id: id.0,
    });
    let Some(attempt) = attempt else { return Ok(answer) };
    let mut tx = app.db.begin().await?;
    if !idempotency::is_ours(&mut tx, attempt.id()).await? {
        return Err(problem(app, DeliveryError::AttemptLost).retry_after(1));
    }
    idempotency::keep(&mut tx, attempt.id(), &answer.to_string(), Credits(0)).await?;
    tx.commit().await?;
    Ok(answer)
}

fn created(answer: Value) -> Response {
    (StatusCode::CREATED, [(CACHE_CONTROL, "private, no-store")], Json(answer)).into_response()
}
