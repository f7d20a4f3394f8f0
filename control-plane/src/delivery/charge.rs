//! Delivery of an image to an API key: the request is counted, charged exactly when the image is
//! delivered, and given its credit back when it is not.
//!
//! An image whose bytes are in memory is counted, charged and recorded in one entry of the meter.
//! For any other image a credit is held first. The hold is settled or released at the end by a task
//! that outlives a client that disconnects.

use super::abandoned::AbandonedImages;
use super::find::{ImageDescription, Images, ReadyImage};
use super::framed::FramedImage;
use super::{DeliveryError, Order, etag};
use crate::accounts::caller::Caller;
use crate::clock::Clock;
use crate::ledger::idempotency::Attempt;
use crate::ledger::{
    self, AnswerToKeep, Charge, ChargeOutcome, Credits, ImageSource, KeyCap, Meter, MeterAnswer, MeterError,
    MeterRequest, NewDeliveryUrl, RateCount,
};
use crate::renders::{Lane, Requester};
use crate::turns::waiting::{current_turn, with_turn};
use cyclorama_core::traces::Trace;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::sync::oneshot;

/// Time after the longest wait for a render at which a hold expires, in milliseconds: no request
/// needs an older hold.
const HOLD_MARGIN_MS: i64 = 60_000;

/// Pause between two attempts to release a hold while the ledger cannot be written.
const RELEASE_AGAIN: Duration = Duration::from_secs(1);

/// A request of a key for one image, with its conditions.
#[derive(Debug, Clone)]
pub struct KeyedRequest<'a> {
    pub order: &'a Order,
    /// The client's `If-None-Match`: validators of the bytes that it has.
    pub if_none_match: Option<&'a str>,
    /// Maximum size in bytes: a larger image is replaced by a smaller copy before it is charged.
    pub bytes_max: Option<usize>,
    /// The attempt of a request with an idempotency key; its answer is stored with its charge.
    pub attempt: Option<&'a Attempt>,
    /// A signed URL that the same credit pays for.
    pub address: Option<PaidUrl>,
}

impl<'a> KeyedRequest<'a> {
    /// Returns a request for the image and nothing else.
    pub fn for_order(order: &'a Order) -> Self {
        KeyedRequest { order, if_none_match: None, bytes_max: None, attempt: None, address: None }
    }
}

/// A signed URL that becomes valid once the image beside it is paid for.
#[derive(Debug, Clone)]
pub struct PaidUrl {
    pub url: NewDeliveryUrl,
    /// The answer to a request with an idempotency key, as JSON.
    pub answer: String,
}

/// The outcome of a request for an image.
#[derive(Debug)]
pub enum DeliveryOutcome {
    Image {
        ready: ReadyImage,
        source: ImageSource,
        remaining: Credits,
    },
    /// The client has these bytes already; free.
    NotModified {
        etag: String,
        remaining: Credits,
    },
}

/// The stored part of the answer to a request for an image with an idempotency key. The image's
/// bytes are not stored with it; they are found again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayedAnswer {
    pub request_id: String,
    pub source: ImageSource,
}

impl ReplayedAnswer {
    fn to_keep(request_id: &str, source: ImageSource, attempt_id: Option<String>) -> Option<AnswerToKeep> {
        let told = ReplayedAnswer { request_id: request_id.to_owned(), source };
        let answer = serde_json::to_string(&told).unwrap_or_default();
        attempt_id.map(|attempt_id| AnswerToKeep { attempt_id, answer })
    }
}

/// The answer to a HEAD request; it is free, and never renders.
#[derive(Debug)]
pub struct HeadAnswer {
    /// `None` where the size depends on the image and the image does not exist.
    pub framed: Option<FramedImage>,
    pub is_rendered: bool,
    /// `Some` if the image exists.
    pub etag: Option<String>,
    /// Length of the bytes, where they are stored.
    pub length: Option<u64>,
    pub not_modified: bool,
    pub remaining: Credits,
}

/// Delivers images to holders of keys: counts, charges and finds them, and gives the credit back
/// for images that are not delivered. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Deliveries {
    pictures: Images,
    abandoned: AbandonedImages,
    meter: Meter,
    clock: Clock,
    /// The longest wait for a render.
    render_wait: Duration,
}

impl Deliveries {
    /// Creates the deliveries of images that `pictures` finds, charged with `meter`. `render_wait`
    /// is the longest wait for a render.
    pub fn new(
        pictures: Images,
        abandoned: AbandonedImages,
        meter: Meter,
        clock: Clock,
        render_wait: Duration,
    ) -> Self {
        Deliveries { pictures, abandoned, meter, clock, render_wait }
    }

    /// Counts a request that ends before anything could be charged.
    pub async fn count(&self, caller: &Caller) -> Result<(), DeliveryError> {
        match caller.is_counted {
            true => Ok(()),
            false => self.submit(caller, Charge::Nothing).await.map(drop),
        }
    }

    /// Delivers the order's bytes to the caller and charges one credit. Everything that can fail
    /// happens before the credit is debited: bytes that are not in memory are found while the
    /// credit is held, and a signed URL beside them becomes valid in the transaction that settles
    /// the hold.
    ///
    /// Fails with [`DeliveryError`] if the request is over a rate limit, the balance or a cap does
    /// not cover the credit, or the image cannot be made or read. Then nothing is charged.
    pub async fn deliver(
        &self,
        caller: &Caller,
        request_id: &str,
        asked: KeyedRequest<'_>,
    ) -> Result<DeliveryOutcome, DeliveryError> {
        let KeyedRequest { order, if_none_match, bytes_max, attempt, address } = asked;
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
                    return Ok(DeliveryOutcome::NotModified { etag, remaining });
                }
            }
            let fits = |ready: &ReadyImage| bytes_max.is_none_or(|bytes_max| ready.bytes.len() <= bytes_max);
            if address.is_none()
                && let Some(ready) = self.pictures.at_hand(order, picture).await.filter(fits)
            {
                let charge = Charge::Debit {
                    account_id: caller.account_id.clone(),
                    credits: Credits::PER_PICTURE,
                    delivery: delivered(&caller.key_id, request_id, order, &ready, ImageSource::Cache),
                    keep: ReplayedAnswer::to_keep(request_id, ImageSource::Cache, attempt_id),
                };
                let remaining = self.submit(caller, charge).await?;
                return Ok(DeliveryOutcome::Image { ready, source: ImageSource::Cache, remaining });
            }
        }
        let source = if rendered.is_some() { ImageSource::Cache } else { ImageSource::Generated };
        if source == ImageSource::Generated
            && let Err(error) = self.abandoned.refuse_too_many(&caller.account_id, order).await
        {
            return self.after_count(caller, error).await;
        }
        let held = self.hold(caller, attempt_id, address).await?;
        held.settle_when_found(caller, request_id, order, bytes_max, source).await
    }

    /// Holds the credit of an image that is about to be found.
    async fn hold(
        &self,
        caller: &Caller,
        attempt_id: Option<String>,
        address: Option<PaidUrl>,
    ) -> Result<Hold, DeliveryError> {
        let hold_id = uuid::Uuid::now_v7().to_string();
        let hold = Charge::Hold {
            account_id: caller.account_id.clone(),
            credits: Credits::PER_PICTURE,
            hold_id: hold_id.clone(),
            expires_at_ms: self.clock.now().0 + self.render_wait.as_millis() as i64 + HOLD_MARGIN_MS,
        };
        let held = Hold { deliveries: self.clone(), hold_id, attempt_id, address };
        match self.submit(caller, hold).await {
            Ok(_) => Ok(held),
            Err(error) => {
                // When the ledger did not answer, the hold may exist. Releasing a hold that does
                // not exist has no effect.
                if !matches!(error, DeliveryError::Meter(_)) {
                    held.was_never_opened();
                }
                Err(error)
            }
        }
    }

    /// Returns the answer to a `HEAD` request for the order.
    pub async fn show(
        &self,
        caller: &Caller,
        order: &Order,
        if_none_match: Option<&str>,
    ) -> Result<HeadAnswer, DeliveryError> {
        let described = async {
            let rendered = self.pictures.rendered(order).await?;
            let described = match &rendered {
                Some(picture) => self.pictures.described(order, picture).await?,
                None => ImageDescription { framed: order.framed_in_advance(), etag: None, length: None },
            };
            Ok::<_, DeliveryError>((rendered.is_some(), described))
        };
        let (is_rendered, ImageDescription { framed, etag, length }) = match described.await {
            Ok(described) => described,
            Err(error) => return self.after_count(caller, error).await,
        };
        let not_modified = matches!((&etag, if_none_match), (Some(etag), Some(given)) if etag::matches(given, etag));
        let remaining = self.submit(caller, Charge::Read { account_id: caller.account_id.clone() }).await?;
        Ok(HeadAnswer { framed, is_rendered, etag, length, not_modified, remaining })
    }

    /// Counts a request that failed before it was counted, and returns its error.
    pub(super) async fn after_count<T>(&self, caller: &Caller, error: DeliveryError) -> Result<T, DeliveryError> {
        self.count(caller).await?;
        Err(error)
    }

    /// Counts the request, unless that was done already, and charges it in one entry. Returns the
    /// balance after it. Stores the rate limit's window that the request is counted in with the
    /// caller.
    pub(super) async fn submit(&self, caller: &Caller, charge: Charge) -> Result<Credits, DeliveryError> {
        let required = charge.asks();
        let count = (!caller.is_counted).then(|| RateCount {
            counted: caller.key_id.clone(),
            limit_per_minute: caller.rate_limit_per_minute,
            account_id: Some(caller.account_id.clone()),
            account_limit_per_minute: caller.account_limit_per_minute,
        });
        let capped_key_id = caller.is_capped.then(|| caller.key_id.clone());
        let metered = self.meter.submit(MeterRequest { count, capped_key_id, charge }).await;
        if !caller.is_counted {
            caller.window.set(metered.as_ref().ok().and_then(|metered| metered.window));
        }
        balance_after(metered?, required)
    }

    /// Tries to release a hold. If that fails, a task repeats it until the hold expires; then the
    /// sweeper releases it.
    async fn release(&self, hold_id: String) {
        let entry = MeterRequest::uncounted(Charge::Release { hold_id });
        let Err(error) = self.meter.submit(entry.clone()).await else { return };
        tracing::warn!(error = &error as &dyn std::error::Error, "a hold could not be released; it is retried");
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

fn balance_after(metered: MeterAnswer, required: Credits) -> Result<Credits, DeliveryError> {
    match (metered.outcome, metered.window) {
        (ChargeOutcome::Done { remaining }, _) => Ok(remaining.unwrap_or_default()),
        (ChargeOutcome::RateLimited { limit, of_account }, Some(window)) => {
            Err(DeliveryError::RateLimited { window, limit, of_account })
        }
        (ChargeOutcome::Insufficient { balance }, _) => Err(DeliveryError::Insufficient { balance, required }),
        (ChargeOutcome::OverCap { balance, cap, spent }, _) => {
            Err(DeliveryError::OverCap { balance, required, cap: KeyCap { cap, spent } })
        }
        (ChargeOutcome::HoldNotOpen | ChargeOutcome::DeliveryUrlClosed, _) => Err(DeliveryError::HoldLost),
        (ChargeOutcome::AttemptLost, _) => Err(DeliveryError::AttemptLost),
        (ChargeOutcome::UnknownAccount | ChargeOutcome::RateLimited { .. }, _) => Err(DeliveryError::NoLedger),
    }
}

/// Returns the record of an image that is delivered.
pub(super) fn delivered(
    key_id: &str,
    request_id: &str,
    order: &Order,
    ready: &ReadyImage,
    source: ImageSource,
) -> ledger::DeliveryRecord {
    ledger::DeliveryRecord {
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

/// A hold that this request opens. However the request ends, dropping the value gives the credits
/// back unless they were settled.
struct Hold {
    deliveries: Deliveries,
    hold_id: String,
    /// The attempt of a request with an idempotency key.
    attempt_id: Option<String>,
    /// The signed URL that the hold pays for beside the image.
    address: Option<PaidUrl>,
}

impl Hold {
    /// Drops the value without releasing a hold.
    fn was_never_opened(mut self) {
        self.hold_id.clear();
    }

    /// Finds the bytes and settles the hold, or releases it if that fails. It does so also when the
    /// client disconnects meanwhile.
    async fn settle_when_found(
        self,
        caller: &Caller,
        request_id: &str,
        order: &Order,
        bytes_max: Option<usize>,
        source: ImageSource,
    ) -> Result<DeliveryOutcome, DeliveryError> {
        let (mut answer, answered) = oneshot::channel();
        let (caller, request_id, order) = (caller.clone(), request_id.to_owned(), order.clone());
        let requester = Requester::account(Lane::Interactive, &caller.account_id);
        let finding = async move {
            let deliveries = self.deliveries.clone();
            let finding = async {
                let found = deliveries.pictures.find_or_render(&order, &requester).await?;
                deliveries.pictures.within(&order, found, bytes_max).await
            };
            let found = tokio::select! {
                found = finding => found,
                // The client has left: dropping the hold gives the credits back. The render goes on
                // for a while, for a client that repeats the request.
                () = answer.closed() => {
                    if source == ImageSource::Generated {
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
                    // The image was made all the same, and is not paid for.
                    if matches!(error, DeliveryError::NoPlace(_)) && source == ImageSource::Generated {
                        deliveries.abandoned.note(&caller.account_id, &order).await;
                    }
                    held.release().await;
                    (Err(error), None)
                }
            };
            // The client left while the image was being paid for.
            if let (Err(Ok(_)), Some(entry_id)) = (answer.send(ended), entry_id) {
                if source == ImageSource::Generated {
                    deliveries.abandoned.note(&caller.account_id, &order).await;
                }
                deliveries.meter.give_back(entry_id);
            }
        };
        tokio::spawn(with_turn(current_turn(), Trace::current().around(finding)));
        answered.await.unwrap_or(Err(DeliveryError::HoldLost))
    }

    /// Settles the hold, which debits the credits. Returns the image and the id of the debit's
    /// entry.
    async fn settle(
        mut self,
        caller: &Caller,
        request_id: &str,
        order: &Order,
        ready: ReadyImage,
        source: ImageSource,
    ) -> Result<(DeliveryOutcome, Option<String>), (Self, DeliveryError)> {
        let delivery = delivered(&caller.key_id, request_id, order, &ready, source);
        let (keep, address) = match self.address.take() {
            None => (ReplayedAnswer::to_keep(request_id, source, self.attempt_id.take()), None),
            Some(PaidUrl { url, answer }) => {
                let attempt_id = self.attempt_id.take();
                (attempt_id.map(|attempt_id| AnswerToKeep { attempt_id, answer }), Some(Box::new(url)))
            }
        };
        let charge = Charge::Settle { hold_id: self.hold_id.clone(), delivery, address, keep };
        let settled = self.deliveries.meter.submit(MeterRequest::uncounted(charge)).await.map_err(DeliveryError::from);
        let settled = settled.and_then(|metered| {
            let entry_id = metered.entry_id.clone();
            Ok((balance_after(metered, Credits(0))?, entry_id))
        });
        match settled {
            Ok((remaining, entry_id)) => {
                self.hold_id.clear();
                Ok((DeliveryOutcome::Image { ready, source, remaining }, entry_id))
            }
            Err(error) => Err((self, error)),
        }
    }

    /// Gives the credits back before the client gets its answer.
    async fn release(mut self) {
        let hold_id = std::mem::take(&mut self.hold_id);
        self.deliveries.release(hold_id).await;
    }
}

impl Drop for Hold {
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
