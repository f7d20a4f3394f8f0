//! The customer at Stripe of each account, and the customer's stored card.

use super::client::{StripeClient, StripeError};
use super::event::KeptCard;
use crate::accounts::account;
use crate::clock::UnixMs;
use crate::db::{Database, Tx};
use sqlx::Row;

#[derive(Debug, thiserror::Error)]
pub enum CustomerError {
    #[error(transparent)]
    Stripe(#[from] StripeError),
    #[error("customers could not be read or written")]
    Database(#[from] sqlx::Error),
}

/// The customer at Stripe of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    pub id: String,
    /// The card that may be charged while the buyer is not present.
    pub payment_method: Option<String>,
}

pub async fn find(db: &Database, account_id: &str) -> Result<Option<Customer>, sqlx::Error> {
    let row = sqlx::query("select customer, payment_method from stripe_customers where account_id = $1")
        .bind(account_id)
        .fetch_optional(&db.readers)
        .await?;
    row.map(|row| Ok(Customer { id: row.try_get(0)?, payment_method: row.try_get(1)? })).transpose()
}

/// Returns the account's customer, and creates it at Stripe with the first payment. Simultaneous
/// calls create only one.
pub async fn establish(
    db: &Database,
    stripe: &StripeClient,
    account_id: &str,
    email: &str,
) -> Result<Customer, CustomerError> {
    if let Some(customer) = find(db, account_id).await? {
        return Ok(customer);
    }
    let id = stripe.create_customer(account_id, email).await?;
    let insert =
        sqlx::query("insert into stripe_customers (account_id, customer) values ($1, $2) on conflict do nothing")
            .bind(account_id.to_owned())
            .bind(id);
    db.write(insert).await?;
    Ok(find(db, account_id).await?.ok_or(sqlx::Error::RowNotFound)?)
}

/// Stores the newest card that Stripe has for a customer as the one that may be charged, unless a
/// purchase since `chosen_at` has stored another. `payment_method` is `None` if Stripe has no card.
/// `chosen_at` is the time of the request to Stripe.
pub async fn keep_newest(
    db: &Database,
    customer: &str,
    payment_method: Option<&str>,
    chosen_at: UnixMs,
) -> Result<(), sqlx::Error> {
    let mut tx = db.begin().await?;
    // Stripe's times are whole seconds: within the same second, a purchase counts as the later one.
    let chosen_at = UnixMs(chosen_at.0 / 1000 * 1000);
    keep(&mut tx, customer, payment_method, chosen_at, chosen_at).await?;
    tx.commit().await
}

/// Stores the card of a purchase, unless a newer purchase or newer settings have stored another.
pub(super) async fn keep_card_of(tx: &mut Tx<'_>, card: &KeptCard, now: UnixMs) -> Result<(), sqlx::Error> {
    keep(tx, &card.customer, Some(&card.payment_method), card.chosen_at, now).await
}

/// Stores the customer's card. Events arrive late and in any order: an older choice never replaces
/// a newer one, and a detached card is never stored again.
async fn keep(
    tx: &mut Tx<'_>,
    customer: &str,
    payment_method: Option<&str>,
    chosen_at: UnixMs,
    now: UnixMs,
) -> Result<(), sqlx::Error> {
    if let Some(payment_method) = payment_method {
        let detached: i64 = sqlx::query_scalar(
            "insert into stripe_cards (payment_method, is_detached, told_at_ms) values ($1, 0, $2)
             on conflict (payment_method) do update set told_at_ms = excluded.told_at_ms returning is_detached",
        )
        .bind(payment_method)
        .bind(now.0)
        .fetch_one(&mut **tx)
        .await?;
        if detached == 1 {
            return Ok(());
        }
    }
    sqlx::query(
        "update stripe_customers set payment_method = $1, card_chosen_at_ms = $2 where customer = $3 and card_chosen_at_ms <= $2",
    )
    .bind(payment_method.map(str::to_owned))
    .bind(chosen_at.0)
    .bind(customer)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Deletes the records of cards that were stored or detached long ago: no event about a purchase
/// comes that late. Stored cards stay with their customers.
pub(super) async fn forget_old_cards(db: &Database, before: UnixMs) -> Result<(), sqlx::Error> {
    db.write(sqlx::query("delete from stripe_cards where told_at_ms < $1").bind(before.0)).await?;
    Ok(())
}

/// Removes a card that may no longer be charged. Events that are still to come do not store it
/// again, and a reload that waits to charge it ends. Returns true if a customer or a reload had it.
pub(super) async fn forget_card(tx: &mut Tx<'_>, payment_method: &str, now: UnixMs) -> Result<bool, sqlx::Error> {
    let owners = sqlx::query(
        "select account_id from stripe_customers where payment_method = $1
         union select account_id from payments where purpose = 'reload' and state = 'open' and payment_method = $1
         order by account_id",
    )
    .bind(payment_method)
    .fetch_all(&mut **tx)
    .await?;
    for owner in owners {
        account::lock(tx, owner.try_get(0)?).await?;
    }
    // Lock this row before the customers, in the same order as where a card is stored, so that a
    // transaction that stores this card at the same time is waited for.
    sqlx::query(
        "insert into stripe_cards (payment_method, is_detached, told_at_ms) values ($1, 1, $2)
         on conflict (payment_method) do update set is_detached = 1, told_at_ms = excluded.told_at_ms",
    )
    .bind(payment_method)
    .bind(now.0)
    .execute(&mut **tx)
    .await?;
    let forgotten = sqlx::query("update stripe_customers set payment_method = null where payment_method = $1")
        .bind(payment_method)
        .execute(&mut **tx)
        .await?;
    let ended = sqlx::query(
        "update payments set state = 'cancelled', ended_at_ms = $1
         where purpose = 'reload' and state = 'open' and payment_method = $2",
    )
    .bind(now.0)
    .bind(payment_method)
    .execute(&mut **tx)
    .await?;
    Ok(forgotten.rows_affected() + ended.rows_affected() > 0)
}
