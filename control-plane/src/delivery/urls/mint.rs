//! Making signed addresses: all of a call with one debit, or none.

use super::super::charge::{Windowed, submit};
use super::super::{DeliveryError, Order};
use crate::app::App;
use crate::clock::UnixMs;
use crate::http::extract::Caller;
use crate::ledger::{Charge, Credits, NewDeliveryUrl};
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

#[derive(Debug, Clone)]
pub struct Minted {
    /// In the order of the orders.
    pub urls: Vec<MintedUrl>,
    pub expires_at: UnixMs,
    pub charged: Credits,
    pub remaining: Credits,
}

/// Makes an address for each order and takes one credit for each.
pub async fn mint(app: &App, caller: &Caller, request_id: &str, orders: &[Order], terms: Terms) -> Windowed<Minted> {
    let expires_at = UnixMs(app.clock.now().0 + terms.ttl_seconds * 1000);
    let mut urls = Vec::with_capacity(orders.len());
    let mut rows = Vec::with_capacity(orders.len());
    for order in orders {
        let id = Uuid::now_v7();
        let token = match app.signing_keys.sign(id).await {
            Ok(token) => token,
            Err(error) => return super::super::charge::after_count(app, caller, error.into()).await,
        };
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
    let charged = Credits(rows.len() as i64);
    let charge = Charge::Mint { account_id: caller.account_id.clone(), urls: rows };
    let (window, taken) = submit(app, caller, charge).await;
    let minted = taken.map(|remaining| Minted { urls, expires_at, charged, remaining }).map_err(|error| match error {
        DeliveryError::Insufficient { balance, .. } => DeliveryError::Insufficient { balance, required: charged },
        other => other,
    });
    (window, minted)
}
