//! `GET /docs/quick-start`: the steps from no account at all to an image in a web page.

use super::visit::PageSession;
use crate::app::App;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

#[derive(Serialize)]
struct QuickStart<'a> {
    base_url: &'a str,
    free_credits: i64,
}

pub async fn get(State(app): State<App>, visit: PageSession) -> Response {
    visit
        .page("quick_start.html", &QuickStart { base_url: &app.base_url, free_credits: app.config.prices.free_credits })
}
