//! `POST /api/v1/image-urls`: signed addresses for one picture or up to fifty, one debit for the call.

use crate::accounts::Scope;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::delivery::urls::{self, Minted, Terms, Wanted};
use crate::delivery::{self, ImageRequest, Order};
use crate::http::body::read_any_body;
use crate::http::delivery_problem::{problem, vehicle_not_found};
use crate::http::error::Problem;
use crate::http::json;
use crate::http::key_window::{refuse, with_window};
use crate::http::openapi::requests::{self, ImageUrlsRequest};
use crate::http::request_id::RequestId;
use crate::http::v1::named_request::{
    Begun, Fingerprint, NamedRequest, REPLAYED, begin, kept_for, kept_or_given_up, key_of,
};
use crate::http::v1::vehicle_params::VehicleParams;
use crate::ledger::idempotency::Kept;
use crate::ledger::{AnswerToKeep, Credits, Window};
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cyclorama_drawings::likeness;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

pub const BODY_BYTES_MAX: usize = 64 * 1024;

/// What named requests are kept under, those of the tool as well: the same addresses asked for over HTTP and over the tool are one request.
pub const ENDPOINT: &str = "POST /api/v1/image-urls";

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
    /// How like the real vehicle the picture is.
    #[schema(schema_with = requests::likeness)]
    likeness: &'static str,
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
            description = "Names this request: sent again within 24 hours it gets the same answer, free. The same request may be written otherwise: what counts is what is asked for.")),
    request_body(content = ImageUrlsRequest, content_type = "application/json",
                 description = "One image, or a batch with terms. At most 64 KiB."),
    responses(
        (status = 201, description = "The addresses.", body = ImageUrlsResponse,
         headers(("Idempotent-Replayed" = Option<String>, description = "`true` on an answer that was given before."))),
        (status = 400), (status = 401), (status = 402), (status = 403), (status = 404),
        (status = 409, description = "A request with this Idempotency-Key is being answered."),
        (status = 413),
        (status = 422, description = "The Idempotency-Key was used for another request."),
        (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn post(State(app): State<App>, caller: Caller, request_id: RequestId, request: Request) -> Response {
    let headers = request.headers().clone();
    let read = async {
        caller.require(Scope::ImagesRead)?;
        let body = read_any_body(request, &app).await?;
        Ok((json::value(&body)?, body))
    };
    let (parsed, body) = match read.await {
        Ok(read) => read,
        Err(refusal) => return refuse(&app, &caller, refusal).await,
    };
    let understood = understand(&app, &parsed).and_then(|asked| Ok((asked, key_of(&headers)?)));
    let (window, made) = match understood {
        Ok((asked, key)) => {
            let fingerprint = Fingerprint::of(&asked.meaning(), &body);
            let named = NamedRequest {
                endpoint: ENDPOINT,
                key: key.as_deref(),
                fingerprint: &fingerprint,
                is_kept_whole: true,
            };
            make(&app, &caller, request_id.0, &asked, named).await
        }
        Err(refusal) => {
            let key = key_of(&headers).unwrap_or_default();
            let made = made_before(&app, &caller, key.as_deref(), &body, refusal).await;
            uncharged(&app, &caller, made).await
        }
    };
    let response = match made {
        Ok(Made { answer, replayed: false }) => (StatusCode::CREATED, Json(answer)).into_response(),
        Ok(Made { answer, replayed: true }) => {
            ([(REPLAYED, "true")], (StatusCode::CREATED, Json(answer))).into_response()
        }
        Err(problem) => problem.into_response(),
    };
    with_window(response, window)
}

/// The answer to a request for addresses.
pub struct Made {
    /// An [`ImageUrlsResponse`].
    pub answer: Value,
    /// It was given before: nothing was charged now.
    pub replayed: bool,
}

/// Makes the addresses and charges them, or finds the answer that the same request was given before.
pub async fn make(
    app: &App,
    caller: &Caller,
    request_id: String,
    asked: &Asked,
    named: NamedRequest<'_>,
) -> (Option<Window>, Result<Made, Problem>) {
    let attempt = match begin(app, caller, named).await {
        Ok(Begun::Ours(attempt)) => attempt,
        Ok(Begun::Done(kept)) => return uncharged(app, caller, Ok(replayed(&kept))).await,
        Err(refusal) => return uncharged(app, caller, Err(refusal)).await,
    };
    let minted = match urls::mint(app, caller, &request_id, &asked.orders, asked.wanted.terms).await {
        Ok(minted) => minted,
        Err(error) => {
            let refused = kept_or_given_up(attempt, Err(problem(app, error))).await;
            return uncharged(app, caller, refused).await;
        }
    };
    let mut answer = json!(ImageUrlsResponse::of(&minted, &asked.orders, asked.wanted.terms, request_id));
    let keep = attempt
        .as_ref()
        .map(|attempt| AnswerToKeep { attempt_id: attempt.id().to_owned(), answer: answer.to_string() });
    let (window, paid) = minted.pay(app, caller, keep).await;
    let paid = kept_or_given_up(attempt, paid).await;
    let made = paid.map_err(|error| problem(app, error)).map(|remaining| {
        tell_balance(&mut answer, remaining);
        Made { answer, replayed: false }
    });
    (window, made)
}

/// The answer that was given to the very same request before it was refused, which the catalog may do once it has changed; else the refusal.
pub async fn made_before(
    app: &App,
    caller: &Caller,
    key: Option<&str>,
    text: &[u8],
    refusal: Problem,
) -> Result<Made, Problem> {
    kept_for(app, caller, ENDPOINT, key, text).await?.map(|kept| replayed(&kept)).ok_or(refusal)
}

/// What ends before a charge is counted all the same.
async fn uncharged(app: &App, caller: &Caller, made: Result<Made, Problem>) -> (Option<Window>, Result<Made, Problem>) {
    let (window, counted) = delivery::count(app, caller).await;
    (window, counted.map_err(|error| problem(app, error)).and(made))
}

/// A request that can be answered, if it can be paid for.
pub struct Asked {
    wanted: Wanted,
    orders: Vec<Order>,
}

impl Asked {
    /// What is asked for, in one spelling.
    pub fn meaning(&self) -> Value {
        let Terms { ttl_seconds, max_uses } = self.wanted.terms;
        let images: Vec<Value> = self.orders.iter().map(Order::meaning).collect();
        json!({ "images": images, "ttl_seconds": ttl_seconds, "max_uses": max_uses })
    }
}

/// Reads a body of either form.
pub fn understand(app: &App, parsed: &Value) -> Result<Asked, Problem> {
    if let Value::Object(members) = parsed {
        json::refuse_nulls(members, "", &[]).map_err(|null| null.with_items("images"))?;
    }
    let wanted = Wanted::read(parsed, &app.config.delivery).map_err(|bad| {
        let refusal = Problem::bad_parameter(&bad.wrong.parameter, bad.wrong.detail);
        at_item(refusal, bad.index)
    })?;
    let order = |(index, image): (usize, &ImageRequest)| {
        let index = wanted.is_batch.then_some(index);
        Order::find(app, image).map_err(|missing| at_item(vehicle_not_found(missing), index))
    };
    let orders = wanted.images.iter().enumerate().map(order).collect::<Result<Vec<Order>, Problem>>()?;
    Ok(Asked { wanted, orders })
}

fn at_item(refusal: Problem, index: Option<usize>) -> Problem {
    match index {
        Some(index) => refusal.with("index", index),
        None => refusal,
    }
}

impl ImageUrlsResponse {
    /// The answer but for the balance, which is known once it is paid.
    pub fn of(minted: &Minted, orders: &[Order], terms: Terms, request_id: String) -> Self {
        let expires_at = minted.expires_at.rfc3339();
        let urls = minted.urls.iter().zip(orders).map(|(minted, order)| DeliveryUrl {
            id: minted.id.clone(),
            url: minted.url.clone(),
            expires_at: expires_at.clone(),
            max_uses: terms.max_uses,
            vehicle: order.into(),
            likeness: likeness(&order.vehicle).as_str(),
        });
        ImageUrlsResponse {
            data: urls.collect(),
            billing: MintBilling {
                charged_on: "creation",
                credits_charged: minted.price().0,
                credits_remaining: 0,
                credits_per_url: Credits::PER_PICTURE.0,
            },
            request_id,
        }
    }
}

fn tell_balance(answer: &mut Value, remaining: Credits) {
    answer["billing"]["credits_remaining"] = remaining.0.into();
}

fn replayed(kept: &Kept) -> Made {
    let mut answer = serde_json::from_str(&kept.answer).unwrap_or(Value::Null);
    tell_balance(&mut answer, kept.credits_remaining);
    Made { answer, replayed: true }
}
