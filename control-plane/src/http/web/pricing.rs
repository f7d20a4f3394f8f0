//! `GET /pricing`: the prices. The `Link` header of a 402 response points to this page.

use super::dashboard::billing::{ShownPack, packs};
use super::format::thousands;
use super::visit::PageSession;
use crate::app::App;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

#[derive(Serialize)]
struct PricingPage {
    packs: Vec<ShownPack>,
    free_credits: i64,
    credits_per_dollar: String,
}

pub async fn get(State(app): State<App>, visit: PageSession) -> Response {
    let prices = &app.config.prices;
    let pricing = PricingPage {
        packs: packs(&app),
        free_credits: prices.free_credits,
        credits_per_dollar: thousands(prices.credits_per_dollar),
    };
    visit.page("pricing.html", &pricing)
}
