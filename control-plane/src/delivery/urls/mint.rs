//! Making signed addresses: all of a call with one debit, or none.

use super::super::charge::{PaidAddress, Windowed, submit};
use super::super::request::frame_query;
use super::super::{DeliveryError, Order};
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::clock::UnixMs;
use crate::ledger::{AnswerToKeep, Charge, Credits, Entry, MeterError, NewDeliveryUrl};
use cyclorama_core::traces::Trace;
use tokio::sync::oneshot;
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
            format: order.asked_format.as_str(),
            width: order.frame.width,
            height: order.frame.height,
            frame: frame_query(&order.frame),
            about: order.words(),
            max_uses: terms.max_uses,
            expires_at_ms: expires_at.0,
        });
    }
    Ok(Minted { urls, expires_at, rows })
}

impl Minted {
    /// What all of them cost.
    pub fn price(&self) -> Credits {
        Credits::of_pictures(self.rows.len())
    }

    /// Takes one credit for each and makes them good, in one step. Gives the balance after it; `keep` is kept with it. When the caller leaves
    /// meanwhile, nobody will ever know the addresses: their credits are given back, unless the request named itself and may ask again.
    pub async fn pay(self, app: &App, caller: &Caller, keep: Option<AnswerToKeep>) -> Windowed<Credits> {
        let forgotten = match keep {
            Some(_) => Vec::new(),
            None => self.rows.iter().map(|row| row.id.clone()).collect(),
        };
        let charge = Charge::Mint { account_id: caller.account_id.clone(), urls: self.rows, keep };
        let (answer, answered) = oneshot::channel();
        let (app, caller) = (app.clone(), caller.clone());
        tokio::spawn(Trace::current().around(async move {
            let (window, paid) = submit(&app, &caller, charge).await;
            let paid = paid.map(|remaining| (remaining, Untold { app, ids: forgotten }));
            // Whoever has left drops it unread.
            let _ = answer.send((window, paid));
        }));
        match answered.await {
            Ok((window, Ok((remaining, untold)))) => {
                untold.forget();
                (window, Ok(remaining))
            }
            Ok((window, Err(error))) => (window, Err(error)),
            Err(_) => (None, Err(MeterError::Stopping.into())),
        }
    }

    /// The only address, to be paid for with its picture; `answer` is what a named request is told.
    pub fn with_its_picture(mut self, answer: String) -> Option<PaidAddress> {
        self.rows.pop().map(|url| PaidAddress { url, answer })
    }
}

/// Addresses that are paid for and that nobody has been told. Dropping this gives their credits back.
struct Untold {
    app: App,
    ids: Vec<String>,
}

impl Untold {
    /// Their credits stay charged.
    fn forget(mut self) {
        self.ids.clear();
    }
}

impl Drop for Untold {
    fn drop(&mut self) {
        // When the process ends, no task can give the credits back any more.
        if tokio::runtime::Handle::try_current().is_err() {
            return;
        }
        for delivery_url_id in std::mem::take(&mut self.ids) {
            self.app.meter.submit_until_done(Entry::uncounted(Charge::Refund { delivery_url_id }));
        }
    }
}
