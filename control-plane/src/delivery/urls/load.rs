//! Loading a signed URL, which is free: it was paid for when it was minted.
//!
//! The bytes are found first, and the load is counted last, right before they are sent: a failure
//! in between uses nothing up. Only when the very first load fails in the render is the URL closed,
//! and its credit given back.
//!
//!
//! Why: `docs/decisions/signed-urls.md` (What consumes a signed URL).

use super::super::charge::delivered;
use super::super::find::{ImageDescription, ReadyImage};
use super::super::framed::FramedImage;
use super::super::{AskedFormat, DeliveryError, etag};
use super::signed_url::{SignedUrl, SignedUrlSources, SignedUrls};
use crate::ledger::{Charge, ChargeOutcome, ImageSource, MeterAnswer, MeterRequest};
use crate::renders::{Lane, Requester};
use cyclorama_core::Format;
use cyclorama_drawings::{Likeness, likeness};
use std::borrow::Cow;
use std::sync::Arc;

/// The reasons for which a signed URL is not served. The first four are checked before the image is
/// looked up.
#[derive(Debug, thiserror::Error)]
pub enum LoadRefusal {
    /// The token was never signed by this service, or was changed on the way.
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

impl From<sqlx::Error> for LoadRefusal {
    fn from(error: sqlx::Error) -> Self {
        LoadRefusal::Delivery(error.into())
    }
}

/// The answer to a load of a signed URL.
#[derive(Debug)]
pub struct LoadedImage {
    pub etag: String,
    pub likeness: Likeness,
    pub format: Format,
    /// `None` if the client has these bytes already.
    pub framed: Option<FramedImage>,
    /// True if the format depends on the client's `Accept`.
    pub is_negotiated: bool,
    /// Seconds until the URL expires; `None` when its loads are counted and no cache may keep the
    /// answer.
    pub shareable_seconds: Option<i64>,
    /// `None` if the client has these bytes already.
    pub image: Option<(ReadyImage, ImageSource)>,
}

/// The answer to a `HEAD` request.
#[derive(Debug)]
pub struct UrlHeadAnswer {
    pub likeness: Likeness,
    pub format: Format,
    pub framed: Option<FramedImage>,
    pub is_negotiated: bool,
    pub is_rendered: bool,
    /// `Some` if the image exists.
    pub etag: Option<String>,
    /// Length of the bytes, where they are stored.
    pub length: Option<u64>,
    /// True if the client has these bytes already.
    pub not_modified: bool,
    pub shareable_seconds: Option<i64>,
}

impl SignedUrls {
    /// Checks a signed URL as a load would, without rendering and without counting. `accept` is the
    /// client's `Accept`, which is empty if the client sent none.
    pub async fn promise(
        &self,
        token: &str,
        if_none_match: Option<&str>,
        accept: &str,
    ) -> Result<UrlHeadAnswer, LoadRefusal> {
        let pictures = &self.sources.pictures;
        let address = self.checked(token).await?;
        let order = Cow::Borrowed(address.order.as_ref().ok_or(LoadRefusal::NoVehicle)?);
        let order = &*pictures.negotiated(order, accept).await?;
        let rendered = pictures.rendered(order).await?;
        let ImageDescription { framed, etag, length } = match &rendered {
            Some(picture) => pictures.described(order, picture).await?,
            None => ImageDescription { framed: order.framed_in_advance(), etag: None, length: None },
        };
        Ok(UrlHeadAnswer {
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

    /// Returns the image of a signed URL. `request_id` identifies this load where it is recorded.
    /// `accept` is the client's `Accept`, which is empty if the client sent none.
    pub async fn load(
        &self,
        token: &str,
        request_id: &str,
        if_none_match: Option<&str>,
        accept: &str,
    ) -> Result<LoadedImage, LoadRefusal> {
        let pictures = &self.sources.pictures;
        let address = self.checked(token).await?;
        let order = Cow::Borrowed(address.order.as_ref().ok_or(LoadRefusal::NoVehicle)?);
        let order = &*pictures.negotiated(order, accept).await?;
        let rendered = pictures.rendered(order).await?;
        let described = |etag: String, image: Option<(ReadyImage, ImageSource)>| LoadedImage {
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
            Some(picture) => (ImageSource::Cache, pictures.bytes(order, picture).await),
            None => {
                let requester = Requester::account(Lane::FirstLoad, &address.account_id);
                (ImageSource::Generated, pictures.find_or_render(order, &requester).await)
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
            // All requests that waited for one render arrive here at once. Those after the first
            // few find that the load is recorded already.
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
            if self.submit(charge).await?.outcome == ChargeOutcome::DeliveryUrlClosed {
                // Other loads were quicker, or the URL has expired: the row says which.
                self.checked(token).await?;
                return Err(LoadRefusal::Exhausted);
            }
        }
        Ok(described(ready.etag.clone(), Some((ready, source))))
    }

    /// Returns the signed URL of a token, if it may be loaded now.
    async fn checked(&self, token: &str) -> Result<Arc<SignedUrl>, LoadRefusal> {
        let SignedUrlSources { signing_keys, clock, .. } = &self.sources;
        let id = signing_keys.verify(token).await?.ok_or(LoadRefusal::Invalid)?;
        let address = self.find(id).await?.ok_or(LoadRefusal::Invalid)?;
        if address.key_revoked {
            return Err(LoadRefusal::KeyRevoked);
        }
        if address.expires_at <= clock.now() {
            return Err(LoadRefusal::Expired);
        }
        if address.consumed {
            return Err(LoadRefusal::Consumed);
        }
        if address.is_capped() && address.uses >= address.max_uses {
            return Err(LoadRefusal::Exhausted);
        }
        Ok(address)
    }

    fn shareable_seconds(&self, address: &SignedUrl) -> Option<i64> {
        let left_ms = address.expires_at.0 - self.sources.clock.now().0;
        (!address.is_capped()).then(|| (left_ms / 1000).max(0))
    }

    async fn submit(&self, charge: Charge) -> Result<MeterAnswer, DeliveryError> {
        Ok(self.sources.meter.submit(MeterRequest::uncounted(charge)).await?)
    }
}
