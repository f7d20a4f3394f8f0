//! `POST /api/v1/image-urls`: signed addresses for one picture or up to fifty, one debit for the call.

use crate::accounts::Scope;
use crate::app::App;
use crate::delivery::urls::{self, Minted, Wanted};
use crate::delivery::{ImageRequest, Order};
use crate::http::error::Problem;
use crate::http::extract::{Caller, RequestId, bad_json, read_body};
use crate::http::v1::answer::{problem, refuse, vehicle_not_found, with_window};
use crate::http::v1::vehicle_params::VehicleParams;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

pub const BODY_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug, Serialize)]
struct DeliveryUrl {
    id: String,
    url: String,
    expires_at: String,
    max_uses: i64,
    vehicle: VehicleParams,
}

#[derive(Debug, Serialize)]
struct Billing {
    charged_on: &'static str,
    credits_charged: i64,
    credits_remaining: i64,
    credits_per_url: i64,
}

#[derive(Debug, Serialize)]
struct ImageUrls {
    data: Vec<DeliveryUrl>,
    billing: Billing,
    request_id: String,
}

pub async fn post(State(app): State<App>, caller: Caller, request_id: RequestId, request: Request) -> Response {
    let (wanted, orders) = match understand(&app, &caller, request).await {
        Ok(understood) => understood,
        Err(refusal) => return refuse(&app, &caller, refusal).await,
    };
    let (window, minted) = urls::mint(&app, &caller, &request_id.0, &orders, wanted.terms).await;
    let response = match minted {
        Ok(minted) => (StatusCode::CREATED, Json(answer(minted, &orders, &wanted, request_id.0))).into_response(),
        Err(error) => problem(&app, error).into_response(),
    };
    with_window(response, window)
}

async fn understand(app: &App, caller: &Caller, request: Request) -> Result<(Wanted, Vec<Order>), Problem> {
    caller.require(Scope::ImagesRead)?;
    let bytes = read_body(request, app).await?;
    let body: serde_json::Value = serde_json::from_slice(&bytes).map_err(|error| bad_json(&error))?;
    let wanted = Wanted::read(&body, &app.config.delivery).map_err(|bad| {
        let refusal = Problem::bad_parameter(&bad.wrong.parameter, bad.wrong.detail);
        at_item(refusal, bad.index)
    })?;
    let order = |(index, image): (usize, &ImageRequest)| {
        let found = app.catalog.find(&image.make, &image.model, image.year);
        let index = wanted.is_batch.then_some(index);
        found
            .map(|found| Order::new(found.vehicle, image))
            .map_err(|missing| at_item(vehicle_not_found(missing), index))
    };
    let orders = wanted.images.iter().enumerate().map(order).collect::<Result<Vec<Order>, Problem>>()?;
    Ok((wanted, orders))
}

fn at_item(refusal: Problem, index: Option<usize>) -> Problem {
    match index {
        Some(index) => refusal.with("index", index),
        None => refusal,
    }
}

fn answer(minted: Minted, orders: &[Order], wanted: &Wanted, request_id: String) -> ImageUrls {
    let expires_at = minted.expires_at.rfc3339();
    let urls = minted.urls.into_iter().zip(orders).map(|(minted, order)| DeliveryUrl {
        id: minted.id,
        url: minted.url,
        expires_at: expires_at.clone(),
        max_uses: wanted.terms.max_uses,
        vehicle: order.into(),
    });
    ImageUrls {
        data: urls.collect(),
        billing: Billing {
            charged_on: "creation",
            credits_charged: minted.charged.0,
            credits_remaining: minted.remaining.0,
            credits_per_url: 1,
        },
        request_id,
    }
}
