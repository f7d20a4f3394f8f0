//! Whose customer at Stripe an account is, and which card of it was kept.

use super::client::{Stripe, StripeError};
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

/// An account as Stripe knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    pub id: String,
    /// The card that may be charged while nobody is there.
    pub payment_method: Option<String>,
}

pub async fn find(db: &Database, account_id: &str) -> Result<Option<Customer>, sqlx::Error> {
    let row = sqlx::query("select customer, payment_method from stripe_customers where account_id = $1")
        .bind(account_id)
        .fetch_optional(&db.readers)
        .await?;
    row.map(|row| Ok(Customer { id: row.try_get(0)?, payment_method: row.try_get(1)? })).transpose()
}

/// The account's customer, made at Stripe with the first payment. However many ask at once, there is one.
pub async fn establish(
    db: &Database,
    stripe: &Stripe,
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

/// Remembers which card may be charged; `None`: none.
pub async fn keep_card(db: &Database, account_id: &str, payment_method: Option<String>) -> Result<(), sqlx::Error> {
    let update = sqlx::query("update stripe_customers set payment_method = $1 where account_id = $2")
        .bind(payment_method)
        .bind(account_id.to_owned());
    db.write(update).await?;
    Ok(())
}

/// The same, as an event tells it.
pub(super) async fn keep_card_of(tx: &mut Tx<'_>, card: &KeptCard) -> Result<(), sqlx::Error> {
    sqlx::query("update stripe_customers set payment_method = $1 where customer = $2")
        .bind(&card.payment_method)
        .bind(&card.customer)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// A card may no longer be charged: a reload that waits to charge it ends.
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
