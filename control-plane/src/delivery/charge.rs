//! A picture for a key: counted, charged exactly when it is delivered, given back when it is not.
//!
//! Bytes that are in memory are counted, charged and recorded in one entry of the meter. Everything else is held first, and settled
//! or released when it ends, by a task that outlives a client who hangs up.

use super::abandoned::Abandoned;
use super::find::{Described, Pictures, Ready};
use super::framed::Framed;
use super::{DeliveryError, Order, etag};
use crate::accounts::caller::Caller;
use crate::clock::Clock;
use crate::ledger::idempotency::Attempt;
use crate::ledger::{
    self, AnswerToKeep, Charge, Credits, Entry, KeyCap, Meter, MeterError, Metered, NewDeliveryUrl, Outcome, RateCount,
    Source,
};
use crate::renders::{Asker, Lane};
use crate::turns::waiting::{current_turn, with_turn};
use cyclorama_core::traces::Trace;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::sync::oneshot;

/// Beyond the longest wait for a render: a hold that is older belongs to nobody.
const HOLD_MARGIN_MS: i64 = 60_000;

/// Between two tries to release a hold while the ledger cannot be written.
const RELEASE_AGAIN: Duration = Duration::from_secs(1);

/// One picture that a key asks for, and what goes with it.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    pub order: &'a Order,
    /// Validators of the bytes that the client has.
    pub if_none_match: Option<&'a str>,
    /// A picture of more bytes is replaced by a smaller copy before it is charged.
    pub bytes_max: Option<usize>,
    /// Of a named request: what it is told is kept with its charge.
    pub attempt: Option<&'a Attempt>,
    /// A signed address that the same credit pays for.
    pub address: Option<PaidAddress>,
}

impl<'a> Asked<'a> {
    /// The picture and nothing else.
    pub fn for_order(order: &'a Order) -> Self {
        Asked { order, if_none_match: None, bytes_max: None, attempt: None, address: None }
    }
}

/// A signed address that is good once the picture beside it is paid for.
#[derive(Debug, Clone)]
pub struct PaidAddress {
    pub url: NewDeliveryUrl,
    /// JSON; what a named request is told.
    pub answer: String,
}

/// What a request came to.
#[derive(Debug)]
pub enum Delivered {
    Image {
        ready: Ready,
        source: Source,
        remaining: Credits,
    },
    /// The client has these bytes; free.
    NotModified {
        etag: String,
        remaining: Credits,
    },
}

/// What is kept of the answer to a named request for a picture. Its bytes are found again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    pub request_id: String,
    pub source: Source,
}

impl Told {
    fn to_keep(request_id: &str, source: Source, attempt_id: Option<String>) -> Option<AnswerToKeep> {
        let told = Told { request_id: request_id.to_owned(), source };
        let answer = serde_json::to_string(&told).unwrap_or_default();
        attempt_id.map(|attempt_id| AnswerToKeep { attempt_id, answer })
    }
}

/// What a HEAD request is told; free, and never renders.
#[derive(Debug)]
pub struct Shown {
    /// `None` where it depends on the picture, which does not exist.
    pub framed: Option<Framed>,
    pub is_rendered: bool,
    /// Given when the picture exists.
    pub etag: Option<String>,
    /// Of the bytes, where they are stored.
    pub length: Option<u64>,
    pub not_modified: bool,
    pub remaining: Credits,
}

/// Delivers pictures to holders of keys: counted, charged, found, given back where they are not delivered. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Deliveries {
    pictures: Pictures,
    abandoned: Abandoned,
    meter: Meter,
    clock: Clock,
    /// The longest wait for a render.
    render_wait: Duration,
}

impl Deliveries {
    /// Delivers what `pictures` finds, and charges it with `meter`. `render_wait` is the longest wait for a render.
    pub fn new(pictures: Pictures, abandoned: Abandoned, meter: Meter, clock: Clock, render_wait: Duration) -> Self {
        Deliveries { pictures, abandoned, meter, clock, render_wait }
    }

    /// Counts a request that ends before anything could be charged.
    pub async fn count(&self, caller: &Caller) -> Result<(), DeliveryError> {
        match caller.is_counted {
            true => Ok(()),
            false => self.submit(caller, Charge::Nothing).await.map(drop),
        }
    }

    /// Delivers the order's bytes to the caller. All that can fail comes before the credit is kept: bytes that are not
    /// at hand are found while it is held, and a signed address beside them becomes good in the transaction that
    /// settles the hold.
    pub async fn deliver(
        &self,
        caller: &Caller,
        request_id: &str,
        asked: Asked<'_>,
    ) -> Result<Delivered, DeliveryError> {
        let Asked { order, if_none_match, bytes_max, attempt, address } = asked;
        let attempt_id = attempt.map(|attempt| attempt.id().to_owned());
        let rendered = match self.pictures.rendered(order).await {
            Ok(rendered) => rendered,
            Err(error) => return self.after_count(caller, error).await,
        };
        if let Some(picture) = &rendered {
            if let Some(given) = if_none_match {
                let etag = match self.pictures.etag(order, picture).await {
                    Ok(etag) => etag,
                    Err(error) => return self.after_count(caller, error).await,
                };
                if let Some(etag) = etag.filter(|etag| etag::matches(given, etag)) {
                    let read = Charge::Read { account_id: caller.account_id.clone() };
                    let remaining = self.submit(caller, read).await?;
                    return Ok(Delivered::NotModified { etag, remaining });
                }
            }
            let fits = |ready: &Ready| bytes_max.is_none_or(|bytes_max| ready.bytes.len() <= bytes_max);
            if address.is_none()
                && let Some(ready) = self.pictures.at_hand(order, picture).await.filter(fits)
            {
                let charge = Charge::Debit {
                    account_id: caller.account_id.clone(),
                    credits: Credits::PER_PICTURE,
                    delivery: delivered(&caller.key_id, request_id, order, &ready, Source::Cache),
                    keep: Told::to_keep(request_id, Source::Cache, attempt_id),
                };
                let remaining = self.submit(caller, charge).await?;
                return Ok(Delivered::Image { ready, source: Source::Cache, remaining });
            }
        }
        let source = if rendered.is_some() { Source::Cache } else { Source::Generated };
        if source == Source::Generated
            && let Err(error) = self.abandoned.refuse_too_many(&caller.account_id, order).await
        {
            return self.after_count(caller, error).await;
        }
        let held = self.hold(caller, attempt_id, address).await?;
        held.settle_when_found(caller, request_id, order, bytes_max, source).await
    }

    /// Holds the credit of a picture that is to be found.
    async fn hold(
        &self,
        caller: &Caller,
        attempt_id: Option<String>,
        address: Option<PaidAddress>,
    ) -> Result<Held, DeliveryError> {
        let hold_id = uuid::Uuid::now_v7().to_string();
        let hold = Charge::Hold {
            account_id: caller.account_id.clone(),
            credits: Credits::PER_PICTURE,
            hold_id: hold_id.clone(),
            expires_at_ms: self.clock.now().0 + self.render_wait.as_millis() as i64 + HOLD_MARGIN_MS,
        };
        let held = Held { deliveries: self.clone(), hold_id, attempt_id, address };
        match self.submit(caller, hold).await {
            Ok(_) => Ok(held),
            Err(error) => {
                // When the ledger did not answer the hold may be there: giving back what is not there does nothing.
                if !matches!(error, DeliveryError::Meter(_)) {
                    held.was_never_opened();
                }
                Err(error)
            }
        }
    }

    /// What `HEAD` says about the order.
    pub async fn show(
        &self,
        caller: &Caller,
        order: &Order,
        if_none_match: Option<&str>,
    ) -> Result<Shown, DeliveryError> {
        let described = async {
            let rendered = self.pictures.rendered(order).await?;
            let described = match &rendered {
                Some(picture) => self.pictures.described(order, picture).await?,
                None => Described { framed: order.framed_in_advance(), etag: None, length: None },
            };
            Ok::<_, DeliveryError>((rendered.is_some(), described))
        };
        let (is_rendered, Described { framed, etag, length }) = match described.await {
            Ok(described) => described,
            Err(error) => return self.after_count(caller, error).await,
        };
        let not_modified = matches!((&etag, if_none_match), (Some(etag), Some(given)) if etag::matches(given, etag));
        let remaining = self.submit(caller, Charge::Read { account_id: caller.account_id.clone() }).await?;
        Ok(Shown { framed, is_rendered, etag, length, not_modified, remaining })
    }

    /// A request that failed before it was counted is counted all the same.
    pub(super) async fn after_count<T>(&self, caller: &Caller, error: DeliveryError) -> Result<T, DeliveryError> {
        self.count(caller).await?;
        Err(error)
    }

    /// Counts the request, unless that was done, and charges it in one entry. Gives the balance after it. The window
    /// that the request is counted in goes to the caller.
    pub(super) async fn submit(&self, caller: &Caller, charge: Charge) -> Result<Credits, DeliveryError> {
        let required = charge.asks();
        let count = (!caller.is_counted).then(|| RateCount {
            counted: caller.key_id.clone(),
            limit_per_minute: caller.rate_limit_per_minute,
            account_id: Some(caller.account_id.clone()),
            account_limit_per_minute: caller.account_limit_per_minute,
        });
        let capped_key_id = caller.is_capped.then(|| caller.key_id.clone());
        let metered = self.meter.submit(Entry { count, capped_key_id, charge }).await;
        if !caller.is_counted {
            caller.window.set(metered.as_ref().ok().and_then(|metered| metered.window));
        }
        balance_after(metered?, required)
    }

    /// Tries to release a hold; one that fails goes on beside its caller until the hold is past its time, when the sweeper releases it.
    async fn release(&self, hold_id: String) {
        let entry = Entry::uncounted(Charge::Release { hold_id });
        let Err(error) = self.meter.submit(entry.clone()).await else { return };
        tracing::warn!(error = &error as &dyn std::error::Error, "a hold could not be released yet");
        let meter = self.meter.clone();
        let tries = (self.render_wait.as_millis() as i64 + HOLD_MARGIN_MS) / RELEASE_AGAIN.as_millis() as i64;
        tokio::spawn(async move {
            for _ in 0..tries {
                tokio::time::sleep(RELEASE_AGAIN).await;
                match meter.submit(entry.clone()).await {
                    Ok(_) | Err(MeterError::Stopping) => return,
                    Err(_) => {}
                }
            }
        });
    }
}

fn balance_after(metered: Metered, required: Credits) -> Result<Credits, DeliveryError> {
    match (metered.outcome, metered.window) {
        (Outcome::Done { remaining }, _) => Ok(remaining.unwrap_or_default()),
        (Outcome::RateLimited { limit, of_account }, Some(window)) => {
            Err(DeliveryError::RateLimited { window, limit, of_account })
        }
        (Outcome::Insufficient { balance }, _) => Err(DeliveryError::Insufficient { balance, required }),
        (Outcome::OverCap { balance, cap, spent }, _) => {
            Err(DeliveryError::OverCap { balance, required, cap: KeyCap { cap, spent } })
        }
        (Outcome::HoldNotOpen | Outcome::DeliveryUrlClosed, _) => Err(DeliveryError::HoldLost),
        (Outcome::AttemptLost, _) => Err(DeliveryError::AttemptLost),
        (Outcome::UnknownAccount | Outcome::RateLimited { .. }, _) => Err(DeliveryError::NoLedger),
    }
}

/// What is recorded of a picture that is handed over.
pub(super) fn delivered(
    key_id: &str,
    request_id: &str,
    order: &Order,
    ready: &Ready,
    source: Source,
) -> ledger::Delivery {
    ledger::Delivery {
        key_id: key_id.to_owned(),
        request_id: request_id.to_owned(),
        about: order.words(),
        vehicle_key: order.variant.vehicle_key(),
        render_id: ready.picture.render_id.clone(),
        revision: ready.picture.revision,
        format: order.format,
        width: ready.framed.width,
        height: ready.framed.height,
        source,
    }
}

/// A hold that this request opens. However the request ends, dropping this gives the credits back unless they were settled.
struct Held {
    deliveries: Deliveries,
    hold_id: String,
    /// Of a named request.
    attempt_id: Option<String>,
    /// What it pays for beside the picture.
    address: Option<PaidAddress>,
}

impl Held {
    /// Nothing to give back.
    fn was_never_opened(mut self) {
        self.hold_id.clear();
    }

    /// Finds the bytes and settles, or releases: also when the client hangs up meanwhile.
    async fn settle_when_found(
        self,
        caller: &Caller,
        request_id: &str,
        order: &Order,
        bytes_max: Option<usize>,
        source: Source,
    ) -> Result<Delivered, DeliveryError> {
        let (mut answer, answered) = oneshot::channel();
        let (caller, request_id, order) = (caller.clone(), request_id.to_owned(), order.clone());
        let asker = Asker::account(Lane::Interactive, &caller.account_id);
        let finding = async move {
            let deliveries = self.deliveries.clone();
            let finding = async {
                let found = deliveries.pictures.obtain(&order, &asker).await?;
                deliveries.pictures.within(&order, found, bytes_max).await
            };
            let found = tokio::select! {
                found = finding => found,
                // The client has left: dropping the hold gives the credits back. The render goes on for a while, for whoever asks again.
                () = answer.closed() => {
                    if source == Source::Generated {
                        deliveries.abandoned.note(&caller.account_id, &order).await;
                    }
                    return;
                }
            };
            let ended = match found {
                Ok(ready) => self.settle(&caller, &request_id, &order, ready, source).await,
                Err(error) => Err((self, error)),
            };
            let (ended, entry_id) = match ended {
                Ok((delivered, entry_id)) => (Ok(delivered), entry_id),
                Err((held, error)) => {
                    // Made all the same, and not paid for.
                    if matches!(error, DeliveryError::NoPlace(_)) && source == Source::Generated {
                        deliveries.abandoned.note(&caller.account_id, &order).await;
                    }
                    held.release().await;
                    (Err(error), None)
                }
            };
            // The client left while the picture was paid.
            if let (Err(Ok(_)), Some(entry_id)) = (answer.send(ended), entry_id) {
                if source == Source::Generated {
                    deliveries.abandoned.note(&caller.account_id, &order).await;
                }
                deliveries.meter.give_back(entry_id);
            }
        };
        tokio::spawn(with_turn(current_turn(), Trace::current().around(finding)));
        answered.await.unwrap_or(Err(DeliveryError::HoldLost))
    }

    /// Keeps the credits; the entry that says so comes with the picture.
    async fn settle(
        mut self,
        caller: &Caller,
        request_id: &str,
        order: &Order,
        ready: Ready,
        source: Source,
    ) -> Result<(Delivered, Option<String>), (Self, DeliveryError)> {
        let delivery = delivered(&caller.key_id, request_id, order, &ready, source);
        let (keep, address) = match self.address.take() {
            None => (Told::to_keep(request_id, source, self.attempt_id.take()), None),
            Some(PaidAddress { url, answer }) => {
                let attempt_id = self.attempt_id.take();
                (attempt_id.map(|attempt_id| AnswerToKeep { attempt_id, answer }), Some(Box::new(url)))
            }
        };
        let charge = Charge::Settle { hold_id: self.hold_id.clone(), delivery, address, keep };
        let settled = self.deliveries.meter.submit(Entry::uncounted(charge)).await.map_err(DeliveryError::from);
        let settled = settled.and_then(|metered| {
            let entry_id = metered.entry_id.clone();
            Ok((balance_after(metered, Credits(0))?, entry_id))
        });
        match settled {
            Ok((remaining, entry_id)) => {
                self.hold_id.clear();
                Ok((Delivered::Image { ready, source, remaining }, entry_id))
            }
            Err(error) => Err((self, error)),
        }
    }

    /// Gives the credits back before the client is told.
    async fn release(mut self) {
        let hold_id = std::mem::take(&mut self.hold_id);
        self.deliveries.release(hold_id).await;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.hold_id.is_empty() {
            return;
        }
        let (deliveries, hold_id) = (self.deliveries.clone(), std::mem::take(&mut self.hold_id));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { deliveries.release(hold_id).await });
        }
    }
}
