//! Money that goes back: refunds and disputes as Stripe's events report them, stored by Stripe's
//! ids, and their sums.
//!
//! Events arrive in any order and repeatedly, and may arrive before the payment itself is known. A
//! row only ever moves forward (announced, gone, back), and sums are made of all rows of a payment,
//! so that the result is the same in every order.
//!
//! Why: `docs/decisions/payments.md` (Refunds and disputes: how credits are taken back).

use crate::clock::UnixMs;
use crate::db::{Database, Tx};
use sqlx::Row;
use sqlx::any::AnyRow;

/// One dispute, refund or charge, as Stripe reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Return {
    /// Stripe's id.
    pub id: String,
    pub kind: ReturnKind,
    pub state: ReturnState,
    /// Present only in events about a charge.
    pub payment_id: Option<String>,
    pub payment_intent: Option<String>,
    /// In the smallest unit of the currency.
    pub cents: i64,
    /// In lower case.
    pub currency: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnKind {
    /// Total refunded of a charge so far, possibly including refunds that failed later.
    Charge,
    Refund,
    Dispute,
}

/// The movement of a return's money so far. Later states replace earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReturnState {
    /// The buyer's bank inquires; no money has moved.
    Announced,
    /// The money has left us.
    Gone,
    /// The money has come back to us: a dispute was won, or a refund failed.
    Back,
}

impl ReturnKind {
    const fn as_str(self) -> &'static str {
        match self {
            ReturnKind::Charge => "charge",
            ReturnKind::Refund => "refund",
            ReturnKind::Dispute => "dispute",
        }
    }
}

impl ReturnState {
    const fn as_str(self) -> &'static str {
        match self {
            ReturnState::Announced => "announced",
            ReturnState::Gone => "gone",
            ReturnState::Back => "back",
        }
    }
}

/// The price of a payment, and the amount that the buyer paid if that was in another currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    pub cents: i64,
    pub currency: &'static str,
    pub presented: Option<(i64, String)>,
    /// Before a payment is paid, the amount in the buyer's currency is not known.
    pub is_paid: bool,
}

/// Cents of the price that went back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReturnedCents {
    pub refunded_cents: i64,
    pub disputed_cents: i64,
}

/// The relation of a reported amount to a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// This many cents of the price.
    Cents(i64),
    /// The amount is in a currency that only the payment's own events can convert.
    NotKnownYet,
    /// The amount is more than was paid, less than nothing, or in a currency that the
    /// payment does not involve.
    Misfit,
}

impl Price {
    /// Returns the part of the price that an amount is. An amount in the buyer's currency is
    /// converted by the total that the buyer paid, rounded down.
    pub fn part(&self, cents: i64, currency: &str) -> Part {
        if currency == self.currency {
            return if (0..=self.cents).contains(&cents) { Part::Cents(cents) } else { Part::Misfit };
        }
        match &self.presented {
            Some((whole, presented)) if presented == currency && (0..=*whole).contains(&cents) && *whole > 0 => {
                Part::Cents((i128::from(self.cents) * i128::from(cents) / i128::from(*whole)) as i64)
            }
            // Stripe decides which event contains the buyer's currency, and whether that event
            // comes before or after the one that reported the money.
            None => Part::NotKnownYet,
            Some(_) => Part::Misfit,
        }
    }

    /// Returns how many cents of the price a return counts for. A dispute that is no part of the
    /// price, or none that is known yet, counts as the whole price: the bank has taken its
    /// money, and its credits must not be left to be spent. A refund like that counts as
    /// nothing, and an operator checks it.
    fn counted(&self, told: &Return) -> Option<i64> {
        match (self.part(told.cents, &told.currency), told.kind) {
            (Part::Cents(cents), _) => Some(cents),
            (Part::NotKnownYet | Part::Misfit, ReturnKind::Dispute) => Some(self.cents),
            (Part::NotKnownYet | Part::Misfit, ReturnKind::Charge | ReturnKind::Refund) => None,
        }
    }

    /// Adds up everything that was reported as returned of a payment.
    pub fn sums(&self, returns: &[Return]) -> ReturnedCents {
        let of = |kind: ReturnKind, counts: fn(ReturnState) -> bool| {
            let ours = returns.iter().filter(move |one| one.kind == kind && counts(one.state));
            ours.filter_map(|one| self.counted(one)).map(i128::from)
        };
        let charged_back = of(ReturnKind::Charge, |_| true).max().unwrap_or_default();
        // A charge's total may have been reported before a refund of it failed or after, and a
        // refund before its charge's total.
        let begun: i128 = of(ReturnKind::Refund, |_| true).sum();
        let failed: i128 = of(ReturnKind::Refund, |state| state == ReturnState::Back).sum();
        let disputed: i128 = of(ReturnKind::Dispute, |state| state == ReturnState::Gone).sum();
        let within = |cents: i128| cents.clamp(0, i128::from(self.cents)) as i64;
        ReturnedCents { refunded_cents: within(charged_back.max(begun) - failed), disputed_cents: within(disputed) }
    }
}

/// Waits for other transactions with events of the same intent, and locks the intent until this one
/// ends, so that neither overlooks what the other writes.
pub(super) async fn lock_intent(tx: &mut Tx<'_>, payment_intent: &str, now: UnixMs) -> Result<(), sqlx::Error> {
    sqlx::query(
        "insert into payment_intents (id, seen_at_ms) values ($1, $2) on conflict (id) do update set seen_at_ms = excluded.seen_at_ms",
    )
    .bind(payment_intent)
    .bind(now.0)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

const COLUMNS: &str = "id, kind, state, payment_id, payment_intent, cents, currency";

impl Return {
    fn read(row: &AnyRow) -> Result<Self, sqlx::Error> {
        let odd =
            |column: &str, value: &str| sqlx::Error::Decode(format!("payment_returns.{column} is `{value}`").into());
        Ok(Return {
            id: row.try_get("id")?,
            kind: match row.try_get("kind")? {
                "charge" => ReturnKind::Charge,
                "refund" => ReturnKind::Refund,
                "dispute" => ReturnKind::Dispute,
                other => return Err(odd("kind", other)),
            },
            state: match row.try_get("state")? {
                "announced" => ReturnState::Announced,
                "gone" => ReturnState::Gone,
                "back" => ReturnState::Back,
                other => return Err(odd("state", other)),
            },
            payment_id: row.try_get("payment_id")?,
            payment_intent: row.try_get("payment_intent")?,
            cents: row.try_get("cents")?,
            currency: row.try_get("currency")?,
        })
    }
}

/// Stores a reported return, and returns what was stored under the same id before. The caller has
/// locked the payment's account or the intent.
pub(super) async fn keep(
    tx: &mut Tx<'_>,
    told: &Return,
    payment_id: Option<&str>,
    now: UnixMs,
) -> Result<Option<Return>, sqlx::Error> {
    if let (ReturnKind::Dispute, Some(payment_id)) = (told.kind, payment_id) {
        // Take over a dispute from before disputes were stored by their ids.
        sqlx::query(
            "update payment_returns set id = $1
             where id = $2 and not exists (select 1 from payment_returns other where other.id = $1)",
        )
        .bind(&told.id)
        .bind(format!("dispute of {payment_id}"))
        .execute(&mut **tx)
        .await?;
    }
    let sql = format!("select {COLUMNS} from payment_returns where id = $1");
    let row = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(&told.id).fetch_optional(&mut **tx).await?;
    let before = row.map(|row| Return::read(&row)).transpose()?;
    let state = before.as_ref().map_or(told.state, |before| before.state.max(told.state));
    let cents = before.as_ref().map_or(told.cents, |before| before.cents.max(told.cents));
    sqlx::query(
        "insert into payment_returns (id, kind, state, payment_id, payment_intent, cents, currency, told_at_ms)
         values ($1, $2, $3, $4, $5, $6, $7, $8)
         on conflict (id) do update set state = excluded.state, cents = excluded.cents,
            payment_id = coalesce(excluded.payment_id, payment_returns.payment_id),
            payment_intent = coalesce(payment_returns.payment_intent, excluded.payment_intent)",
    )
    .bind(&told.id)
    .bind(told.kind.as_str())
    .bind(state.as_str())
    .bind(payment_id)
    .bind(&told.payment_intent)
    .bind(cents)
    .bind(&told.currency)
    .bind(now.0)
    .execute(&mut **tx)
    .await?;
    Ok(before)
}

/// Returns everything that was reported as returned of a payment, by its id or its intent.
pub(super) async fn of(
    tx: &mut Tx<'_>,
    payment_id: &str,
    payment_intent: Option<&str>,
) -> Result<Vec<Return>, sqlx::Error> {
    let sql = format!("select {COLUMNS} from payment_returns where payment_id = $1 or payment_intent = $2 order by id");
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(payment_id).bind(payment_intent).fetch_all(&mut **tx).await?;
    rows.iter().map(Return::read).collect()
}

/// Assigns the returns that were reported of an intent before its payment was known to that
/// payment, and returns them.
pub(super) async fn adopt(tx: &mut Tx<'_>, payment_id: &str, payment_intent: &str) -> Result<Vec<Return>, sqlx::Error> {
    let sql = format!(
        "update payment_returns set payment_id = $1 where payment_intent = $2 and payment_id is null returning {COLUMNS}"
    );
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(payment_id).bind(payment_intent).fetch_all(&mut **tx).await?;
    rows.iter().map(Return::read).collect()
}

/// Deletes returns of intents that never became a payment of ours, such as those of other sales by
/// the same Stripe account.
pub(super) async fn forget_unknown(db: &Database, before: UnixMs) -> Result<(), sqlx::Error> {
    let sql = "delete from payment_returns where payment_id is null and told_at_ms < $1";
    db.write(sqlx::query(sql).bind(before.0)).await?;
    db.write(sqlx::query("delete from payment_intents where seen_at_ms < $1").bind(before.0)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(presented: Option<(i64, &str)>, is_paid: bool) -> Price {
        let presented = presented.map(|(cents, currency)| (cents, currency.to_owned()));
        Price { cents: 500, currency: "usd", presented, is_paid }
    }

    #[test]
    fn parts_of_a_price_in_its_currency_and_in_the_buyers() {
        for (presented, is_paid, cents, currency, expected) in [
            (None, true, 0, "usd", Part::Cents(0)),
            (None, true, 500, "usd", Part::Cents(500)),
            (None, true, 501, "usd", Part::Misfit),
            (None, true, -1, "usd", Part::Misfit),
            (None, true, 463, "eur", Part::NotKnownYet),
            (None, false, 463, "eur", Part::NotKnownYet),
            (Some((463, "eur")), true, 463, "eur", Part::Cents(500)),
            (Some((463, "eur")), true, 100, "eur", Part::Cents(107)),
            (Some((463, "eur")), true, 464, "eur", Part::Misfit),
            (Some((463, "eur")), true, 463, "chf", Part::Misfit),
            (Some((463, "eur")), true, 250, "usd", Part::Cents(250)),
            // A currency without a smaller unit.
            (Some((74, "jpy")), true, 37, "jpy", Part::Cents(250)),
        ] {
            assert_eq!(price(presented, is_paid).part(cents, currency), expected, "{cents} {currency} {presented:?}");
        }
    }

    #[test]
    fn sums_of_what_was_told() {
        use ReturnKind::{Charge, Dispute, Refund};
        use ReturnState::{Announced, Back, Gone};
        for (told, refunded, disputed) in [
            (vec![], 0, 0),
            (vec![(Charge, Gone, 100)], 100, 0),
            (vec![(Refund, Gone, 100)], 100, 0),
            (vec![(Charge, Gone, 100), (Refund, Gone, 100)], 100, 0),
            // Two refunds, one of which failed, whether or not the charge's total still counts it.
            (vec![(Charge, Gone, 300), (Refund, Gone, 100), (Refund, Back, 200)], 100, 0),
            (vec![(Charge, Gone, 200), (Refund, Gone, 100), (Refund, Back, 200)], 100, 0),
            (vec![(Refund, Back, 200)], 0, 0),
            (vec![(Charge, Gone, 200), (Refund, Back, 200)], 0, 0),
            (vec![(Dispute, Announced, 500)], 0, 0),
            (vec![(Dispute, Gone, 500)], 0, 500),
            (vec![(Dispute, Back, 500)], 0, 0),
            (vec![(Dispute, Back, 500), (Dispute, Gone, 200), (Charge, Gone, 100)], 100, 200),
            (vec![(Dispute, Gone, 400), (Dispute, Gone, 400)], 0, 500),
            // More than was paid.
            (vec![(Dispute, Gone, 503)], 0, 500),
            (vec![(Dispute, Gone, -1)], 0, 500),
            (vec![(Dispute, Announced, 503)], 0, 0),
            (vec![(Dispute, Back, 503)], 0, 0),
            (vec![(Refund, Gone, 503), (Charge, Gone, 503)], 0, 0),
        ] {
            let returns: Vec<Return> = told
                .iter()
                .map(|(kind, state, cents)| Return {
                    id: String::new(),
                    kind: *kind,
                    state: *state,
                    payment_id: None,
                    payment_intent: None,
                    cents: *cents,
                    currency: "usd".to_owned(),
                })
                .collect();
            let expected = ReturnedCents { refunded_cents: refunded, disputed_cents: disputed };
            assert_eq!(price(None, true).sums(&returns), expected, "{told:?}");
        }
    }
}
