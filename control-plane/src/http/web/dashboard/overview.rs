//! `GET /dashboard`: the balance, thirty days of use and the latest deliveries.

use super::shown::ShownDelivery;
use crate::accounts::api_key;
use crate::app::App;
use crate::http::error::Problem;
use crate::http::web::format::{day, dollars, thousands};
use crate::http::web::visit::SignedInVisit;
use crate::ledger::{self, Usage};
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

const DELIVERIES_SHOWN: i64 = 6;

/// Height of the chart, in units of its SVG.
const CHART_HEIGHT: i64 = 80;
/// Distance between the left sides of neighbouring bars, in units of the SVG.
const BAR_STEP: i64 = 20;

#[derive(Serialize)]
struct AccountOverview {
    credits: String,
    value: String,
    images: String,
    spent: String,
    requests: String,
    hit_rate: Option<String>,
    bars: Vec<DayBar>,
    /// Number of images that the top of the chart stands for.
    most: String,
    first_day: String,
    deliveries: Vec<ShownDelivery>,
    has_key: bool,
    base_url: String,
}

#[derive(Serialize)]
struct DayBar {
    day: String,
    images: i64,
    credits: i64,
    x: i64,
    y: i64,
    height: i64,
}

pub async fn get(State(app): State<App>, SignedInVisit { user, visit }: SignedInVisit) -> Result<Response, Problem> {
    let now = app.clock.now();
    let credits = ledger::balance(&app.db.readers, &user.account_id).await?;
    let days = ledger::usage_by_day(&app.db.readers, &user.account_id, now).await?;
    let delivered = ledger::deliveries(&app.db.readers, &user.account_id, None, DELIVERIES_SHOWN).await?;
    let keys_in_use = api_key::count_in_use(&mut *app.db.readers.acquire().await?, &user.account_id).await?;
    let sum = |of: fn(&Usage) -> i64| days.iter().map(|(_, usage)| of(usage)).sum::<i64>();
    let (images, cached) = (sum(|usage| usage.images), sum(|usage| usage.cached_images));
    let most = days.iter().map(|(_, usage)| usage.images).max().unwrap_or_default().max(1);
    let overview = AccountOverview {
        credits: thousands(credits.0),
        value: dollars(credits.0 * 100 / app.config.prices.credits_per_dollar),
        images: thousands(images),
        spent: thousands(sum(|usage| usage.credits_spent)),
        requests: thousands(sum(|usage| usage.requests)),
        hit_rate: (images > 0).then(|| format!("{} %", cached * 100 / images)),
        bars: days.iter().enumerate().map(|(place, (date, usage))| bar(place, date, usage, most)).collect(),
        most: thousands(most),
        first_day: days.first().map(|(date, _)| day(date)).unwrap_or_default(),
        deliveries: delivered.into_iter().map(|delivered| ShownDelivery::of(&app, delivered)).collect(),
        has_key: keys_in_use > 0,
        base_url: app.base_url.clone(),
    };
    Ok(visit.page("overview.html", &overview))
}

fn bar(place: usize, date: &str, usage: &Usage, most: i64) -> DayBar {
    // A day with any images shows at least a line.
    let height = match usage.images {
        0 => 0,
        images => (images * CHART_HEIGHT / most).max(2),
    };
    DayBar {
        day: day(date),
        images: usage.images,
        credits: usage.credits_spent,
        x: place as i64 * BAR_STEP,
        y: CHART_HEIGHT - height,
        height,
    }
}
