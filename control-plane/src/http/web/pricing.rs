//! `GET /pricing`: what things cost. The `Link` of a 402 points here.

use super::dashboard::billing::{ShownPack, packs};
use super::visit::Visit;
use super::words::thousands;
use crate::app::App;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

#[derive(Serialize)]
struct Pricing {
    packs: Vec<ShownPack>,
    free_credits: i64,
    credits_per_dollar: String,
}

pub async fn get(State(app): State<App>, visit: Visit) -> Response {
    let prices = &app.config.prices;
    let pricing = Pricing {
        packs: packs(&app),
        free_credits: prices.free_credits,
        credits_per_dollar: thousands(prices.credits_per_dollar),
    };
    visit.page("pricing.html", &pricing)
}
