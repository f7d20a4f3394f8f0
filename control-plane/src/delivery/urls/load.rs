//! Loading a signed address. Free: it was paid when it was made.
//!
//! The bytes are found first and the load is counted last, right before they are sent: whatever fails on the way uses nothing up.
//! Only when the first load of all fails in the render is the address closed, and its credit given back.
//!
//! Why: `docs/decisions/signed-urls.md` (What consumes a signed URL).

use super::super::charge::delivered;
use super::super::find::{Described, Ready};
use super::super::framed::Framed;
use super::super::{AskedFormat, DeliveryError, etag};
use super::address::{Address, Addresses, Sources};
use crate::ledger::{Charge, Entry, Metered, Outcome, Source};
use crate::renders::{Asker, Lane};
use cyclorama_core::Format;
use cyclorama_drawings::{Likeness, likeness};
use std::borrow::Cow;
use std::sync::Arc;

/// Why an address is not served. The first four are said before anything is looked for.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Never signed by us, or changed on the way.
    #[error("the address is not one of ours")]
    Invalid,
    #[error("the address has expired")]
    Expired,
    #[error("the key that made the address was revoked")]
    KeyRevoked,
    #[error("the address was loaded as often as it may be")]
    Exhausted,
    /// Its first load failed and its credit was given back.
    #[error("the address was given up when its first load failed")]
    Consumed,
    #[error("the catalog no longer has the vehicle")]
    NoVehicle,
    #[error(transparent)]
    Delivery(#[from] DeliveryError),
}

impl From<sqlx::Error> for Refused {
    fn from(error: sqlx::Error) -> Self {
        Refused::Delivery(error.into())
    }
}

#[derive(Debug)]
pub struct Loaded {
    pub etag: String,
    pub likeness: Likeness,
    pub format: Format,
    /// `None`: the client has these bytes.
    pub framed: Option<Framed>,
    /// Whether the format depends on what the client takes.
    pub is_negotiated: bool,
    /// Seconds until the address expires; `None` when its loads are counted and nobody may keep the answer.
    pub shareable_seconds: Option<i64>,
    /// `None`: the client has these bytes.
    pub image: Option<(Ready, Source)>,
}

/// What `HEAD` is told.
#[derive(Debug)]
pub struct Promised {
    pub likeness: Likeness,
    pub format: Format,
    pub framed: Option<Framed>,
    pub is_negotiated: bool,
    pub is_rendered: bool,
    /// Given when the picture exists.
    pub etag: Option<String>,
    /// Of the bytes, where they are stored.
    pub length: Option<u64>,
    /// The client has these bytes.
    pub not_modified: bool,
    pub shareable_seconds: Option<i64>,
}

impl Addresses {
    /// Checks an address as a load would, without rendering and without counting. `accept` is the client's `Accept`,
    /// empty where it sent none.
    pub async fn promise(&self, token: &str, if_none_match: Option<&str>, accept: &str) -> Result<Promised, Refused> {
        let pictures = &self.sources.pictures;
        let address = self.checked(token).await?;
        let order = Cow::Borrowed(address.order.as_ref().ok_or(Refused::NoVehicle)?);
        let order = &*pictures.negotiated(order, accept).await?;
        let rendered = pictures.rendered(order).await?;
        let Described { framed, etag, length } = match &rendered {
            Some(picture) => pictures.described(order, picture).await?,
            None => Described { framed: order.framed_in_advance(), etag: None, length: None },
        };
        Ok(Promised {
            likeness: likeness(&order.vehicle),
            format: order.format,
            framed,
            is_negotiated: order.asked_format == AskedFormat::Auto,
            is_rendered: rendered.is_some(),
            not_modified: matches!((&etag, if_none_match), (Some(etag), Some(given)) if etag::matches(given, etag)),
            etag,
            length,
            shareable_seconds: self.shareable_seconds(&address),
        })
    }

    /// The picture of an address. `request_id` names this load where it is recorded. `accept` is the client's `Accept`,
    /// empty where there is none.
    pub async fn load(
        &self,
        token: &str,
        request_id: &str,
        if_none_match: Option<&str>,
        accept: &str,
    ) -> Result<Loaded, Refused> {
        let pictures = &self.sources.pictures;
        let address = self.checked(token).await?;
        let order = Cow::Borrowed(address.order.as_ref().ok_or(Refused::NoVehicle)?);
        let order = &*pictures.negotiated(order, accept).await?;
        let rendered = pictures.rendered(order).await?;
        let described = |etag: String, image: Option<(Ready, Source)>| Loaded {
            etag,
            likeness: likeness(&order.vehicle),
            format: order.format,
            framed: image.as_ref().map(|(ready, _)| ready.framed),
            is_negotiated: order.asked_format == AskedFormat::Auto,
            shareable_seconds: self.shareable_seconds(&address),
            image,
        };
        if let (Some(picture), Some(given)) = (&rendered, if_none_match) {
            let etag = pictures.etag(order, picture).await?;
            if let Some(etag) = etag.filter(|etag| etag::matches(given, etag)) {
                return Ok(described(etag, None));
            }
        }
        let (source, found) = match &rendered {
            Some(picture) => (Source::Cache, pictures.bytes(order, picture).await),
            None => {
                let asker = Asker::account(Lane::FirstLoad, &address.account_id);
                (Source::Generated, pictures.obtain(order, &asker).await)
            }
        };
        let ready = match found {
            Ok(ready) => ready,
            Err(error) => {
                if error.is_failed_render() && !address.was_loaded() {
                    self.submit(Charge::Refund { delivery_url_id: address.id.to_string() }).await?;
                }
                return Err(error.into());
            }
        };
        if address.is_capped() || !address.was_loaded() {
            // Everybody who has waited for one render comes at once: those after the first few find that it is recorded already.
            let _place = self.recording.acquire().await.ok();
            let address = match &rendered {
                Some(_) => address.clone(),
                None => self.checked(token).await?,
            };
            if address.was_loaded() && !address.is_capped() {
                return Ok(described(ready.etag.clone(), Some((ready, source))));
            }
            let delivery = delivered(&address.key_id, request_id, order, &ready, source);
            let charge = Charge::Load { delivery_url_id: address.id.to_string(), delivery };
            if self.submit(charge).await?.outcome == Outcome::DeliveryUrlClosed {
                // Others were quicker, or the time is up: the row says which.
                self.checked(token).await?;
                return Err(Refused::Exhausted);
            }
        }
        Ok(described(ready.etag.clone(), Some((ready, source))))
    }

    /// The address of a token that may be loaded now.
    async fn checked(&self, token: &str) -> Result<Arc<Address>, Refused> {
        let Sources { signing_keys, clock, .. } = &self.sources;
        let id = signing_keys.verify(token).await?.ok_or(Refused::Invalid)?;
        let address = self.find(id).await?.ok_or(Refused::Invalid)?;
        if address.key_revoked {
            return Err(Refused::KeyRevoked);
        }
        if address.expires_at <= clock.now() {
            return Err(Refused::Expired);
        }
        if address.consumed {
            return Err(Refused::Consumed);
        }
        if address.is_capped() && address.uses >= address.max_uses {
            return Err(Refused::Exhausted);
        }
        Ok(address)
    }

    fn shareable_seconds(&self, address: &Address) -> Option<i64> {
        let left_ms = address.expires_at.0 - self.sources.clock.now().0;
        (!address.is_capped()).then(|| (left_ms / 1000).max(0))
    }

    async fn submit(&self, charge: Charge) -> Result<Metered, DeliveryError> {
        Ok(self.sources.meter.submit(Entry::uncounted(charge)).await?)
    }
}
