//! The rows that a batch adds to tables that only grow.

use super::table::{GrowingTable, Value};
use crate::clock::UnixMs;
use crate::db::{DatabaseKind, Tx};
use crate::ledger::balance::{BalanceChange, Book};
use crate::ledger::ended::EndedHold;
use crate::ledger::{Charge, Credits, DeliveryRecord, MeterRequest, NewDeliveryUrl, ProcessId};
use std::collections::BTreeMap;

/// Rows that are written together at the end of a batch.
#[derive(Default)]
pub(super) struct AppendedRows<'e> {
    holds: Vec<Vec<Value<'e>>>,
    delivery_urls: Vec<Vec<Value<'e>>>,
    ledger_entries: Vec<LedgerRow<'e>>,
    deliveries: Vec<Vec<Value<'e>>>,
}

/// A row of the ledger before its number is known.
struct LedgerRow<'e> {
    id: String,
    account_id: &'e str,
    kind: &'static str,
    credits: i64,
    hold_id: Option<&'e str>,
    delivery_url_id: Option<&'e str>,
    reason: Value<'e>,
}

/// A request of the batch whose outcome is
/// [`ChargeOutcome::Done`](crate::ledger::ChargeOutcome::Done).
pub(super) struct Done<'e> {
    pub now: UnixMs,
    pub owner: &'e ProcessId,
    pub request: &'e MeterRequest,
    /// Id of the request's row in the ledger, and of its delivery.
    pub id: String,
    pub ended: Option<&'e EndedHold>,
    /// The month in which the request's credits count against a cap.
    pub capped_month: Option<&'e str>,
}

impl<'e> AppendedRows<'e> {
    /// Collects the rows of a request.
    pub fn add(&mut self, done: Done<'e>) {
        let Done { now, owner, request, id, ended, capped_month } = done;
        let mut ledger_row = |kind: &'static str, account_id: &'e str, hold_id, delivery_url_id, reason: Value<'e>| {
            let credits = BalanceChange::of(&request.charge, ended).entered().unwrap_or_default().0;
            let id = id.clone();
            self.ledger_entries.push(LedgerRow { id, account_id, kind, credits, hold_id, delivery_url_id, reason });
        };
        match &request.charge {
            Charge::Nothing | Charge::Read { .. } | Charge::Release { .. } => {}
            // A load takes no credits: the signed URL was paid for when it was made.
            Charge::Load { delivery, .. } => {
                if let Some(url) = ended {
                    self.deliveries.push(delivery_row(id, now, &url.account_id, Credits(0), delivery));
                }
            }
            Charge::Debit { account_id, credits, delivery, .. } => {
                ledger_row("debit", account_id, None, None, Value::Text(&delivery.about));
                self.deliveries.push(delivery_row(id, now, account_id, *credits, delivery));
            }
            // A hold gets its ledger entry when it is settled.
            Charge::Hold { account_id, credits, hold_id, expires_at_ms } => self.holds.push(vec![
                Value::Text(hold_id),
                Value::Text(account_id),
                Value::Number(credits.0),
                Value::Text("open"),
                Value::Text(owner.as_str()),
                Value::Number(now.0),
                Value::Number(*expires_at_ms),
                Value::text_or_null(request.capped_key_id.as_deref().filter(|_| capped_month.is_some())),
                Value::text_or_null(capped_month),
            ]),
            Charge::Settle { hold_id, delivery, address, .. } => {
                if let Some(hold) = ended {
                    let about = match address {
                        Some(address) => about_urls(std::slice::from_ref(&**address)),
                        None => Value::Text(&delivery.about),
                    };
                    ledger_row("settle", &hold.account_id, Some(hold_id), None, about);
                    // The credits are recorded in one row only: in that of the signed
                    // URL if there is one.
                    let credits = if address.is_some() { Credits(0) } else { hold.credits };
                    self.deliveries.push(delivery_row(id.clone(), now, &hold.account_id, credits, delivery));
                    if let Some(address) = address {
                        let (month, loads) = (hold.counted.as_ref().map(|counted| counted.month.as_str()), 1);
                        self.delivery_urls.push(delivery_url_row(now, &hold.account_id, address, loads, month, id));
                    }
                }
            }
            Charge::Mint { account_id, urls, .. } => {
                ledger_row("debit", account_id, None, None, about_urls(urls));
                let rows = urls.iter().map(|url| delivery_url_row(now, account_id, url, 0, capped_month, id.clone()));
                self.delivery_urls.extend(rows);
            }
            Charge::Refund { delivery_url_id } => {
                if let Some(url) = ended {
                    ledger_row("refund", &url.account_id, None, Some(delivery_url_id), Value::NoText);
                }
            }
        }
    }

    /// Writes all collected rows. `books` holds the accounts' rows as the batch leaves them; they
    /// give the last entry number and the last sum of each account.
    pub async fn write(
        self,
        tx: &mut Tx<'_>,
        kind: DatabaseKind,
        now: UnixMs,
        books: &BTreeMap<String, Book>,
    ) -> Result<(), sqlx::Error> {
        // Insert holds and signed URLs first: the ledger's entries refer to them.
        HOLDS.insert(tx, kind, self.holds).await?;
        DELIVERY_URLS.insert(tx, kind, self.delivery_urls).await?;
        LEDGER_ENTRIES.insert(tx, kind, numbered(self.ledger_entries, now, books)).await?;
        DELIVERIES.insert(tx, kind, self.deliveries).await
    }
}

/// Gives each ledger row its number and the sum of the account's entries up to it. The last row of
/// an account gets the account's last number.
fn numbered<'e>(rows: Vec<LedgerRow<'e>>, now: UnixMs, books: &BTreeMap<String, Book>) -> Vec<Vec<Value<'e>>> {
    // Only the final state of each account is known, so walk back from there.
    let mut before: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for row in &rows {
        let (number, sum) = before.entry(row.account_id).or_insert_with(|| {
            books.get(row.account_id).map_or((0, 0), |book| (book.entries, book.credits + book.held))
        });
        *number -= 1;
        *sum -= row.credits;
    }
    rows.into_iter()
        .map(|row| {
            let (number, sum) = before.entry(row.account_id).or_default();
            *number += 1;
            *sum += row.credits;
            vec![
                Value::Owned(row.id),
                Value::Text(row.account_id),
                Value::Number(*number),
                Value::Text(row.kind),
                Value::Number(row.credits),
                Value::Number(*sum),
                Value::text_or_null(row.hold_id),
                Value::text_or_null(row.delivery_url_id),
                row.reason,
                Value::Number(now.0),
            ]
        })
        .collect()
}

/// Returns the reason in the ledger entry of signed URLs.
fn about_urls<'e>(urls: &[NewDeliveryUrl]) -> Value<'e> {
    match urls {
        [] => Value::NoText,
        [one] => Value::Owned(format!("signed URL: {}", one.about)),
        [first, others @ ..] => Value::Owned(format!("signed URLs: {} and {} more", first.about, others.len())),
    }
}

fn delivery_row<'e>(
    id: String,
    now: UnixMs,
    account_id: &'e str,
    credits: Credits,
    delivery: &'e DeliveryRecord,
) -> Vec<Value<'e>> {
    vec![
        Value::Owned(id),
        Value::Text(account_id),
        Value::Text(&delivery.key_id),
        Value::Text(&delivery.request_id),
        Value::Text(&delivery.render_id),
        Value::Text(&delivery.vehicle_key),
        Value::Number(delivery.revision),
        Value::Text(delivery.format.as_str()),
        Value::Number(i64::from(delivery.width)),
        Value::Number(i64::from(delivery.height)),
        Value::Text(delivery.source.as_str()),
        Value::Number(credits.0),
        Value::Number(now.0),
    ]
}

/// Returns the row of a signed URL. `loads` is the number of loads that the same
/// charge already includes.
fn delivery_url_row<'e>(
    now: UnixMs,
    account_id: &'e str,
    url: &'e NewDeliveryUrl,
    loads: i64,
    capped_month: Option<&'e str>,
    entry_id: String,
) -> Vec<Value<'e>> {
    let pixels = |side: Option<u32>| side.map_or(Value::NoNumber, |side| Value::Number(i64::from(side)));
    let variant = &url.variant;
    vec![
        Value::Text(&url.id),
        Value::Text(account_id),
        Value::Text(&url.key_id),
        Value::Text(&url.request_id),
        Value::Text(&variant.make),
        Value::Text(&variant.model),
        Value::Number(i64::from(variant.year)),
        Value::Text(variant.view.as_str()),
        Value::Owned(variant.paint.to_string()),
        Value::Text(url.format),
        pixels(url.width),
        pixels(url.height),
        Value::Text(&url.frame),
        Value::Text(variant.body.map_or("", |body| body.as_str())),
        Value::Number(url.max_uses),
        Value::Number(loads),
        Value::Text("active"),
        Value::Number(now.0),
        Value::Number(url.expires_at_ms),
        Value::text_or_null(capped_month),
        Value::Owned(entry_id),
    ]
}

static HOLDS: GrowingTable = GrowingTable::new(
    "holds",
    &[
        "id",
        "account_id",
        "credits",
        "state",
        "owner",
        "opened_at_ms",
        "expires_at_ms",
        "capped_key_id",
        "capped_month",
    ],
);
static DELIVERY_URLS: GrowingTable = GrowingTable::new(
    "delivery_urls",
    &[
        "id",
        "account_id",
        "key_id",
        "request_id",
        "make",
        "model",
        "year",
        "view",
        "color",
        "format",
        "width",
        "height",
        "frame",
        "body",
        "max_uses",
        "uses",
        "state",
        "created_at_ms",
        "expires_at_ms",
        "capped_month",
        "entry_id",
    ],
);
static LEDGER_ENTRIES: GrowingTable = GrowingTable::new(
    "ledger_entries",
    &["id", "account_id", "number", "kind", "credits", "balance", "hold_id", "delivery_url_id", "reason", "at_ms"],
);
static DELIVERIES: GrowingTable = GrowingTable::new(
    "deliveries",
    &[
        "id",
        "account_id",
        "key_id",
        "request_id",
        "render_id",
        "vehicle_key",
        "revision",
        "format",
        "width",
        "height",
        "source",
        "credits",
        "at_ms",
    ],
);
