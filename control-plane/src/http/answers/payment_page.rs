//! Opens pages on which a person pays, for the JSON API and the dashboard, with
//! the configured payment provider.

use crate::accounts::account;
use crate::accounts::token::PlainKey;
use crate::app::App;
use crate::config::prices::{Pack, Payments};
use crate::http::error::Problem;
use crate::ledger;
use crate::payments::stripe::client::NewSession;
use crate::payments::stripe::customers::{self, Customer, CustomerError};
use crate::payments::stripe::{StripeClient, StripeError};
use crate::payments::{self, PAGE_PREFIX, PaymentProvider, auto_reload};
use axum::http::StatusCode;

/// Returns the pack with `credits` credits. Returns 503 if this service sells nothing, and 400 if
/// there is no such pack.
pub fn pack(app: &App, credits: i64) -> Result<&Pack, Problem> {
    if app.config.prices.payments == Payments::Off {
        return Err(Problem::unavailable("payments_off", "This service does not sell credits: ask its operator."));
    }
    let packs = &app.config.prices.packs;
    packs.iter().find(|pack| pack.credits == credits).ok_or_else(|| {
        let allowed = packs.iter().map(|pack| pack.credits.to_string()).collect::<Vec<_>>().join(", ");
        Problem::bad_parameter("credits", format!("`credits` must be one of {allowed}, not {credits}."))
    })
}

/// Opens a payment for a pack and returns the URL of the page on which a person pays.
pub async fn open(app: &App, account_id: &str, pack: &Pack) -> Result<String, Problem> {
    let provider = if app.stripe.is_some() { PaymentProvider::Stripe } else { PaymentProvider::Local };
    let page = PlainKey::generate(PAGE_PREFIX, &mut rand::rng());
    let mut tx = app.db.begin().await?;
    let offered = payments::offer(&mut tx, provider, account_id, pack, &page, app.clock.now()).await?;
    let payment_id = offered.ok_or_else(too_many)?;
    // Committed before Stripe is called: any event of Stripe about the
    // payment finds the payment here.
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
    stripe: &StripeClient,
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
        tracing::error!(payment_id, "Stripe created a checkout session without a URL");
        return Err(Problem::new(StatusCode::BAD_GATEWAY, "payment_provider_refused", REFUSED));
    };
    payments::opened_at_stripe(&app.db, payment_id, &session.id, &url).await?;
    Ok(url)
}

/// Returns the account's customer at Stripe, which is made if there is none.
pub async fn customer(app: &App, stripe: &StripeClient, account_id: &str) -> Result<Customer, Problem> {
    let account = account::find(&app.db, account_id).await.map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "the account of a caller was not found");
        Problem::internal()
    })?;
    customers::establish(&app.db, stripe, account_id, &account.email).await.map_err(|error| match error {
        CustomerError::Stripe(error) => no_answer(error),
        CustomerError::Database(error) => error.into(),
    })
}

/// Returns the URL of the page that shows a customer's purchases: Stripe's page, or ours. Returns
/// 400 for an account that has bought nothing.
pub async fn portal(app: &App, account_id: &str) -> Result<String, Problem> {
    if !ledger::has_purchase(&app.db.readers, account_id).await? {
        return Err(Problem::bad_request("no_purchase", "The account has not bought anything yet."));
    }
    let billing = format!("{}/dashboard/billing", app.base_url);
    let Some(stripe) = &app.stripe else { return Ok(billing) };
    let customer = customer(app, stripe, account_id).await?;
    stripe.create_portal_session(&customer.id, &billing).await.map_err(no_answer)
}

const REFUSED: &str = "The payment provider refused; nothing was charged. The operator can find the reason in the log.";

/// Returns 503 if Stripe may answer later, and 502 if it refuses. The error is
/// logged here, once, in both cases.
pub fn no_answer(error: StripeError) -> Problem {
    match &error {
        StripeError::Down(_) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "Stripe did not answer");
            let detail = "The payment provider does not answer; nothing was charged.";
            Problem::unavailable("dependency_down", detail).retry_after(5)
        }
        StripeError::Declined { .. } | StripeError::Refused { .. } | StripeError::Form(_) => {
            tracing::error!(error = &error as &dyn std::error::Error, "Stripe refused a request");
            Problem::new(StatusCode::BAD_GATEWAY, "payment_provider_refused", REFUSED)
        }
    }
}

/// Returns 409 for an account with the maximum number of open payments.
fn too_many() -> Problem {
    let detail = format!("{} payments of this account are open: pay or cancel one first.", payments::OPEN_MAX);
    Problem::conflict("too_many_payments", detail)
}
