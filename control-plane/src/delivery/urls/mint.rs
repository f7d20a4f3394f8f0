//! Making signed addresses: all of a call with one debit, or none.

use super::super::charge::{Deliveries, PaidAddress};
use super::super::request::frame_query;
use super::super::{DeliveryError, Order};
use super::SigningKeys;
use crate::accounts::caller::Caller;
use crate::clock::{Clock, UnixMs};
use crate::ledger::idempotency::Kept;
use crate::ledger::{AnswerToKeep, Charge, Credits, Entry, Meter, MeterError, NewDeliveryUrl};
use crate::named_requests::{Begun, NameError, NamedRequest, NamedRequests, kept_or_given_up};
use cyclorama_core::traces::Trace;
use std::sync::Arc;
use tokio::sync::oneshot;
use uuid::Uuid;

/// What named requests for addresses are kept under, those of the tool as well: the same addresses asked for over HTTP
/// and over the tool are one request.
pub const ENDPOINT: &str = "POST /api/v1/image-urls";

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

/// Signed addresses, in the order of the orders.
#[derive(Debug, Clone)]
pub struct Minted {
    pub urls: Vec<MintedUrl>,
    pub expires_at: UnixMs,
}

impl Minted {
    /// What all of them cost.
    pub fn price(&self) -> Credits {
        Credits::of_pictures(self.urls.len())
    }
}

/// Addresses that are signed and good for nothing until they are paid for.
#[derive(Debug)]
pub struct Unpaid {
    pub minted: Minted,
    rows: Vec<NewDeliveryUrl>,
}

impl Unpaid {
    /// The only address, to be paid for with its picture; `answer` is what a named request is told.
    pub fn with_its_picture(mut self, answer: String) -> Option<PaidAddress> {
        self.rows.pop().map(|url| PaidAddress { url, answer })
    }
}

/// The addresses that a request asks for.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    pub request_id: &'a str,
    pub orders: &'a [Order],
    pub terms: Terms,
}

/// What a request for addresses came to.
#[derive(Debug)]
pub enum Made {
    /// The addresses are paid for; `remaining` is the balance after that.
    Now { minted: Minted, remaining: Credits },
    /// The same request was answered before: nothing was charged now.
    Before(Kept),
}

/// Why there are no addresses. Nothing was charged.
#[derive(Debug, thiserror::Error)]
pub enum MintError {
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(transparent)]
    Delivery(#[from] DeliveryError),
}

/// Makes signed addresses. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Mint {
    pub signing_keys: Arc<SigningKeys>,
    pub deliveries: Deliveries,
    pub named: NamedRequests,
    pub meter: Meter,
    pub clock: Clock,
    /// What clients see in front of every path; no slash at the end.
    pub base_url: String,
}

impl Mint {
    /// Makes the addresses of a request and charges them, or finds the answer that the same request was given before.
    /// The request is counted whatever it comes to. `answer` is what is kept of a request that names itself, written
    /// with the addresses before they are paid for.
    pub async fn make(
        &self,
        caller: &Caller,
        wish: Wish<'_>,
        named: NamedRequest<'_>,
        answer: impl FnOnce(&Minted) -> String,
    ) -> Result<Made, MintError> {
        let attempt = match self.named.begin(caller, named).await {
            Ok(Begun::Ours(attempt)) => attempt,
            Ok(Begun::Done(kept)) => {
                self.deliveries.count(caller).await?;
                return Ok(Made::Before(kept));
            }
            Err(error) => {
                self.deliveries.count(caller).await?;
                return Err(error.into());
            }
        };
        let unpaid = match self.sign(caller, wish).await {
            Ok(unpaid) => unpaid,
            Err(error) => {
                if let Some(attempt) = attempt {
                    attempt.give_up().await;
                }
                return Ok(self.deliveries.after_count(caller, error).await?);
            }
        };
        let minted = unpaid.minted.clone();
        let keep = attempt
            .as_ref()
            .map(|attempt| AnswerToKeep { attempt_id: attempt.id().to_owned(), answer: answer(&minted) });
        let paid = self.pay(caller, unpaid, keep).await;
        let remaining = kept_or_given_up(attempt, paid).await?;
        Ok(Made::Now { minted, remaining })
    }

    /// Makes the addresses of a request that does not name itself and charges them; gives the balance after that. The request is counted
    /// whatever it comes to.
    pub async fn make_unnamed(&self, caller: &Caller, wish: Wish<'_>) -> Result<(Minted, Credits), DeliveryError> {
        let unpaid = match self.sign(caller, wish).await {
            Ok(unpaid) => unpaid,
            Err(error) => return self.deliveries.after_count(caller, error).await,
        };
        let minted = unpaid.minted.clone();
        let remaining = self.pay(caller, unpaid, None).await?;
        Ok((minted, remaining))
    }

    /// The answer that was given to the very same request before it was refused, which the catalog may do once it has
    /// changed. `text` is the request as it was sent, `key` its name.
    pub async fn made_before(
        &self,
        caller: &Caller,
        key: Option<&str>,
        text: &[u8],
    ) -> Result<Option<Kept>, MintError> {
        let kept = self.named.kept_for(caller, ENDPOINT, key, text).await;
        self.deliveries.count(caller).await?;
        Ok(kept?)
    }

    /// Signs an address for each order.
    pub async fn sign(&self, caller: &Caller, wish: Wish<'_>) -> Result<Unpaid, DeliveryError> {
        let Wish { request_id, orders, terms } = wish;
        let expires_at = self.clock.now().plus_ms(terms.ttl_seconds * 1000);
        let mut urls = Vec::with_capacity(orders.len());
        let mut rows = Vec::with_capacity(orders.len());
        for order in orders {
            let id = Uuid::now_v7();
            let token = self.signing_keys.sign(id).await?;
            urls.push(MintedUrl { id: id.to_string(), url: format!("{}/api/v1/delivery/{token}", self.base_url) });
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
        Ok(Unpaid { minted: Minted { urls, expires_at }, rows })
    }

    /// Takes one credit for each and makes them good, in one step. Gives the balance after it; `keep` is kept with it.
    /// When the caller leaves meanwhile, nobody will ever know the addresses: their credits are given back, unless the
    /// request named itself and may ask again.
    pub async fn pay(
        &self,
        caller: &Caller,
        unpaid: Unpaid,
        keep: Option<AnswerToKeep>,
    ) -> Result<Credits, DeliveryError> {
        let forgotten = match keep {
            Some(_) => Vec::new(),
            None => unpaid.rows.iter().map(|row| row.id.clone()).collect(),
        };
        let charge = Charge::Mint { account_id: caller.account_id.clone(), urls: unpaid.rows, keep };
        let (answer, answered) = oneshot::channel();
        let (deliveries, meter, caller) = (self.deliveries.clone(), self.meter.clone(), caller.clone());
        tokio::spawn(Trace::current().around(async move {
            let paid = deliveries.submit(&caller, charge).await;
            // Whoever has left drops it unread.
            let _ = answer.send(paid.map(|remaining| (remaining, Untold { meter, ids: forgotten })));
        }));
        match answered.await {
            Ok(Ok((remaining, untold))) => {
                untold.forget();
                Ok(remaining)
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(MeterError::Stopping.into()),
        }
    }
}

/// Addresses that are paid for and that nobody has been told. Dropping this gives their credits back.
struct Untold {
    meter: Meter,
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
            self.meter.submit_until_done(Entry::uncounted(Charge::Refund { delivery_url_id }));
        }
    }
}
