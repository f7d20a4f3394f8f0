//! Minting signed URLs: all URLs of a call with one debit, or none.

use super::super::charge::{Deliveries, PaidUrl};
use super::super::request::frame_query;
use super::super::{DeliveryError, Order};
use super::SigningKeys;
use crate::accounts::caller::Caller;
use crate::clock::{Clock, UnixMs};
use crate::ledger::idempotency::StoredAnswer;
use crate::ledger::{AnswerToKeep, Charge, Credits, Meter, MeterError, MeterRequest, NewDeliveryUrl};
use crate::named_requests::{NameError, NamedRequest, NamedRequests, RequestStart, kept_or_given_up};
use cyclorama_core::traces::Trace;
use std::sync::Arc;
use tokio::sync::oneshot;
use uuid::Uuid;

/// Name of the endpoint under which idempotent requests for signed URLs are stored, those of the
/// tool as well: the same URLs requested over HTTP and with the tool are one request.
pub const ENDPOINT: &str = "POST /api/v1/image-urls";

/// How long signed URLs are valid, and how often they may be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    pub ttl_seconds: i64,
    /// Maximum number of loads; 0 for no limit.
    pub max_uses: i64,
}

/// A signed URL to hand out.
#[derive(Debug, Clone)]
pub struct MintedUrl {
    pub id: String,
    pub url: String,
}

/// Signed URLs, in the order of their orders.
#[derive(Debug, Clone)]
pub struct MintedUrls {
    pub urls: Vec<MintedUrl>,
    pub expires_at: UnixMs,
}

impl MintedUrls {
    /// Returns the cost of all of them.
    pub fn price(&self) -> Credits {
        Credits::of_pictures(self.urls.len())
    }
}

/// Signed URLs that are not valid until they are paid for.
#[derive(Debug)]
pub struct UnpaidUrls {
    pub minted: MintedUrls,
    rows: Vec<NewDeliveryUrl>,
}

impl UnpaidUrls {
    /// Returns the only URL, to be paid for together with its image. `answer` is stored for a
    /// request with an idempotency key.
    pub fn with_its_picture(mut self, answer: String) -> Option<PaidUrl> {
        self.rows.pop().map(|url| PaidUrl { url, answer })
    }
}

/// The orders that a request wants signed URLs for.
#[derive(Debug, Clone, Copy)]
pub struct UrlOrder<'a> {
    pub request_id: &'a str,
    pub orders: &'a [Order],
    pub terms: Terms,
}

/// The outcome of a request for signed URLs.
#[derive(Debug)]
pub enum MintOutcome {
    /// The URLs are paid for; `remaining` is the balance after that.
    Now { minted: MintedUrls, remaining: Credits },
    /// The same request was answered before: nothing was charged now.
    Before(StoredAnswer),
}

/// The reasons why there are no signed URLs. Nothing was charged.
#[derive(Debug, thiserror::Error)]
pub enum MintError {
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(transparent)]
    Delivery(#[from] DeliveryError),
}

/// Mints signed URLs. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Mint {
    pub signing_keys: Arc<SigningKeys>,
    pub deliveries: Deliveries,
    pub named: NamedRequests,
    pub meter: Meter,
    pub clock: Clock,
    /// The beginning of every URL that clients see, without a slash at the end.
    pub base_url: String,
}

impl Mint {
    /// Mints and charges the signed URLs of a request, or returns the answer that the same request
    /// was given before. The request is counted in any case. `answer` writes the answer that is
    /// stored for a request with an idempotency key, from the URLs before they are paid for.
    pub async fn make(
        &self,
        caller: &Caller,
        wish: UrlOrder<'_>,
        named: NamedRequest<'_>,
        answer: impl FnOnce(&MintedUrls) -> String,
    ) -> Result<MintOutcome, MintError> {
        let attempt = match self.named.begin(caller, named).await {
            Ok(RequestStart::Ours(attempt)) => attempt,
            Ok(RequestStart::Done(kept)) => {
                self.deliveries.count(caller).await?;
                return Ok(MintOutcome::Before(kept));
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
        Ok(MintOutcome::Now { minted, remaining })
    }

    /// Mints and charges the signed URLs of a request without an idempotency key. Returns them with
    /// the balance after that. The request is counted in any case.
    pub async fn make_unnamed(
        &self,
        caller: &Caller,
        wish: UrlOrder<'_>,
    ) -> Result<(MintedUrls, Credits), DeliveryError> {
        let unpaid = match self.sign(caller, wish).await {
            Ok(unpaid) => unpaid,
            Err(error) => return self.deliveries.after_count(caller, error).await,
        };
        let minted = unpaid.minted.clone();
        let remaining = self.pay(caller, unpaid, None).await?;
        Ok((minted, remaining))
    }

    /// Returns the stored answer to the same request, for a request that is now refused, as the
    /// catalog may do once it has changed. `text` is the request as it was sent, `key` its
    /// idempotency key.
    pub async fn made_before(
        &self,
        caller: &Caller,
        key: Option<&str>,
        text: &[u8],
    ) -> Result<Option<StoredAnswer>, MintError> {
        let kept = self.named.kept_for(caller, ENDPOINT, key, text).await;
        self.deliveries.count(caller).await?;
        Ok(kept?)
    }

    /// Signs a URL for each order.
    pub async fn sign(&self, caller: &Caller, wish: UrlOrder<'_>) -> Result<UnpaidUrls, DeliveryError> {
        let UrlOrder { request_id, orders, terms } = wish;
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
        Ok(UnpaidUrls { minted: MintedUrls { urls, expires_at }, rows })
    }

    /// Debits one credit for each URL and makes them valid, in one step. Returns the balance after
    /// that; `keep` is stored with it. When the caller leaves meanwhile, no client will ever know
    /// the URLs: their credits are given back, unless the request had an idempotency key and may be
    /// repeated.
    pub async fn pay(
        &self,
        caller: &Caller,
        unpaid: UnpaidUrls,
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
            // If the caller has left, the answer is dropped unread.
            let _ = answer.send(paid.map(|remaining| (remaining, UnreportedUrls { meter, ids: forgotten })));
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

/// URLs that are paid for and were not reported to the client. Dropping this gives their credits
/// back.
struct UnreportedUrls {
    meter: Meter,
    ids: Vec<String>,
}

impl UnreportedUrls {
    /// Keeps the credits charged, because the URLs are reported.
    fn forget(mut self) {
        self.ids.clear();
    }
}

impl Drop for UnreportedUrls {
    fn drop(&mut self) {
        // When the process ends, no task can give the credits back any more.
        if tokio::runtime::Handle::try_current().is_err() {
            return;
        }
        for delivery_url_id in std::mem::take(&mut self.ids) {
            self.meter.submit_until_done(MeterRequest::uncounted(Charge::Refund { delivery_url_id }));
        }
    }
}
