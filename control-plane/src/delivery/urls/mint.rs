//! Making signed addresses: all of a call with one debit, or none.

use super::super::charge::{Windowed, submit};
use super::super::{DeliveryError, Order};
use crate::app::App;
use crate::clock::UnixMs;
use crate::http::extract::Caller;
use crate::ledger::{AnswerToKeep, Charge, Credits, NewDeliveryUrl};
use uuid::Uuid;

/// How long addresses live and how often they may be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    pub ttl_seconds: i64,
    /// 0: as often as one likes.
    pub max_uses: i64,
}

/// An address to hand out.
#[derive(Debug, Clone)]
pub struct MintedUrl {
    pub id: String,
    pub url: String,
}

/// Addresses that are signed and good for nothing until they are paid for.
#[derive(Debug)]
pub struct Minted {
    /// In the order of the orders.
    pub urls: Vec<MintedUrl>,
    pub expires_at: UnixMs,
    rows: Vec<NewDeliveryUrl>,
}

/// Signs an address for each order.
pub async fn mint(
    app: &App,
    caller: &Caller,
    request_id: &str,
    orders: &[Order],
    terms: Terms,
) -> Result<Minted, DeliveryError> {
    let expires_at = app.clock.now().plus_ms(terms.ttl_seconds * 1000);
    let mut urls = Vec::with_capacity(orders.len());
    let mut rows = Vec::with_capacity(orders.len());
    for order in orders {
        let id = Uuid::now_v7();
        let token = app.signing_keys.sign(id).await?;
        urls.push(MintedUrl { id: id.to_string(), url: format!("{}/api/v1/delivery/{token}", app.base_url) });
        rows.push(NewDeliveryUrl {
            id: id.to_string(),
            key_id: caller.key_id.clone(),
            request_id: request_id.to_owned(),
            variant: order.variant.clone(),
            format: order.format,
            width: order.width,
            height: order.height,
            max_uses: terms.max_uses,
            expires_at_ms: expires_at.0,
        });
    }
    Ok(Minted { urls, expires_at, rows })
}

impl Minted {
    /// What all of them cost.
    pub fn price(&self) -> Credits {
        Credits(self.rows.len() as i64)
    }

    /// Takes one credit for each and makes them good, in one step. Gives the balance after it; `keep` is kept with it.
    pub async fn pay(self, app: &App, caller: &Caller, keep: Option<AnswerToKeep>) -> Windowed<Credits> {
        submit(app, caller, Charge::Mint { account_id: caller.account_id.clone(), urls: self.rows, keep }).await
    }
}
