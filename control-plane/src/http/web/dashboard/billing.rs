//! `/dashboard/billing`: packs to buy, auto-reload, past purchases and the statement.

use crate::alerts;
use crate::app::App;
use crate::clock::UnixMs;
use crate::config::prices::Payments;
use crate::http::answers::payment_page;
use crate::http::answers::statement::csv_file;
use crate::http::error::Problem;
use crate::http::web::form::Form;
use crate::http::web::format::{dollars, moment, thousands};
use crate::http::web::leaving;
use crate::http::web::visit::SignedInVisit;
use crate::ledger::{self, StatementLine};
use crate::payments::stripe::customers;
use crate::payments::{self, Payment, auto_reload};
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use url::form_urlencoded;

const LINES_SHOWN: i64 = 40;
const PAYMENTS_SHOWN: i64 = 20;
const THRESHOLD_OFFERED: i64 = 500;

const LEAVING: &str = "Payments, cards and receipts are handled there.";

#[derive(Serialize)]
struct Page {
    credits: String,
    packs: Vec<ShownPack>,
    is_sold: bool,
    /// Present only if the service can store a card.
    auto_reload: Option<ShownAutoReload>,
    /// Present only if the service sends email.
    alerts: Option<ShownAlerts>,
    has_portal: bool,
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
struct ShownAutoReload {
    is_on: bool,
    has_card: bool,
    /// True if a charge that was under way when auto-reload was turned off may still be made.
    may_still_charge: bool,
    threshold: i64,
    pack: i64,
}

/// Thresholds as the fields show them.
#[derive(Serialize)]
struct ShownAlerts {
    low_balance: String,
    daily_spend: String,
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

impl From<Payment> for ShownPayment {
    fn from(payment: Payment) -> Self {
        let state = match payment.returned_credits {
            0 => payment.state.as_str(),
            all if all == payment.pack.credits => "refunded",
            _ => "refunded in part",
        };
        ShownPayment {
            at: moment(payment.created_at),
            credits: thousands(payment.pack.credits),
            price: dollars(payment.pack.cents),
            state,
        }
    }
}

impl From<StatementLine> for ShownLine {
    fn from(line: StatementLine) -> Self {
        let reason = line.reason.as_deref();
        let what = match (line.kind.as_str(), reason) {
            ("debit", None) => "image or signed URLs".to_owned(),
            ("hold", _) => "hold for an image in progress".to_owned(),
            ("settle", None) => "hold settled: image delivered".to_owned(),
            ("settle", Some(picture)) => format!("{}: rendered and delivered", in_words(picture)),
            ("debit", Some(picture)) => in_words(picture),
            ("release", _) => "hold released: no image, credits given back".to_owned(),
            ("reversal", _) => "payment refunded: credits taken back".to_owned(),
            ("correction", _) => "image not sent: credits given back".to_owned(),
            ("refund", _) => "signed URL failed: credits given back".to_owned(),
            (kind, reason) => reason.unwrap_or(kind).to_owned(),
        };
        ShownLine {
            at: OffsetDateTime::parse(&line.at, &Rfc3339)
                .map_or(line.at, |at| moment(UnixMs(at.unix_timestamp() * 1000))),
            what,
            change: match line.credits {
                0 => String::new(),
                credits if credits > 0 => format!("+{}", thousands(credits)),
                credits => thousands(credits),
            },
            balance: thousands(line.balance),
        }
    }
}

/// Turns `honda/civic/2018, side, red` into a text that people can read and that can break across
/// lines.
fn in_words(picture: &str) -> String {
    picture.replace('/', " ")
}

/// Returns the packs as pages show them.
pub fn packs(app: &App) -> Vec<ShownPack> {
    let packs = app.config.prices.packs.iter();
    packs
        .map(|pack| ShownPack { value: pack.credits, credits: thousands(pack.credits), price: dollars(pack.cents) })
        .collect()
}

pub async fn get(State(app): State<App>, SignedInVisit { user, visit }: SignedInVisit) -> Result<Response, Problem> {
    let payments = payments::list(&app.db, &user.account_id, PAYMENTS_SHOWN, app.clock.now()).await?;
    let lines = ledger::newest_entries(&app.db.readers, &user.account_id, LINES_SHOWN).await?;
    let page = Page {
        credits: thousands(ledger::balance(&app.db.readers, &user.account_id).await?.0),
        packs: packs(&app),
        is_sold: app.config.prices.payments != Payments::Off,
        auto_reload: shown_auto_reload(&app, &user.account_id).await?,
        alerts: shown_alerts(&app, &user.account_id).await?,
        has_portal: app.stripe.is_some() && ledger::has_purchase(&app.db.readers, &user.account_id).await?,
        payments: payments.into_iter().map(ShownPayment::from).collect(),
        lines: lines.into_iter().map(ShownLine::from).collect(),
    };
    visit.form(&app, "billing.html", StatusCode::OK, &page).await
}

async fn shown_auto_reload(app: &App, account_id: &str) -> Result<Option<ShownAutoReload>, Problem> {
    if app.stripe.is_none() {
        return Ok(None);
    }
    let settings = auto_reload::find(&app.db, account_id).await?;
    let customer = customers::find(&app.db, account_id).await?;
    Ok(Some(ShownAutoReload {
        is_on: settings.is_some_and(|settings| settings.is_on),
        has_card: customer.is_some_and(|customer| customer.payment_method.is_some()),
        may_still_charge: auto_reload::may_still_charge(&app.db, account_id, app.clock.now()).await?,
        threshold: settings.map_or(THRESHOLD_OFFERED, |settings| settings.threshold_credits),
        pack: settings.map_or(0, |settings| settings.pack_credits),
    }))
}

async fn shown_alerts(app: &App, account_id: &str) -> Result<Option<ShownAlerts>, Problem> {
    if app.mailer.is_none() {
        return Ok(None);
    }
    let thresholds = alerts::find(&app.db.readers, account_id).await?;
    let typed = |credits: Option<i64>| credits.map(|credits| credits.to_string()).unwrap_or_default();
    Ok(Some(ShownAlerts { low_balance: typed(thresholds.low_balance), daily_spend: typed(thresholds.daily_spend) }))
}

/// `POST /dashboard/billing`: leads to the payment page for a pack.
pub async fn buy(
    State(app): State<App>,
    SignedInVisit { user, visit }: SignedInVisit,
    form: Form,
) -> Result<Response, Problem> {
    let pack = payment_page::pack(&app, form.text("credits").parse().unwrap_or_default())?;
    let url = payment_page::open(&app, &user.account_id, pack).await?;
    Ok(leaving::to(&app, &visit, &url, LEAVING))
}

/// `POST /dashboard/billing/portal`: leads to the provider's page with cards and receipts.
pub async fn portal(
    State(app): State<App>,
    SignedInVisit { user, visit }: SignedInVisit,
    _: Form,
) -> Result<Response, Problem> {
    let url = payment_page::portal(&app, &user.account_id).await?;
    Ok(leaving::to(&app, &visit, &url, LEAVING))
}

/// `GET /dashboard/statement.csv`: the newest entries as CSV. The API gives all of them, page by
/// page.
///
/// The file takes no parameters. A request with one is refused, because it would get other entries
/// than it asks for.
pub async fn statement(
    State(app): State<App>,
    SignedInVisit { user, .. }: SignedInVisit,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    if let Some((name, _)) = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).next() {
        let shown: String = name.chars().take(40).collect();
        let detail = format!("`{shown}` is not a parameter: this file takes none. The statement of the API has pages.");
        return Err(Problem::bad_parameter(&shown, detail));
    }
    csv_file(&app, user.account_id).await
}
