//! The account of an API key, as the JSON API and the MCP tools show it.

use crate::accounts::api_key;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::config::prices;
use crate::http::error::Problem;
use crate::ledger::{self, Credits, KeyCap};
use crate::payments::auto_reload;
use crate::payments::stripe::customers;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A number of credits that can be bought at once.
#[derive(Debug, Serialize, ToSchema)]
pub struct Pack {
    #[schema(minimum = 1)]
    credits: i64,
    /// Price in US cents.
    #[schema(minimum = 1)]
    cents: i64,
}

impl From<&prices::Pack> for Pack {
    fn from(pack: &prices::Pack) -> Self {
        Pack { credits: pack.credits, cents: pack.cents }
    }
}

/// Prices.
#[derive(Debug, Serialize, ToSchema)]
pub struct Pricing {
    credits_per_image: i64,
    /// The same as `credits_per_image`.
    #[schema(deprecated)]
    credits_per_delivery: i64,
    credits_per_dollar: i64,
    packs: Vec<Pack>,
}

/// Usage in the last thirty UTC days, today included.
#[derive(Debug, Serialize, ToSchema)]
pub struct Usage30d {
    /// Requests of the account's keys, refused ones included.
    requests: i64,
    /// Images delivered, to a key or by a counted load of a signed URL.
    images: i64,
    /// Ratio of these images that existed before they were requested, from 0
    /// to 1; null if there were none.
    cache_hit_rate: Option<f64>,
    /// Credits charged less credits given back.
    credits_spent: i64,
}

/// The key that made the request.
#[derive(Debug, Serialize, ToSchema)]
pub struct KeyView {
    #[schema(format = Uuid)]
    id: String,
    /// images:read, account:read, billing:write.
    scopes: Vec<String>,
    rate_limit_per_minute: i64,
    /// Present only for a key that has a cap.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    monthly_cap: Option<MonthlyCap>,
}

/// The credits that a key may spend in a UTC month.
#[derive(Debug, Serialize, ToSchema)]
pub struct MonthlyCap {
    #[schema(minimum = 1)]
    credits: i64,
    /// Credits spent in this month so far, less those that were given back.
    #[schema(minimum = 0)]
    spent: i64,
    /// When the next month begins.
    #[schema(format = DateTime)]
    reset_at: String,
}

/// An account as its keys see it.
#[derive(Debug, Serialize, ToSchema)]
pub struct Account {
    /// Credits that the account can spend now.
    #[schema(minimum = 0)]
    credits: i64,
    credits_value_usd: f64,
    auto_reload: bool,
    has_payment_method: bool,
    pricing: Pricing,
    usage_30d: Usage30d,
    key: KeyView,
}

/// The account, with links to related pages.
#[derive(Debug, Serialize, ToSchema)]
pub struct AccountResponse {
    data: Account,
    links: BTreeMap<&'static str, String>,
    request_id: String,
}

/// Returns the account of the key that made the request.
pub async fn answer(app: &App, caller: &Caller, request_id: String) -> Result<AccountResponse, Problem> {
    let credits = ledger::balance(&app.db.readers, &caller.account_id).await?;
    let usage = ledger::usage_30d(&app.db.readers, &caller.account_id, app.clock.now()).await?;
    let (reload, customer) = match app.stripe {
        Some(_) => {
            (auto_reload::find(&app.db, &caller.account_id).await?, customers::find(&app.db, &caller.account_id).await?)
        }
        None => (None, None),
    };
    let prices = &app.config.prices;
    let data = Account {
        credits: credits.0,
        credits_value_usd: credits.0 as f64 / prices.credits_per_dollar as f64,
        // Only Stripe stores cards.
        auto_reload: reload.is_some_and(|settings| settings.is_on),
        has_payment_method: customer.is_some_and(|customer| customer.payment_method.is_some()),
        pricing: Pricing {
            credits_per_image: Credits::PER_PICTURE.0,
            credits_per_delivery: Credits::PER_PICTURE.0,
            credits_per_dollar: prices.credits_per_dollar,
            packs: prices.packs.iter().map(Pack::from).collect(),
        },
        usage_30d: Usage30d {
            requests: usage.requests,
            images: usage.images,
            cache_hit_rate: (usage.images > 0).then(|| usage.cached_images as f64 / usage.images as f64),
            credits_spent: usage.credits_spent,
        },
        key: KeyView {
            id: caller.key_id.clone(),
            scopes: caller.scopes.iter().map(ToString::to_string).collect(),
            rate_limit_per_minute: caller.rate_limit_per_minute,
            monthly_cap: monthly_cap(app, caller).await?,
        },
    };
    let links = [
        ("dashboard", "/dashboard"),
        ("billing", "/dashboard/billing"),
        ("pricing", "/pricing"),
        ("statement", "/api/v1/account/statement"),
        ("docs", "/docs"),
    ];
    let links = links.into_iter().map(|(name, path)| (name, format!("{}{path}", app.base_url))).collect();
    Ok(AccountResponse { data, links, request_id })
}

async fn monthly_cap(app: &App, caller: &Caller) -> Result<Option<MonthlyCap>, Problem> {
    if !caller.is_capped {
        return Ok(None);
    }
    let now = app.clock.now();
    let cap = api_key::cap(&app.db, &caller.key_id, now).await?;
    Ok(cap.map(|KeyCap { cap, spent }| MonthlyCap {
        credits: cap.0,
        spent: spent.0,
        reset_at: now.next_utc_month().rfc3339(),
    }))
}
