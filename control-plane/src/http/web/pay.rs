//! `GET` and `POST /pay/{page}`: the payment page of the local provider, and the page to which
//! Stripe's payment page leads back.
//!
//! Like the page of any provider, it is open to everybody who has its URL. A payment at Stripe
//! cannot be paid here.

use super::form::Form;
use super::format::{dollars, thousands};
use super::visit::PageSession;
use crate::accounts::token::PlainKey;
use crate::app::App;
use crate::config::prices::Payments;
use crate::http::error::Problem;
use crate::payments::{self, PAGE_PREFIX, Payment, PaymentProvider, PaymentState};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

#[derive(Serialize)]
struct Page {
    is_local: bool,
    checkout_url: Option<String>,
    credits: String,
    price: String,
    state: &'static str,
}

pub async fn get(State(app): State<App>, visit: PageSession, Path(page): Path<String>) -> Result<Response, Problem> {
    let payment = find(&app, &page).await?;
    show(&app, &visit, StatusCode::OK, &payment).await
}

pub async fn post(
    State(app): State<App>,
    visit: PageSession,
    Path(page): Path<String>,
    form: Form,
) -> Result<Response, Problem> {
    let payment = find(&app, &page).await?;
    let now = app.clock.now();
    let ended = match form.text("decision") {
        "pay" => payments::pay(&app.db, &payment, now).await?,
        "cancel" => payments::cancel(&app.db, &payment, now).await?,
        _ => return Err(Problem::bad_parameter("decision", "`decision` must be `pay` or `cancel`.")),
    };
    let payment = find(&app, &page).await?;
    if ended {
        tracing::info!(
            account_id = payment.account_id,
            payment_id = payment.id,
            state = payment.state.as_str(),
            "payment ended"
        );
    }
    show(&app, &visit, StatusCode::OK, &payment).await
}

async fn show(app: &App, visit: &PageSession, status: StatusCode, payment: &Payment) -> Result<Response, Problem> {
    let page = Page {
        is_local: payment.provider == PaymentProvider::Local,
        checkout_url: payment.checkout_url.clone(),
        credits: thousands(payment.pack.credits),
        price: dollars(payment.pack.cents),
        state: payment.state.as_str(),
    };
    let status = if payment.state == PaymentState::Expired { StatusCode::GONE } else { status };
    visit.form(app, "pay.html", status, &page).await
}

async fn find(app: &App, page: &str) -> Result<Payment, Problem> {
    let unknown = || Problem::not_found("unknown_payment", "There is no such payment page.");
    if app.config.prices.payments == Payments::Off {
        return Err(unknown());
    }
    let hash = PlainKey::parse(PAGE_PREFIX, page).ok_or_else(unknown)?.hash();
    let payment = payments::find(&app.db, &hash, app.clock.now()).await?.ok_or_else(unknown)?;
    // A local payment takes no money. Once the service is configured with another provider, the
    // page is not found, so that it can no longer give credits.
    match (payment.provider, &app.config.prices.payments) {
        (PaymentProvider::Local, Payments::Local) | (PaymentProvider::Stripe, _) => Ok(payment),
        (PaymentProvider::Local, _) => Err(unknown()),
    }
}
