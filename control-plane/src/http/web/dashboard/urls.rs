//! `GET /dashboard/urls`: the account's signed URLs and their states.

use super::shown::ShownUrl;
use crate::app::App;
use crate::delivery::urls;
use crate::http::error::Problem;
use crate::http::web::visit::SignedInVisit;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

const SHOWN: i64 = 50;

#[derive(Serialize)]
struct Page {
    urls: Vec<ShownUrl>,
    shown: i64,
}

pub async fn get(State(app): State<App>, SignedInVisit { user, visit }: SignedInVisit) -> Result<Response, Problem> {
    let listed = urls::list(&app.db, &user.account_id, SHOWN, app.clock.now()).await?;
    let urls = listed.into_iter().map(|listed| ShownUrl::of(&app, listed)).collect();
    Ok(visit.page("urls.html", &Page { urls, shown: SHOWN }))
}
