//! Buying credits: offers to pay, and the credits of those that were paid, exactly once.
//!
//! There are two providers: `local`, a payment page of our own that takes no money, for development
//! and installs that bill elsewhere, and [`stripe`]. The ledger enters the credits of a payment
//! under the payment's own reference, in the transaction that marks it paid.

pub mod auto_reload;
pub mod stripe;

use crate::accounts::account;
use crate::accounts::token::{KeyHash, PlainKey};
use crate::clock::{DAY_MS, UnixMs};
use crate::config::prices::Pack;
use crate::db::{Database, Tx};
use crate::ledger::{self, Credits, LedgerError};
use sqlx::Row;
use sqlx::any::AnyRow;

/// Prefix of the last segment of a payment page's URL.
pub const PAGE_PREFIX: &str = "cycpay_";

/// Lifetime of a payment page, in milliseconds.
const LIFETIME_MS: i64 = DAY_MS;

/// An offer to pay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    pub id: String,
    pub account_id: String,
    pub provider: PaymentProvider,
    pub pack: Pack,
    /// URL of the provider's payment page, if the payment is not made on our page.
    pub checkout_url: Option<String>,
    /// Credits whose money went back to the buyer.
    pub returned_credits: i64,
    pub state: PaymentState,
    pub created_at: UnixMs,
}

/// The service that takes the money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentProvider {
    Local,
    Stripe,
}

impl PaymentProvider {
    pub const fn as_str(self) -> &'static str {
        match self {
            PaymentProvider::Local => "local",
            PaymentProvider::Stripe => "stripe",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentState {
    Open,
    Paid,
    Cancelled,
    /// The payment was not made before its offer expired.
    Expired,
}

impl PaymentState {
    pub const fn as_str(self) -> &'static str {
        match self {
            PaymentState::Open => "open",
            PaymentState::Paid => "paid",
            PaymentState::Cancelled => "cancelled",
            PaymentState::Expired => "expired",
        }
    }
}

const COLUMNS: &str =
    "id, account_id, provider, credits, cents, state, checkout_url, returned_credits, created_at_ms, expires_at_ms";

impl Payment {
    fn read(row: &AnyRow, now: UnixMs) -> Result<Self, sqlx::Error> {
        let id: String = row.try_get("id")?;
        let is_over = row.try_get::<i64, _>("expires_at_ms")? <= now.0;
        let state = match row.try_get("state")? {
            "open" if is_over => PaymentState::Expired,
            "open" => PaymentState::Open,
            "paid" => PaymentState::Paid,
            "cancelled" => PaymentState::Cancelled,
            other => return Err(sqlx::Error::Decode(format!("payments.state of {id} is `{other}`").into())),
        };
        let provider = match row.try_get("provider")? {
            "local" => PaymentProvider::Local,
            "stripe" => PaymentProvider::Stripe,
            other => return Err(sqlx::Error::Decode(format!("payments.provider of {id} is `{other}`").into())),
        };
        Ok(Payment {
            provider,
            checkout_url: row.try_get("checkout_url")?,
            returned_credits: row.try_get("returned_credits")?,
            account_id: row.try_get("account_id")?,
            pack: Pack { credits: row.try_get("credits")?, cents: row.try_get("cents")? },
            created_at: UnixMs(row.try_get("created_at_ms")?),
            state,
            id,
        })
    }
}

/// Maximum number of open payments of one account.
pub const OPEN_MAX: i64 = 50;

/// Offers a pack to an account and returns the payment's id, or `None` if [`OPEN_MAX`] payments are
/// open. `page` is the secret part of the payment page's URL.
pub async fn offer(
    tx: &mut Tx<'_>,
    provider: PaymentProvider,
    account_id: &str,
    pack: &Pack,
    page: &PlainKey,
    now: UnixMs,
) -> Result<Option<String>, sqlx::Error> {
    account::lock(tx, account_id).await?;
    let sql = "select count(*) from payments where account_id = $1 and purpose = 'page' and state = 'open' and expires_at_ms > $2";
    let open: i64 = sqlx::query(sql).bind(account_id).bind(now.0).fetch_one(&mut **tx).await?.try_get(0)?;
    if open >= OPEN_MAX {
        return Ok(None);
    }
    let id = uuid::Uuid::now_v7().to_string();
    sqlx::query(
        "insert into payments (id, account_id, provider, purpose, credits, cents, state, page_sha256, created_at_ms, expires_at_ms)
         values ($1, $2, $3, 'page', $4, $5, 'open', $6, $7, $8)",
    )
    .bind(&id)
    .bind(account_id)
    .bind(provider.as_str())
    .bind(pack.credits)
    .bind(pack.cents)
    .bind(page.hash().as_str())
    .bind(now.0)
    .bind(now.0 + LIFETIME_MS)
    .execute(&mut **tx)
    .await?;
    Ok(Some(id))
}

/// Returns the payment of a payment page.
pub async fn find(db: &Database, page: &KeyHash, now: UnixMs) -> Result<Option<Payment>, sqlx::Error> {
    let sql = format!("select {COLUMNS} from payments where page_sha256 = $1");
    let row = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(page.as_str()).fetch_optional(&db.readers).await?;
    row.map(|row| Payment::read(&row, now)).transpose()
}

/// Marks a payment as paid on our own page and enters its credits. Returns false, and enters
/// nothing, if the payment is no longer open or is not paid on our page.
pub async fn pay(db: &Database, payment: &Payment, now: UnixMs) -> Result<bool, LedgerError> {
    let mut tx = db.begin().await?;
    if !end(&mut tx, payment, PaymentState::Paid, now).await? {
        return Ok(false);
    }
    enter(&mut tx, &payment.id, &payment.account_id, payment.pack.credits, "credits bought", now).await?;
    tx.commit().await?;
    Ok(true)
}

/// Enters the credits of a payment that this transaction marks as paid.
async fn enter(
    tx: &mut Tx<'_>,
    id: &str,
    account_id: &str,
    credits: i64,
    reason: &str,
    now: UnixMs,
) -> Result<(), LedgerError> {
    let reference = format!("payment {id}");
    let entered = ledger::ReceivedPayment { reference: &reference, credits: Credits(credits), reason };
    ledger::purchase(tx, account_id, entered, now).await?;
    Ok(())
}

/// Cancels a payment on our own page. Returns false if it was no longer open.
pub async fn cancel(db: &Database, payment: &Payment, now: UnixMs) -> Result<bool, sqlx::Error> {
    let mut tx = db.begin().await?;
    let ended = end(&mut tx, payment, PaymentState::Cancelled, now).await?;
    tx.commit().await?;
    Ok(ended)
}

async fn end(tx: &mut Tx<'_>, payment: &Payment, state: PaymentState, now: UnixMs) -> Result<bool, sqlx::Error> {
    let ended = sqlx::query(
        "update payments set state = $1, ended_at_ms = $2 where id = $3 and provider = 'local' and state = 'open' and expires_at_ms > $2",
    )
    .bind(state.as_str())
    .bind(now.0)
    .bind(&payment.id)
    .execute(&mut **tx)
    .await?;
    Ok(ended.rows_affected() == 1)
}

/// Cancels a payment that could not be opened at its provider, so that it no longer counts as open.
/// Nobody has its URL. Should money arrive all the same, it is credited.
pub async fn withdraw(db: &Database, payment_id: &str, now: UnixMs) -> Result<(), sqlx::Error> {
    let update =
        sqlx::query("update payments set state = 'cancelled', ended_at_ms = $1 where id = $2 and state = 'open'")
            .bind(now.0)
            .bind(payment_id.to_owned());
    db.write(update).await?;
    Ok(())
}

/// Stores the session in which a person pays at Stripe.
pub async fn opened_at_stripe(
    db: &Database,
    payment_id: &str,
    session: &str,
    checkout_url: &str,
) -> Result<(), sqlx::Error> {
    let update = sqlx::query("update payments set session = $1, checkout_url = $2 where id = $3")
        .bind(session.to_owned())
        .bind(checkout_url.to_owned())
        .bind(payment_id.to_owned());
    db.write(update).await?;
    Ok(())
}

/// Returns up to `limit` payments of an account, newest first.
pub async fn list(db: &Database, account_id: &str, limit: i64, now: UnixMs) -> Result<Vec<Payment>, sqlx::Error> {
    let sql =
        format!("select {COLUMNS} from payments where account_id = $1 order by created_at_ms desc, id desc limit $2");
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(account_id).bind(limit).fetch_all(&db.readers).await?;
    rows.iter().map(|row| Payment::read(row, now)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_database::databases;

    const NOW: UnixMs = UnixMs(1_000);
    const PACK: Pack = Pack { credits: 5000, cents: 500 };

    async fn offered(db: &Database, account_id: &str) -> Payment {
        let page = PlainKey::generate(PAGE_PREFIX, &mut rand::rng());
        let mut tx = db.begin().await.expect("begin");
        offer(&mut tx, PaymentProvider::Local, account_id, &PACK, &page, NOW).await.expect("offers").expect("made");
        tx.commit().await.expect("commit");
        find(db, &page.hash(), NOW).await.expect("finds").expect("there")
    }

    /// Cases that would break the ledger: paying twice, at the same time, after
    /// cancelling, too late.
    #[tokio::test(flavor = "multi_thread")]
    async fn credits_come_once_however_often_it_is_paid() {
        for db in databases().await {
            let account_id = account::open(&db, "ada@example.com", Credits(1), NOW).await.expect("account");
            let balance = async || ledger::balance(&db.readers, &account_id).await.expect("balance").0;
            let payment = offered(&db, &account_id).await;
            assert!(!ledger::has_purchase(&db.readers, &account_id).await.expect("reads"));
            let mut attempts = Vec::new();
            for _ in 0..50 {
                let (db, payment) = (db.clone(), payment.clone());
                attempts.push(tokio::spawn(async move { pay(&db, &payment, NOW).await.expect("pays") }));
            }
            let mut paid = 0;
            for attempt in attempts {
                paid += i64::from(attempt.await.expect("task"));
            }
            assert_eq!((paid, balance().await), (1, 5001));
            assert!(!cancel(&db, &payment, NOW).await.expect("cancels"), "what is paid is not cancelled");

            let cancelled = offered(&db, &account_id).await;
            assert!(cancel(&db, &cancelled, NOW).await.expect("cancels"));
            assert!(!pay(&db, &cancelled, NOW).await.expect("pays"));
            let late = offered(&db, &account_id).await;
            assert!(!pay(&db, &late, NOW.plus_ms(LIFETIME_MS)).await.expect("pays"));
            assert_eq!(balance().await, 5001);
            assert!(ledger::has_purchase(&db.readers, &account_id).await.expect("reads"));
            let listed = list(&db, &account_id, 10, NOW.plus_ms(LIFETIME_MS)).await.expect("lists");
            let states: Vec<&str> = listed.iter().map(|payment| payment.state.as_str()).collect();
            assert_eq!(states.len(), 3);
            assert!(["paid", "cancelled", "expired"].iter().all(|state| states.contains(state)), "{states:?}");
            assert!(ledger::verify(&db.readers).await.expect("verifies").is_empty());
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn fifty_open_at_once_also_for_those_who_ask_at_once() {
        for db in databases().await {
            let account_id = account::open(&db, "ada@example.com", Credits(1), NOW).await.expect("account");
            let asking = (0..OPEN_MAX + 10).map(|_| {
                let (db, account_id) = (db.clone(), account_id.clone());
                tokio::spawn(async move {
                    let page = PlainKey::generate(PAGE_PREFIX, &mut rand::rng());
                    let mut tx = db.begin().await.expect("begin");
                    let made =
                        offer(&mut tx, PaymentProvider::Local, &account_id, &PACK, &page, NOW).await.expect("offers");
                    tx.commit().await.expect("commit");
                    i64::from(made.is_some())
                })
            });
            let made = futures::future::join_all(asking).await;
            assert_eq!(made.into_iter().map(|made| made.expect("task")).sum::<i64>(), OPEN_MAX);
        }
    }

    #[tokio::test]
    async fn fifty_open_at_once() {
        for db in databases().await {
            let account_id = account::open(&db, "ada@example.com", Credits(1), NOW).await.expect("account");
            let offer = async |now| {
                let page = PlainKey::generate(PAGE_PREFIX, &mut rand::rng());
                let mut tx = db.begin().await.expect("begin");
                let made = super::offer(&mut tx, PaymentProvider::Local, &account_id, &PACK, &page, now)
                    .await
                    .expect("offers");
                tx.commit().await.expect("commit");
                made.is_some()
            };
            for _ in 0..OPEN_MAX {
                assert!(offer(NOW).await);
            }
            assert!(!offer(NOW).await);
            assert!(offer(NOW.plus_ms(LIFETIME_MS)).await, "the others are over");
        }
    }
}
