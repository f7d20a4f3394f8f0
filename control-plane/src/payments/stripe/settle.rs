//! Applies Stripe's events to our payments: once, in whatever order they arrive.
//!
//! Nothing here depends on the order of events. The event or answer that first reports that
//! money arrived credits the payment. Money that goes back, or comes again, is stored by
//! Stripe's ids ([`returns`]). Whenever that or the payment changes, credits are taken or given
//! back until they match both.

use super::customers;
use super::event::CURRENCY;
use super::event::{EventContent, Paid, StripeEvent};
use super::returns::{self, Part, Price, Return, ReturnKind, ReturnState};
use crate::accounts::account;
use crate::clock::UnixMs;
use crate::db::{Database, Tx};
use crate::ledger::{self, Credits, LedgerError};
use crate::payments::{auto_reload, enter};
use crate::plural;
use sqlx::Row;
use sqlx::any::AnyRow;

/// Result of applying an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventOutcome {
    Applied(Effect),
    /// The event does not concern us, or there is nothing to do.
    Ignored,
    /// The event does not fit our records: nothing was done, and an operator should look at it.
    Refused(String),
    /// Stripe delivered this event before.
    Repeated,
}

/// Consequences of an event beyond the ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effect {
    /// The account whose reload ended without money.
    pub failed_reload_of: Option<String>,
    /// A message for an operator.
    pub note: Option<String>,
}

impl EventOutcome {
    fn done() -> Self {
        EventOutcome::Applied(Effect::default())
    }

    fn as_str(&self) -> &'static str {
        match self {
            EventOutcome::Applied(_) => "applied",
            EventOutcome::Ignored | EventOutcome::Repeated => "ignored",
            EventOutcome::Refused(_) => "refused",
        }
    }
}

/// Applies an event, and records that it was received, in one transaction.
pub async fn apply(db: &Database, event: &StripeEvent, now: UnixMs) -> Result<EventOutcome, LedgerError> {
    let mut tx = db.begin().await?;
    let first = sqlx::query(
        "insert into webhook_events (id, kind, outcome, received_at_ms) values ($1, $2, 'ignored', $3) on conflict do nothing",
    )
    .bind(&event.id)
    .bind(&event.kind)
    .bind(now.0)
    .execute(&mut *tx)
    .await?;
    if first.rows_affected() == 0 {
        return Ok(EventOutcome::Repeated);
    }
    let outcome = match &event.content {
        EventContent::Paid(paid) => received(&mut tx, paid, now).await?,
        EventContent::Failed { payment_id } => cancel(&mut tx, payment_id, "page", now).await?,
        EventContent::ChargeFailed { payment_id } => cancel(&mut tx, payment_id, "reload", now).await?,
        EventContent::Expired { payment_id } => expire(&mut tx, payment_id, now).await?,
        EventContent::Returned(told) => returned(&mut tx, told, now).await?,
        EventContent::CardGone { payment_method } => {
            match customers::forget_card(&mut tx, payment_method, now).await? {
                true => EventOutcome::done(),
                false => EventOutcome::Ignored,
            }
        }
        EventContent::Nothing => EventOutcome::Ignored,
    };
    let detail = match &outcome {
        EventOutcome::Refused(why) => Some(why.as_str()),
        EventOutcome::Applied(effect) => effect.note.as_deref(),
        EventOutcome::Ignored | EventOutcome::Repeated => None,
    };
    sqlx::query("update webhook_events set outcome = $1, detail = $2 where id = $3")
        .bind(outcome.as_str())
        .bind(detail)
        .bind(&event.id)
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(outcome)
}

/// Credits money that Stripe's answer to a charge reports.
pub async fn charged(db: &Database, paid: &Paid, now: UnixMs) -> Result<EventOutcome, LedgerError> {
    let mut tx = db.begin().await?;
    let outcome = received(&mut tx, paid, now).await?;
    tx.commit().await?;
    Ok(outcome)
}

/// Deletes events of long ago and returns their number: Stripe sends an event again for a month at
/// most, and payments are credited only once without this list too.
pub async fn forget_events(db: &Database, before: UnixMs) -> Result<u64, sqlx::Error> {
    returns::forget_unknown(db, before).await?;
    customers::forget_old_cards(db, before).await?;
    db.write(sqlx::query("delete from webhook_events where received_at_ms < $1").bind(before.0)).await
}

/// A payment at Stripe. Its account and, on PostgreSQL, its row stay locked until
/// the transaction ends.
struct LockedPayment {
    id: String,
    account_id: String,
    is_reload: bool,
    credits: i64,
    price: Price,
    session: Option<String>,
    payment_intent: Option<String>,
    returned_credits: i64,
    missing_credits: i64,
    reversals: i64,
}

impl LockedPayment {
    async fn by(tx: &mut Tx<'_>, column: &'static str, value: &str) -> Result<Option<Self>, sqlx::Error> {
        // Lock the account first, as every transaction does that locks several of its rows.
        let sql = format!("select id, account_id from payments where {column} = $1 and provider = 'stripe'");
        let row = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(value).fetch_optional(&mut **tx).await?;
        let Some(row) = row else { return Ok(None) };
        let (id, account_id): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        account::lock(tx, &account_id).await?;
        let row = sqlx::query(
            "update payments set state = state where id = $1
             returning id, account_id, purpose, credits, cents, state, session, payment_intent, presented_cents, presented_currency,
                returned_credits, missing_credits, reversals",
        )
        .bind(&id)
        .fetch_one(&mut **tx)
        .await?;
        Self::read(&row).map(Some)
    }

    fn read(row: &AnyRow) -> Result<Self, sqlx::Error> {
        let presented: (Option<i64>, Option<String>) =
            (row.try_get("presented_cents")?, row.try_get("presented_currency")?);
        Ok(LockedPayment {
            id: row.try_get("id")?,
            account_id: row.try_get("account_id")?,
            is_reload: row.try_get::<&str, _>("purpose")? == "reload",
            credits: row.try_get("credits")?,
            price: Price {
                cents: row.try_get("cents")?,
                currency: CURRENCY,
                presented: presented.0.zip(presented.1),
                is_paid: row.try_get::<&str, _>("state")? == "paid",
            },
            session: row.try_get("session")?,
            payment_intent: row.try_get("payment_intent")?,
            returned_credits: row.try_get("returned_credits")?,
            missing_credits: row.try_get("missing_credits")?,
            reversals: row.try_get("reversals")?,
        })
    }

    /// Returns the credits to take back for this many cents: whole credits, rounded in
    /// the customer's favour.
    fn due_credits(&self, cents: i64) -> i64 {
        (i128::from(self.credits) * i128::from(cents) / i128::from(self.price.cents)) as i64
    }
}

async fn received(tx: &mut Tx<'_>, paid: &Paid, now: UnixMs) -> Result<EventOutcome, LedgerError> {
    if let Some(intent) = &paid.payment_intent {
        returns::lock_intent(tx, intent, now).await?;
    }
    let Some(mut payment) = LockedPayment::by(tx, "id", &paid.payment_id).await? else {
        return Ok(EventOutcome::Refused(format!("money arrived for the unknown payment {}", paid.payment_id)));
    };
    // An intent in the buyer's currency does not contain the amount in ours; its session does.
    let waits_for_session = paid.currency != CURRENCY && paid.session.is_none() && !payment.is_reload;
    if !waits_for_session && (paid.currency != CURRENCY || paid.cents != payment.price.cents) {
        let (cents, currency, expected) = (paid.cents, &paid.currency, payment.price.cents);
        return Ok(EventOutcome::Refused(format!(
            "{cents} {currency} arrived for the payment {}, not {expected} {CURRENCY}",
            payment.id
        )));
    }
    let differs = |known: &Option<String>, told: &Option<String>| matches!((known, told), (Some(a), Some(b)) if a != b);
    if differs(&payment.session, &paid.session) || differs(&payment.payment_intent, &paid.payment_intent) {
        return Ok(EventOutcome::Refused(format!(
            "money arrived for the payment {} with another session or intent",
            payment.id
        )));
    }
    payment.price.presented = payment.price.presented.or_else(|| paid.presented.clone());
    payment.payment_intent = payment.payment_intent.or_else(|| paid.payment_intent.clone());
    let presented = payment.price.presented.clone().unzip();
    sqlx::query("update payments set payment_intent = $1, presented_cents = $2, presented_currency = $3 where id = $4")
        .bind(&payment.payment_intent)
        .bind(presented.0)
        .bind(presented.1)
        .bind(&payment.id)
        .execute(&mut **tx)
        .await?;
    if !payment.price.is_paid && !waits_for_session {
        sqlx::query("update payments set state = 'paid', ended_at_ms = $1 where id = $2")
            .bind(now.0)
            .bind(&payment.id)
            .execute(&mut **tx)
            .await?;
        let reason = if payment.is_reload { "credits bought by auto-reload" } else { "credits bought" };
        enter(tx, &payment.id, &payment.account_id, payment.credits, reason, now).await?;
        payment.price.is_paid = true;
    }
    if let Some(card) = &paid.kept {
        customers::keep_card_of(tx, card, now).await?;
    }
    bring_up_to_date(tx, payment, Vec::new(), now).await
}

/// Applies the returns that were reported before the payment was known by its intent, then corrects
/// the payment's credits.
async fn bring_up_to_date(
    tx: &mut Tx<'_>,
    mut payment: LockedPayment,
    mut notes: Vec<String>,
    now: UnixMs,
) -> Result<EventOutcome, LedgerError> {
    if let Some(intent) = &payment.payment_intent {
        for told in returns::adopt(tx, &payment.id, intent).await? {
            notes.extend(act_on(tx, &payment, &told, None, now).await?);
        }
    }
    notes.extend(reckon(tx, &mut payment, now).await?);
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    Ok(EventOutcome::Applied(Effect { note, ..Effect::default() }))
}

/// Applies a return: money goes back, or has come again.
async fn returned(tx: &mut Tx<'_>, told: &Return, now: UnixMs) -> Result<EventOutcome, LedgerError> {
    if let Some(intent) = &told.payment_intent {
        returns::lock_intent(tx, intent, now).await?;
    }
    let payment = match (&told.payment_id, &told.payment_intent) {
        (Some(id), _) => LockedPayment::by(tx, "id", id).await?,
        (None, Some(intent)) => LockedPayment::by(tx, "payment_intent", intent).await?,
        (None, None) => return Ok(EventOutcome::Ignored),
    };
    let Some(mut payment) = payment else {
        return match &told.payment_id {
            // A payment's row exists before Stripe learns of it, so this payment
            // belongs to another service.
            Some(id) => Ok(EventOutcome::Refused(format!("money was returned for the unknown payment {id}"))),
            // The return belongs to a payment that is reported later, or to something else that is
            // sold by the same Stripe account.
            None => {
                returns::keep(tx, told, None, now).await?;
                Ok(EventOutcome::Ignored)
            }
        };
    };
    if told.kind != ReturnKind::Dispute && payment.price.part(told.cents, &told.currency) == Part::Misfit {
        return Ok(EventOutcome::Refused(misfit(&payment, told)));
    }
    let before = returns::keep(tx, told, Some(&payment.id), now).await?;
    if payment.payment_intent.is_none() {
        payment.payment_intent = told.payment_intent.clone();
        sqlx::query("update payments set payment_intent = $1 where id = $2")
            .bind(&payment.payment_intent)
            .bind(&payment.id)
            .execute(&mut **tx)
            .await?;
    }
    let notes = Vec::from_iter(act_on(tx, &payment, told, before.map(|before| before.state), now).await?);
    bring_up_to_date(tx, payment, notes, now).await
}

fn misfit(payment: &LockedPayment, told: &Return) -> String {
    let (cents, currency, expected) = (told.cents, &told.currency, payment.price.cents);
    format!("{cents} {currency} was returned for the payment {} of {expected} {CURRENCY}", payment.id)
}

/// Carries out the consequences of a step of a dispute or refund apart from its credits, once:
/// turns auto-reload off, and returns a note for the operator.
async fn act_on(
    tx: &mut Tx<'_>,
    payment: &LockedPayment,
    told: &Return,
    before: Option<ReturnState>,
    now: UnixMs,
) -> Result<Option<String>, LedgerError> {
    let id = &payment.id;
    let part = payment.price.part(told.cents, &told.currency);
    if told.kind != ReturnKind::Dispute && part == Part::Misfit {
        return Ok(Some(misfit(payment, told)));
    }
    if before.is_some_and(|before| told.state <= before) {
        return Ok(None);
    }
    Ok(match (told.kind, told.state) {
        (ReturnKind::Dispute, ReturnState::Announced) => Some(format!(
            "the buyer's bank inquires about the payment {id}: no money was moved and no credits were taken back; answer it at Stripe"
        )),
        (ReturnKind::Dispute, ReturnState::Gone) => {
            auto_reload::turn_off(tx, &payment.account_id, now).await?;
            let whole = match part {
                Part::Cents(_) => String::new(),
                Part::NotKnownYet | Part::Misfit => {
                    format!("; it counts as the whole price, because {}", misfit(payment, told))
                }
            };
            Some(format!("the payment {id} is disputed; auto-reload of its account was turned off{whole}"))
        }
        (ReturnKind::Dispute, ReturnState::Back) => {
            Some(format!("the money of the disputed payment {id} was given back"))
        }
        (ReturnKind::Refund, ReturnState::Back) => {
            Some(format!("a refund of the payment {id} failed: the buyer did not get the money"))
        }
        // The return is counted once an event contains the amount that the buyer paid. In case none
        // does, an operator has to know.
        (ReturnKind::Refund | ReturnKind::Charge, _) if payment.price.is_paid && part == Part::NotKnownYet => Some(
            format!("{}; its credits are taken back when Stripe reports what the buyer paid", misfit(payment, told)),
        ),
        (ReturnKind::Refund | ReturnKind::Charge, _) => None,
    })
}

/// Takes the credits whose money went back, as far as they are not spent, and gives those
/// back that were taken for money that has come again. Returns a note for the operator if
/// credits were spent already.
async fn reckon(tx: &mut Tx<'_>, payment: &mut LockedPayment, now: UnixMs) -> Result<Option<String>, LedgerError> {
    let told = returns::of(tx, &payment.id, payment.payment_intent.as_deref()).await?;
    let sums = payment.price.sums(&told);
    let cents = sums.refunded_cents.saturating_add(sums.disputed_cents).min(payment.price.cents);
    let (due, before) = (payment.due_credits(cents), payment.returned_credits);
    let mut note = None;
    if payment.price.is_paid && due > before {
        let more = due - before;
        payment.reversals += 1;
        let reference = format!("payment {} returned, part {}", payment.id, payment.reversals);
        let entry =
            ledger::ReceivedPayment { reference: &reference, credits: Credits(more), reason: "payment returned" };
        let missing = more - ledger::take_back(tx, &payment.account_id, entry, now).await?.0;
        payment.missing_credits += missing;
        note = (missing > 0).then(|| {
            let lost = plural::noun(missing, "was spent and stays lost", "were spent and stay lost");
            format!("{missing} of {} of the returned payment {} {lost}", plural::count(more, "credit"), payment.id)
        });
    } else if payment.price.is_paid && due < before {
        // Credits that were spent already were never taken.
        let taken = before - payment.missing_credits;
        let back = taken - taken.min(due);
        payment.missing_credits = due - taken.min(due);
        if back > 0 {
            let reason = "money of a returned payment came again";
            ledger::grant(tx, &payment.account_id, Credits(back), reason, now).await?;
        }
    }
    if payment.price.is_paid {
        payment.returned_credits = due;
    }
    sqlx::query(
        "update payments set refunded_cents = $1, disputed_cents = $2, returned_credits = $3, missing_credits = $4, reversals = $5
         where id = $6",
    )
    .bind(sums.refunded_cents)
    .bind(sums.disputed_cents)
    .bind(payment.returned_credits)
    .bind(payment.missing_credits)
    .bind(payment.reversals)
    .bind(&payment.id)
    .execute(&mut **tx)
    .await?;
    Ok(note)
}

/// Ends an open payment of this purpose that will not be paid. The end of a reload
/// turns auto-reload off.
pub(in crate::payments) async fn cancel(
    tx: &mut Tx<'_>,
    payment_id: &str,
    purpose: &'static str,
    now: UnixMs,
) -> Result<EventOutcome, LedgerError> {
    let sql = "select account_id from payments where id = $1 and provider = 'stripe' and purpose = $2";
    let row = sqlx::query(sql).bind(payment_id).bind(purpose).fetch_optional(&mut **tx).await?;
    let Some(row) = row else { return Ok(EventOutcome::Ignored) };
    let account_id: String = row.try_get(0)?;
    account::lock(tx, &account_id).await?;
    // It is now known that no money arrives for a payment that was cancelled before.
    sqlx::query("update payments set unknown_until_ms = null where id = $1")
        .bind(payment_id)
        .execute(&mut **tx)
        .await?;
    let sql = "update payments set state = 'cancelled', ended_at_ms = $1 where id = $2 and state = 'open'";
    let ended = sqlx::query(sql).bind(now.0).bind(payment_id).execute(&mut **tx).await?;
    if ended.rows_affected() == 0 {
        return Ok(EventOutcome::Ignored);
    }
    if purpose == "page" {
        return Ok(EventOutcome::done());
    }
    auto_reload::turn_off(tx, &account_id, now).await?;
    Ok(EventOutcome::Applied(Effect { failed_reload_of: Some(account_id), note: None }))
}

async fn expire(tx: &mut Tx<'_>, payment_id: &str, now: UnixMs) -> Result<EventOutcome, LedgerError> {
    let sql = "update payments set expires_at_ms = $1
               where id = $2 and provider = 'stripe' and purpose = 'page' and state = 'open' and expires_at_ms > $1";
    let expired = sqlx::query(sql).bind(now.0).bind(payment_id).execute(&mut **tx).await?;
    Ok(if expired.rows_affected() == 1 { EventOutcome::done() } else { EventOutcome::Ignored })
}

#[cfg(test)]
mod tests;
