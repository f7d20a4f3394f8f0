//! `POST /api/v1/image-urls`: signed addresses for one picture or up to fifty, one debit for the call.

use crate::accounts::Scope;
use crate::app::App;
use crate::delivery::urls::{self, Minted, Wanted};
use crate::delivery::{ImageRequest, Order};
use crate::http::error::Problem;
use crate::http::extract::{Caller, RequestId, bad_json, read_body};
use crate::http::openapi::requests::ImageUrlsRequest;
use crate::http::rate_limit::{counted, with_window};
use crate::http::v1::answer::{problem, refuse, vehicle_not_found};
use crate::http::v1::named_request::{Begun, REPLAYED, begin};
use crate::http::v1::vehicle_params::VehicleParams;
use crate::ledger::idempotency::Kept;
use crate::ledger::{AnswerToKeep, Credits};
use axum::Json;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

pub const BODY_BYTES_MAX: usize = 64 * 1024;

/// What named requests are kept under.
const ENDPOINT: &str = "POST /api/v1/image-urls";

/// One signed address.
#[derive(Debug, Serialize, ToSchema)]
struct DeliveryUrl {
    #[schema(format = Uuid)]
    id: String,
    #[schema(format = Uri)]
    url: String,
    #[schema(format = DateTime)]
    expires_at: String,
    /// 0: as often as one likes, until it expires.
    #[schema(minimum = 0, maximum = 1000)]
    max_uses: i64,
    vehicle: VehicleParams,
}

/// What the call cost.
#[derive(Debug, Serialize, ToSchema)]
struct MintBilling {
    /// Always `creation`: loads are free.
    #[schema(pattern = "^creation$")]
    charged_on: &'static str,
    /// One for each address.
    #[schema(minimum = 1, maximum = 50)]
    credits_charged: i64,
    #[schema(minimum = 0)]
    credits_remaining: i64,
    #[schema(minimum = 1, maximum = 1)]
    credits_per_url: i64,
}

/// The addresses, one for each image, in their order.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImageUrlsResponse {
    data: Vec<DeliveryUrl>,
    billing: MintBilling,
    request_id: String,
}

/// Make signed addresses
///
/// Browser-safe addresses of one image, or of up to fifty. They hold no key, are paid for here (one credit each, one debit for the
/// call) and are free to load until they expire. Everything is checked before anything is charged; when an item of a batch is
/// wrong, `index` says which.
#[utoipa::path(
    post, path = "/api/v1/image-urls", tag = "Images", operation_id = "createImageUrls",
    security(("bearer" = ["images:read"]), ("apiKey" = ["images:read"])),
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]([ -~]*[!-~])?$",
            description = "Names this request: sent again within 24 hours with the same body it gets the same answer, free.")),
    request_body(content = ImageUrlsRequest, content_type = "application/json",
                 description = "One image, or a batch with terms. At most 64 KiB."),
    responses(
        (status = 201, description = "The addresses.", body = ImageUrlsResponse,
         headers(("Idempotent-Replayed" = Option<String>, description = "`true` on an answer that was given before."))),
        (status = 400), (status = 401), (status = 402), (status = 403), (status = 404),
        (status = 409, description = "A request with this Idempotency-Key is being answered."),
        (status = 413),
        (status = 422, description = "The Idempotency-Key was used with another body."),
        (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn post(State(app): State<App>, caller: Caller, request_id: RequestId, request: Request) -> Response {
    let headers = request.headers().clone();
    let asked = match understand(&app, &caller, request).await {
        Ok(asked) => asked,
        Err(refusal) => return refuse(&app, &caller, refusal).await,
    };
    let attempt = match begin(&app, &caller, &headers, ENDPOINT, &asked.body).await {
        Ok(Begun::Ours(attempt)) => attempt,
        Ok(Begun::Done(kept)) => return counted(&app, &caller, async { Ok(replayed(&kept)) }).await,
        Err(refusal) => return refuse(&app, &caller, refusal).await,
    };
    let minted = match urls::mint(&app, &caller, &request_id.0, &asked.orders, asked.wanted.terms).await {
        Ok(minted) => minted,
        Err(error) => return refuse(&app, &caller, problem(&app, error)).await,
    };
    let answer = json!(answer(&minted, &asked, request_id.0));
    let keep = attempt
        .as_ref()
        .map(|attempt| AnswerToKeep { attempt_id: attempt.id().to_owned(), answer: answer.to_string() });
    let (window, paid) = minted.pay(&app, &caller, keep).await;
    let response = match paid {
        Ok(remaining) => {
            if let Some(attempt) = attempt {
                attempt.was_kept();
            }
            created(answer, remaining)
        }
        Err(error) => problem(&app, error).into_response(),
    };
    with_window(response, window)
}

/// A request that can be answered, if it can be paid for.
struct Asked {
    body: Bytes,
    wanted: Wanted,
    orders: Vec<Order>,
}

async fn understand(app: &App, caller: &Caller, request: Request) -> Result<Asked, Problem> {
    caller.require(Scope::ImagesRead)?;
    let body = read_body(request, app).await?;
    let parsed: Value = serde_json::from_slice(&body).map_err(|error| bad_json(&error))?;
    let wanted = Wanted::read(&parsed, &app.config.delivery).map_err(|bad| {
        let refusal = Problem::bad_parameter(&bad.wrong.parameter, bad.wrong.detail);
        at_item(refusal, bad.index)
    })?;
    let order = |(index, image): (usize, &ImageRequest)| {
        let index = wanted.is_batch.then_some(index);
        Order::find(&app.catalog.now(), image).map_err(|missing| at_item(vehicle_not_found(missing), index))
    };
    let orders = wanted.images.iter().enumerate().map(order).collect::<Result<Vec<Order>, Problem>>()?;
    Ok(Asked { body, wanted, orders })
}

fn at_item(refusal: Problem, index: Option<usize>) -> Problem {
    match index {
        Some(index) => refusal.with("index", index),
        None => refusal,
    }
}

/// The answer but for the balance, which is known once it is paid.
fn answer(minted: &Minted, asked: &Asked, request_id: String) -> ImageUrlsResponse {
    let expires_at = minted.expires_at.rfc3339();
    let urls = minted.urls.iter().zip(&asked.orders).map(|(minted, order)| DeliveryUrl {
        id: minted.id.clone(),
        url: minted.url.clone(),
        expires_at: expires_at.clone(),
        max_uses: asked.wanted.terms.max_uses,
        vehicle: order.into(),
    });
    ImageUrlsResponse {
        data: urls.collect(),
        billing: MintBilling {
            charged_on: "creation",
            credits_charged: minted.price().0,
            credits_remaining: 0,
            credits_per_url: 1,
        },
        request_id,
    }
}

fn created(mut answer: Value, remaining: Credits) -> Response {
    answer["billing"]["credits_remaining"] = remaining.0.into();
    (StatusCode::CREATED, Json(answer)).into_response()
}

fn replayed(kept: &Kept) -> Response {
    let answer = serde_json::from_str(&kept.answer).unwrap_or(Value::Null);
    ([(REPLAYED, "true")], created(answer, kept.credits_remaining)).into_response()
}
