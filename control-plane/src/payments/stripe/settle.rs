//! What Stripe tells us, done to our payments: once, in whatever order it comes.
//!
//! Nothing here looks at the order of events. A payment is credited by whichever event or answer says first that money came; of what went
//! back the row keeps the highest sum that was told, and whenever that or the payment changes, what is due by both is taken.

use super::client::CURRENCY;
use super::customers;
use super::event::{Event, Paid, Returned, Told};
use crate::clock::UnixMs;
use crate::db::{Database, Tx};
use crate::ledger::{self, Credits, LedgerError};
use crate::payments::{auto_reload, enter};
use sqlx::Row;
use sqlx::any::AnyRow;

/// What came of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Applied(Effect),
    /// Nothing of ours, or nothing to do.
    Ignored,
    /// It does not fit what we know: nothing was done, and an operator should look.
    Refused(String),
    /// It was told before.
    Repeated,
}

/// What somebody beside the ledger may want to know of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effect {
    /// The account whose reload ended without money.
    pub failed_reload_of: Option<String>,
    /// For an operator.
    pub note: Option<String>,
}

impl Outcome {
    fn done() -> Self {
        Outcome::Applied(Effect::default())
    }

    fn as_str(&self) -> &'static str {
        match self {
            Outcome::Applied(_) => "applied",
            Outcome::Ignored | Outcome::Repeated => "ignored",
            Outcome::Refused(_) => "refused",
        }
    }
}

/// Does what an event says, and remembers that it was told, in one transaction.
pub async fn apply(db: &Database, event: &Event, now: UnixMs) -> Result<Outcome, LedgerError> {
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
        return Ok(Outcome::Repeated);
    }
    let outcome = match &event.told {
        Told::Paid(paid) => received(&mut tx, paid, now).await?,
        Told::Failed { payment_id } => cancel(&mut tx, payment_id, "page", now).await?,
        Told::ChargeFailed { payment_id } => cancel(&mut tx, payment_id, "reload", now).await?,
        Told::Expired { payment_id } => expire(&mut tx, payment_id, now).await?,
        Told::Refunded(returned) => went_back(&mut tx, returned, "refunded_cents", now).await?,
        Told::Disputed(returned) => went_back(&mut tx, returned, "disputed_cents", now).await?,
        Told::CardGone { payment_method } => match customers::forget_card(&mut tx, payment_method).await? {
            true => Outcome::done(),
            false => Outcome::Ignored,
        },
        Told::Nothing => Outcome::Ignored,
    };
    let detail = match &outcome {
        Outcome::Refused(why) => Some(why.as_str()),
        Outcome::Applied(effect) => effect.note.as_deref(),
        Outcome::Ignored | Outcome::Repeated => None,
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

/// Money came, as Stripe's answer to a charge says.
pub async fn charged(db: &Database, paid: &Paid, now: UnixMs) -> Result<Outcome, LedgerError> {
    let mut tx = db.begin().await?;
    let outcome = received(&mut tx, paid, now).await?;
    tx.commit().await?;
    Ok(outcome)
}

/// An event that does not fit what we know: an operator has to look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedEvent {
    /// Stripe's.
    pub id: String,
    pub kind: String,
    pub why: String,
    pub received_at: UnixMs,
}

/// Events that were refused, the newest first; remembered as long as all events are.
pub async fn refused_events(db: &Database, limit: i64) -> Result<Vec<RefusedEvent>, sqlx::Error> {
    let rows = sqlx::query(
        "select id, kind, detail, received_at_ms from webhook_events where outcome = 'refused' order by received_at_ms desc, id limit $1",
    )
    .bind(limit)
    .fetch_all(&db.readers)
    .await?;
    rows.iter()
        .map(|row| {
            Ok(RefusedEvent {
                id: row.try_get(0)?,
                kind: row.try_get(1)?,
                why: row.try_get::<Option<String>, _>(2)?.unwrap_or_default(),
                received_at: UnixMs(row.try_get(3)?),
            })
        })
        .collect()
}

/// Forgets events of long ago: Stripe sends one again for a month at most, and payments are credited once without this list too.
pub async fn forget_events(db: &Database, before: UnixMs) -> Result<u64, sqlx::Error> {
    db.write(sqlx::query("delete from webhook_events where received_at_ms < $1").bind(before.0)).await
}

/// A payment at Stripe; on PostgreSQL its row stays locked until the transaction ends.
struct Locked {
    id: String,
    account_id: String,
    is_reload: bool,
    credits: i64,
    cents: i64,
    is_paid: bool,
    session: Option<String>,
    payment_intent: Option<String>,
    refunded_cents: i64,
    disputed_cents: i64,
    returned_credits: i64,
}

const RETURNED: &str = "returning id, account_id, purpose, credits, cents, state, session, payment_intent, refunded_cents, disputed_cents, returned_credits";

impl Locked {
    async fn by(tx: &mut Tx<'_>, column: &'static str, value: &str) -> Result<Option<Self>, sqlx::Error> {
        let sql = format!("update payments set state = state where {column} = $1 and provider = 'stripe' {RETURNED}");
        let row = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(value).fetch_optional(&mut **tx).await?;
        row.map(|row| Self::read(&row)).transpose()
    }

    fn read(row: &AnyRow) -> Result<Self, sqlx::Error> {
        Ok(Locked {
            id: row.try_get("id")?,
            account_id: row.try_get("account_id")?,
            is_reload: row.try_get::<&str, _>("purpose")? == "reload",
            credits: row.try_get("credits")?,
            cents: row.try_get("cents")?,
            is_paid: row.try_get::<&str, _>("state")? == "paid",
            session: row.try_get("session")?,
            payment_intent: row.try_get("payment_intent")?,
            refunded_cents: row.try_get("refunded_cents")?,
            disputed_cents: row.try_get("disputed_cents")?,
            returned_credits: row.try_get("returned_credits")?,
        })
    }

    /// What is due back for the money that went back: whole credits, rounded for the customer.
    fn due_credits(&self) -> i64 {
        let cents = self.refunded_cents.saturating_add(self.disputed_cents).min(self.cents);
        (i128::from(self.credits) * i128::from(cents) / i128::from(self.cents)) as i64
    }
}

async fn received(tx: &mut Tx<'_>, paid: &Paid, now: UnixMs) -> Result<Outcome, LedgerError> {
    let Some(mut payment) = Locked::by(tx, "id", &paid.payment_id).await? else {
        return Ok(Outcome::Refused(format!("money came for the payment {}, which is not known", paid.payment_id)));
    };
    if paid.currency != CURRENCY || paid.cents != payment.cents {
        let (cents, currency, expected) = (paid.cents, &paid.currency, payment.cents);
        return Ok(Outcome::Refused(format!(
            "{cents} {currency} came for the payment {}, not {expected} {CURRENCY}",
            payment.id
        )));
    }
    let differs = |known: &Option<String>, told: &Option<String>| matches!((known, told), (Some(a), Some(b)) if a != b);
    if differs(&payment.session, &paid.session) || differs(&payment.payment_intent, &paid.payment_intent) {
        return Ok(Outcome::Refused(format!("money came for the payment {} by another session or intent", payment.id)));
    }
    sqlx::query("update payments set payment_intent = coalesce(payment_intent, $1) where id = $2")
        .bind(&paid.payment_intent)
        .bind(&payment.id)
        .execute(&mut **tx)
        .await?;
    if !payment.is_paid {
        sqlx::query("update payments set state = 'paid', ended_at_ms = $1 where id = $2")
            .bind(now.0)
            .bind(&payment.id)
            .execute(&mut **tx)
            .await?;
        let reason = if payment.is_reload { "credits bought by auto-reload" } else { "credits bought" };
        enter(tx, &payment.id, &payment.account_id, payment.credits, reason, now).await?;
        payment.is_paid = true;
    }
    if let Some(card) = &paid.kept {
        customers::keep_card_of(tx, card).await?;
    }
    let note = take_what_is_due(tx, &payment, now).await?;
    Ok(Outcome::Applied(Effect { note, ..Effect::default() }))
}

async fn went_back(
    tx: &mut Tx<'_>,
    returned: &Returned,
    column: &'static str,
    now: UnixMs,
) -> Result<Outcome, LedgerError> {
    let payment = match (&returned.payment_id, &returned.payment_intent) {
        (Some(id), _) => Locked::by(tx, "id", id).await?,
        (None, Some(intent)) => Locked::by(tx, "payment_intent", intent).await?,
        (None, None) => None,
    };
    let Some(mut payment) = payment else {
        // Whatever else is sold by the same Stripe account.
        return Ok(match &returned.payment_id {
            Some(id) => Outcome::Refused(format!("money went back for the payment {id}, which is not known")),
            None => Outcome::Ignored,
        });
    };
    let is_dispute = column == "disputed_cents";
    if returned.currency != CURRENCY || !(0..=payment.cents).contains(&returned.cents) {
        let (cents, currency, expected) = (returned.cents, &returned.currency, payment.cents);
        return Ok(Outcome::Refused(format!(
            "{cents} {currency} went back for the payment {} of {expected} {CURRENCY}",
            payment.id
        )));
    }
    let told = if is_dispute { &mut payment.disputed_cents } else { &mut payment.refunded_cents };
    *told = (*told).max(returned.cents);
    let sql = format!("update payments set {column} = $1, payment_intent = coalesce(payment_intent, $2) where id = $3");
    sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(*told)
        .bind(&returned.payment_intent)
        .bind(&payment.id)
        .execute(&mut **tx)
        .await?;
    let mut notes = Vec::from_iter(take_what_is_due(tx, &payment, now).await?);
    if is_dispute {
        auto_reload::turn_off(tx, &payment.account_id).await?;
        notes.push(format!("the payment {} is disputed; auto-reload of its account is off", payment.id));
    }
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    Ok(Outcome::Applied(Effect { note, ..Effect::default() }))
}

/// Takes the credits whose money went back, as far as they are not spent. A note for the operator where they are.
async fn take_what_is_due(tx: &mut Tx<'_>, payment: &Locked, now: UnixMs) -> Result<Option<String>, LedgerError> {
    let due = payment.due_credits();
    let more = due - payment.returned_credits;
    if !payment.is_paid || more <= 0 {
        return Ok(None);
    }
    let reference = format!("payment {} returned to {due}", payment.id);
    let entry = ledger::Payment { reference: &reference, credits: Credits(more), reason: "payment returned" };
    let taken = ledger::take_back(tx, &payment.account_id, entry, now).await?;
    let missing = more - taken.0;
    sqlx::query("update payments set returned_credits = $1, missing_credits = missing_credits + $2 where id = $3")
        .bind(due)
        .bind(missing)
        .bind(&payment.id)
        .execute(&mut **tx)
        .await?;
    Ok((missing > 0).then(|| {
        format!("{missing} of {more} credits of the returned payment {} were spent and stay lost", payment.id)
    }))
}

/// It will not be paid. Ends an open payment of this purpose; a reload's end turns auto-reload off.
pub(in crate::payments) async fn cancel(
    tx: &mut Tx<'_>,
    payment_id: &str,
    purpose: &'static str,
    now: UnixMs,
) -> Result<Outcome, LedgerError> {
    let sql = "update payments set state = 'cancelled', ended_at_ms = $1
               where id = $2 and provider = 'stripe' and purpose = $3 and state = 'open' returning account_id";
    let row = sqlx::query(sql).bind(now.0).bind(payment_id).bind(purpose).fetch_optional(&mut **tx).await?;
    let Some(row) = row else { return Ok(Outcome::Ignored) };
    if purpose == "page" {
        return Ok(Outcome::done());
    }
    let account_id: String = row.try_get(0)?;
    auto_reload::turn_off(tx, &account_id).await?;
    Ok(Outcome::Applied(Effect { failed_reload_of: Some(account_id), note: None }))
}

async fn expire(tx: &mut Tx<'_>, payment_id: &str, now: UnixMs) -> Result<Outcome, LedgerError> {
    let sql = "update payments set expires_at_ms = $1
               where id = $2 and provider = 'stripe' and purpose = 'page' and state = 'open' and expires_at_ms > $1";
    let expired = sqlx::query(sql).bind(now.0).bind(payment_id).execute(&mut **tx).await?;
    Ok(if expired.rows_affected() == 1 { Outcome::done() } else { Outcome::Ignored })
}

#[cfg(test)]
mod tests;
