//! `/dashboard/billing`: packs to buy, what was bought, the statement.

use crate::accounts::token::PlainKey;
use crate::app::App;
use crate::config::prices::Payments;
use crate::http::error::Problem;
use crate::http::v1::account::statement::whole_csv;
use crate::http::v1::billing::checkout::{pack, page_url, too_many};
use crate::http::web::form::Form;
use crate::http::web::visit::SignedInVisit;
use crate::http::web::words::{dollars, moment, thousands};
use crate::ledger::{self, StatementLine};
use crate::payments::{self, PAGE_PREFIX};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Serialize;

const LINES_SHOWN: i64 = 40;
const PAYMENTS_SHOWN: i64 = 20;

#[derive(Serialize)]
struct Page {
    credits: String,
    packs: Vec<ShownPack>,
    is_sold: bool,
    payments: Vec<ShownPayment>,
    lines: Vec<ShownLine>,
}

#[derive(Debug, Serialize)]
pub struct ShownPack {
    pub value: i64,
    pub credits: String,
    pub price: String,
}

#[derive(Serialize)]
struct ShownPayment {
    at: String,
    credits: String,
    price: String,
    state: &'static str,
}

#[derive(Serialize)]
struct ShownLine {
    at: String,
    what: String,
    change: String,
    balance: String,
}

impl From<StatementLine> for ShownLine {
    fn from(line: StatementLine) -> Self {
        let what = match line.kind.as_str() {
            "debit" => "picture or signed addresses",
            "hold" => "reserved for a picture being made",
            "settle" => "that picture was delivered",
            "release" => "that picture was not made: given back",
            "refund" => "a signed address failed: given back",
            _ => line.reason.as_deref().unwrap_or(&line.kind),
        };
        ShownLine {
            // RFC 3339 to the minute.
            at: line.at.get(..16).unwrap_or(&line.at).replace('T', " "),
            what: what.to_owned(),
            change: match line.credits {
                0 => String::new(),
                credits if credits > 0 => format!("+{}", thousands(credits)),
                credits => thousands(credits),
            },
            balance: thousands(line.balance),
        }
    }
}

/// The packs as pages show them.
pub fn packs(app: &App) -> Vec<ShownPack> {
    let packs = app.config.prices.packs.iter();
    packs
        .map(|pack| ShownPack { value: pack.credits, credits: thousands(pack.credits), price: dollars(pack.cents) })
        .collect()
}

pub async fn get(State(app): State<App>, SignedInVisit { user, visit }: SignedInVisit) -> Result<Response, Problem> {
    let payments = payments::list(&app.db, &user.account_id, PAYMENTS_SHOWN, app.clock.now()).await?;
    let lines = ledger::newest_entries(&app.db.pool, &user.account_id, LINES_SHOWN).await?;
    let page = Page {
        credits: thousands(ledger::balance(&app.db.pool, &user.account_id).await?.0),
        packs: packs(&app),
        is_sold: app.config.prices.payments != Payments::Off,
        payments: payments
            .into_iter()
            .map(|payment| ShownPayment {
                at: moment(payment.created_at),
                credits: thousands(payment.pack.credits),
                price: dollars(payment.pack.cents),
                state: payment.state.as_str(),
            })
            .collect(),
        lines: lines.into_iter().map(ShownLine::from).collect(),
    };
    visit.form(&app, "billing.html", StatusCode::OK, &page).await
}

/// `POST /dashboard/billing`: on to the payment page.
pub async fn buy(
    State(app): State<App>,
    SignedInVisit { user, .. }: SignedInVisit,
    form: Form,
) -> Result<Response, Problem> {
    let pack = pack(&app, form.text("credits").parse().unwrap_or_default())?;
    let page = PlainKey::generate(PAGE_PREFIX, &mut rand::rng());
    let mut tx = app.db.begin().await?;
    payments::offer(&mut tx, &user.account_id, pack, &page, app.clock.now()).await?.ok_or_else(too_many)?;
    tx.commit().await?;
    Ok(Redirect::to(&page_url(&app, &page)).into_response())
}

/// `GET /dashboard/statement.csv`: every entry, as the API gives them page by page.
pub async fn statement(State(app): State<App>, SignedInVisit { user, .. }: SignedInVisit) -> Response {
    whole_csv(&app, user.account_id)
}
