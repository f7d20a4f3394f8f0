//! Makes signed URLs for a request of the JSON API or of the MCP tool.

use super::vehicle_params::VehicleParams;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::delivery::urls::{self, ENDPOINT, MintRequest, MintedUrls, Terms, UrlOrder};
use crate::delivery::{ImageRequest, Order};
use crate::http::delivery_problem::{mint_problem, vehicle_not_found};
use crate::http::error::Problem;
use crate::http::json;
use crate::http::openapi::requests;
use crate::ledger::Credits;
use crate::ledger::idempotency::StoredAnswer;
use crate::named_requests::{Fingerprint, NamedRequest};
use cyclorama_drawings::likeness;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// A signed URL.
#[derive(Debug, Serialize, ToSchema)]
struct DeliveryUrl {
    #[schema(format = Uuid)]
    id: String,
    #[schema(format = Uri)]
    url: String,
    #[schema(format = DateTime)]
    expires_at: String,
    /// Maximum number of loads. With 0 the URL can be loaded any number of times until it expires.
    #[schema(minimum = 0, maximum = 1000)]
    max_uses: i64,
    vehicle: VehicleParams,
    /// How close the image is to the real vehicle.
    #[schema(schema_with = requests::likeness)]
    likeness: &'static str,
}

/// The cost of the call.
#[derive(Debug, Serialize, ToSchema)]
struct MintBilling {
    /// Always `creation`: loads are free.
    #[schema(pattern = "^creation$")]
    charged_on: &'static str,
    /// One credit for each URL.
    #[schema(minimum = 1, maximum = 50)]
    credits_charged: i64,
    #[schema(minimum = 0)]
    credits_remaining: i64,
    #[schema(minimum = 1, maximum = 1)]
    credits_per_url: i64,
}

/// The signed URLs, one for each image, in the order of the images.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImageUrlsResponse {
    data: Vec<DeliveryUrl>,
    billing: MintBilling,
    request_id: String,
}

/// The result of a request for signed URLs.
pub struct ImageUrlsOutcome {
    /// An [`ImageUrlsResponse`] as JSON.
    pub answer: Value,
    /// True if this repeats an earlier answer, so that nothing was charged now.
    pub replayed: bool,
}

/// Makes the requested signed URLs and charges them. If the same named request was answered before,
/// returns that answer instead, also if the request would be refused now because the catalog has
/// changed since. `key` is the idempotency key, `text` is the request as it was sent.
pub async fn make(
    app: &App,
    caller: &Caller,
    request_id: String,
    understood: Result<ImageUrlsCommand, Problem>,
    key: Option<&str>,
    text: &[u8],
) -> Result<ImageUrlsOutcome, Problem> {
    let asked = match understood {
        Ok(asked) => asked,
        Err(refusal) => {
            let kept = app.mint.made_before(caller, key, text).await.map_err(|error| mint_problem(app, error))?;
            return kept.map(|kept| replayed(&kept)).ok_or(refusal);
        }
    };
    let ImageUrlsCommand { wanted: MintRequest { terms, .. }, orders } = &asked;
    let fingerprint = Fingerprint::of(&asked.meaning(), text);
    let named = NamedRequest { endpoint: ENDPOINT, key, fingerprint: &fingerprint, is_kept_whole: true };
    let wish = UrlOrder { request_id: &request_id, orders, terms: *terms };
    let answer = |minted: &MintedUrls| json!(ImageUrlsResponse::of(minted, orders, *terms, request_id.clone()));
    let made = app.mint.make(caller, wish, named, |minted| answer(minted).to_string()).await;
    match made.map_err(|error| mint_problem(app, error))? {
        urls::MintOutcome::Now { minted, remaining } => {
            let mut answer = answer(&minted);
            tell_balance(&mut answer, remaining);
            Ok(ImageUrlsOutcome { answer, replayed: false })
        }
        urls::MintOutcome::Before(kept) => Ok(replayed(&kept)),
    }
}

/// A request whose images were all found in the catalog; it can be answered if it can be paid for.
pub struct ImageUrlsCommand {
    wanted: MintRequest,
    orders: Vec<Order>,
}

impl ImageUrlsCommand {
    /// Returns the content of the request in one canonical spelling.
    pub fn meaning(&self) -> Value {
        let Terms { ttl_seconds, max_uses } = self.wanted.terms;
        let images: Vec<Value> = self.orders.iter().map(Order::meaning).collect();
        json!({ "images": images, "ttl_seconds": ttl_seconds, "max_uses": max_uses })
    }
}

/// Reads a body of either form: one image, or a batch.
pub fn understand(app: &App, parsed: &Value) -> Result<ImageUrlsCommand, Problem> {
    if let Value::Object(members) = parsed {
        json::refuse_nulls(members, "", &[]).map_err(|null| null.with_items("images"))?;
    }
    let wanted = MintRequest::read(parsed, &app.config.delivery).map_err(|bad| {
        let refusal = Problem::bad_parameter(&bad.wrong.parameter, bad.wrong.detail);
        at_item(refusal, bad.index)
    })?;
    let catalog = app.catalog.now();
    let order = |(index, image): (usize, &ImageRequest)| {
        let index = wanted.is_batch.then_some(index);
        Order::find(&catalog, &app.missing_vehicles, image)
            .map_err(|missing| at_item(vehicle_not_found(missing), index))
    };
    let orders = wanted.images.iter().enumerate().map(order).collect::<Result<Vec<Order>, Problem>>()?;
    Ok(ImageUrlsCommand { wanted, orders })
}

fn at_item(refusal: Problem, index: Option<usize>) -> Problem {
    match index {
        Some(index) => refusal.with("index", index),
        None => refusal,
    }
}

impl ImageUrlsResponse {
    /// Returns the response without the balance, which is known once the URLs are paid for.
    pub fn of(minted: &MintedUrls, orders: &[Order], terms: Terms, request_id: String) -> Self {
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

fn replayed(kept: &StoredAnswer) -> ImageUrlsOutcome {
    let mut answer = serde_json::from_str(&kept.answer).unwrap_or(Value::Null);
    tell_balance(&mut answer, kept.credits_remaining);
    ImageUrlsOutcome { answer, replayed: true }
}
