//! Pages where a person pays, opened for the JSON API and the dashboard alike, with whichever provider there is.

use crate::accounts::account;
use crate::accounts::token::PlainKey;
use crate::app::App;
use crate::config::prices::{Pack, Payments};
use crate::http::error::Problem;
use crate::ledger;
use crate::payments::stripe::client::NewSession;
use crate::payments::stripe::customers::{self, Customer, CustomerError};
use crate::payments::stripe::{Stripe, StripeError};
use crate::payments::{self, PAGE_PREFIX, Provider, auto_reload};
use axum::http::StatusCode;

/// The pack of so many credits. 503 where nothing is sold.
pub fn pack(app: &App, credits: i64) -> Result<&Pack, Problem> {
    if app.config.prices.payments == Payments::Off {
        return Err(Problem::unavailable("payments_off", "This service sells no credits by itself: ask its operator."));
    }
    let packs = &app.config.prices.packs;
    packs.iter().find(|pack| pack.credits == credits).ok_or_else(|| {
        let allowed = packs.iter().map(|pack| pack.credits.to_string()).collect::<Vec<_>>().join(", ");
        Problem::bad_parameter("credits", format!("`credits` is one of {allowed}, not {credits}."))
    })
}

/// Offers a pack; where a person pays for it.
pub async fn open(app: &App, account_id: &str, pack: &Pack) -> Result<String, Problem> {
    let provider = if app.stripe.is_some() { Provider::Stripe } else { Provider::Local };
    let page = PlainKey::generate(PAGE_PREFIX, &mut rand::rng());
    let mut tx = app.db.begin().await?;
    let offered = payments::offer(&mut tx, provider, account_id, pack, &page, app.clock.now()).await?;
    let payment_id = offered.ok_or_else(too_many)?;
    // Before Stripe is asked: whatever it tells of the payment finds it here.
    tx.commit().await?;
    let our_page = format!("{}/pay/{}", app.base_url, page.reveal());
    let Some(stripe) = &app.stripe else { return Ok(our_page) };
    match open_session(app, stripe, account_id, &payment_id, pack, &our_page).await {
        Ok(url) => Ok(url),
        Err(problem) => {
            payments::withdraw(&app.db, &payment_id, app.clock.now()).await?;
            Err(problem)
        }
    }
}

async fn open_session(
    app: &App,
    stripe: &Stripe,
    account_id: &str,
    payment_id: &str,
    pack: &Pack,
    our_page: &str,
) -> Result<String, Problem> {
    let customer = customer(app, stripe, account_id).await?;
    let is_wanted = auto_reload::find(&app.db, account_id).await?.is_some_and(|settings| settings.is_on);
    let new = NewSession { payment_id, customer: &customer.id, pack, return_url: our_page, keeps_card: is_wanted };
    let session = stripe.create_session(&new).await.map_err(no_answer)?;
    let Some(url) = session.url else {
        tracing::error!(payment_id, "Stripe made a checkout session without an address");
        return Err(Problem::new(StatusCode::BAD_GATEWAY, "payment_provider_refused", REFUSED));
    };
    payments::opened_at_stripe(&app.db, payment_id, &session.id, &url).await?;
    Ok(url)
}

/// The account at Stripe, made if need be.
pub async fn customer(app: &App, stripe: &Stripe, account_id: &str) -> Result<Customer, Problem> {
    let account = account::find(&app.db, account_id).await.map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "the account of a caller is not found");
        Problem::internal()
    })?;
    customers::establish(&app.db, stripe, account_id, &account.email).await.map_err(|error| match error {
        CustomerError::Stripe(error) => no_answer(error),
        CustomerError::Database(error) => error.into(),
    })
}

/// Where somebody who has bought before sees what was bought: Stripe's pages, or ours. 400 for who has not.
pub async fn portal(app: &App, account_id: &str) -> Result<String, Problem> {
    if !ledger::has_purchase(&app.db.readers, account_id).await? {
        return Err(Problem::bad_request("no_purchase", "The account has not bought anything yet."));
    }
    let billing = format!("{}/dashboard/billing", app.base_url);
    let Some(stripe) = &app.stripe else { return Ok(billing) };
    let customer = customer(app, stripe, account_id).await?;
    stripe.create_portal_session(&customer.id, &billing).await.map_err(no_answer)
}

const REFUSED: &str = "The provider of payments refused; nothing was charged. The operator can see why in the log.";

/// 503 when Stripe may answer later, 502 when it refuses; either way it is logged here, once.
pub fn no_answer(error: StripeError) -> Problem {
    match &error {
        StripeError::Down(_) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "Stripe does not answer");
            let detail = "The provider of payments does not answer; nothing was charged.";
            Problem::unavailable("dependency_down", detail).retry_after(5)
        }
        StripeError::Declined { .. } | StripeError::Refused { .. } | StripeError::Form(_) => {
            tracing::error!(error = &error as &dyn std::error::Error, "Stripe did not do what it was asked for");
            Problem::new(StatusCode::BAD_GATEWAY, "payment_provider_refused", REFUSED)
        }
    }
}

/// As many payments are open as may be.
fn too_many() -> Problem {
    let detail = format!("{} payments of this account are open: pay or cancel one first.", payments::OPEN_MAX);
    Problem::conflict("too_many_payments", detail)
}
