//! Signed addresses as a request asks for them and is told them, over HTTP and over the tool.

use super::vehicle_params::VehicleParams;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::delivery::urls::{self, ENDPOINT, Minted, Terms, Wanted, Wish};
use crate::delivery::{ImageRequest, Order};
use crate::http::delivery_problem::{mint_problem, vehicle_not_found};
use crate::http::error::Problem;
use crate::http::json;
use crate::http::openapi::requests;
use crate::ledger::Credits;
use crate::ledger::idempotency::Kept;
use crate::named_requests::{Fingerprint, NamedRequest};
use cyclorama_drawings::likeness;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

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

/// The answer to a request for addresses.
pub struct Made {
    /// An [`ImageUrlsResponse`].
    pub answer: Value,
    /// It was given before: nothing was charged now.
    pub replayed: bool,
}

/// Makes the addresses that were understood and charges them, or finds the answer that the same request was given before: also where it is
/// refused now, because the catalog has changed since. `key` names the request, `text` is the request as it was sent.
pub async fn make(
    app: &App,
    caller: &Caller,
    request_id: String,
    understood: Result<Asked, Problem>,
    key: Option<&str>,
    text: &[u8],
) -> Result<Made, Problem> {
    let asked = match understood {
        Ok(asked) => asked,
        Err(refusal) => {
            let kept = app.mint.made_before(caller, key, text).await.map_err(|error| mint_problem(app, error))?;
            return kept.map(|kept| replayed(&kept)).ok_or(refusal);
        }
    };
    let Asked { wanted: Wanted { terms, .. }, orders } = &asked;
    let fingerprint = Fingerprint::of(&asked.meaning(), text);
    let named = NamedRequest { endpoint: ENDPOINT, key, fingerprint: &fingerprint, is_kept_whole: true };
    let wish = Wish { request_id: &request_id, orders, terms: *terms };
    let answer = |minted: &Minted| json!(ImageUrlsResponse::of(minted, orders, *terms, request_id.clone()));
    let made = app.mint.make(caller, wish, named, |minted| answer(minted).to_string()).await;
    match made.map_err(|error| mint_problem(app, error))? {
        urls::Made::Now { minted, remaining } => {
            let mut answer = answer(&minted);
            tell_balance(&mut answer, remaining);
            Ok(Made { answer, replayed: false })
        }
        urls::Made::Before(kept) => Ok(replayed(&kept)),
    }
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
    let catalog = app.catalog.now();
    let order = |(index, image): (usize, &ImageRequest)| {
        let index = wanted.is_batch.then_some(index);
        Order::find(&catalog, &app.missing_vehicles, image)
            .map_err(|missing| at_item(vehicle_not_found(missing), index))
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
