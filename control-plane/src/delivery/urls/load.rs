//! Loading a signed address. Free: it was paid when it was made.
//!
//! The bytes are found first and the load is counted last, right before they are sent: whatever fails on the way uses nothing up.
//! Only when the first load of all fails in the render is the address closed, and its credit given back.

use super::super::charge::delivered;
use super::super::find::{Described, Framed, Ready, obtain};
use super::super::{AskedFormat, DeliveryError, etag, negotiated};
use super::Address;
use crate::app::App;
use crate::ledger::{Charge, Entry, Metered, Outcome, Source};
use crate::renders::{Asker, Lane};
use axum::http::HeaderMap;
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

/// Checks an address as a load would, without rendering and without counting.
pub async fn promise(
    app: &App,
    token: &str,
    if_none_match: Option<&str>,
    headers: &HeaderMap,
) -> Result<Promised, Refused> {
    let address = find(app, token).await?;
    let order = Cow::Borrowed(address.order.as_ref().ok_or(Refused::NoVehicle)?);
    let order = &*negotiated(app, order, headers).await?;
    let rendered = app.pictures.rendered(app, order).await?;
    let Described { framed, etag, length } = match &rendered {
        Some(picture) => app.pictures.described(order, picture).await?,
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
        shareable_seconds: shareable_seconds(app, &address),
    })
}

/// The picture of an address. `request_id` names this load where it is recorded.
/// `headers` are the client's, where there is one.
pub async fn load(
    app: &App,
    token: &str,
    request_id: &str,
    if_none_match: Option<&str>,
    headers: &HeaderMap,
) -> Result<Loaded, Refused> {
    let address = find(app, token).await?;
    let order = Cow::Borrowed(address.order.as_ref().ok_or(Refused::NoVehicle)?);
    let order = &*negotiated(app, order, headers).await?;
    let rendered = app.pictures.rendered(app, order).await?;
    let described = |etag: String, image: Option<(Ready, Source)>| Loaded {
        etag,
        likeness: likeness(&order.vehicle),
        format: order.format,
        framed: image.as_ref().map(|(ready, _)| ready.framed),
        is_negotiated: order.asked_format == AskedFormat::Auto,
        shareable_seconds: shareable_seconds(app, &address),
        image,
    };
    if let (Some(picture), Some(given)) = (&rendered, if_none_match) {
        let etag = app.pictures.etag(order, picture).await?;
        if let Some(etag) = etag.filter(|etag| etag::matches(given, etag)) {
            return Ok(described(etag, None));
        }
    }
    let (source, found) = match &rendered {
        Some(picture) => (Source::Cache, app.pictures.bytes(order, picture).await),
        None => {
            let asker = Asker::account(Lane::FirstLoad, &address.account_id);
            (Source::Generated, obtain(app, order, &asker).await)
        }
    };
    let ready = match found {
        Ok(ready) => ready,
        Err(error) => {
            if error.is_failed_render() && !address.was_loaded() {
                let charge = Charge::Refund { delivery_url_id: address.id.to_string() };
                submit(app, charge).await?;
            }
            return Err(error.into());
        }
    };
    if address.is_capped() || !address.was_loaded() {
        // Everybody who has waited for one render comes at once: those after the first few find that it is recorded already.
        let _place = app.addresses.recording.acquire().await.ok();
        let address = match &rendered {
            Some(_) => address.clone(),
            None => find(app, token).await?,
        };
        if address.was_loaded() && !address.is_capped() {
            return Ok(described(ready.etag.clone(), Some((ready, source))));
        }
        let delivery = delivered(&address.key_id, request_id, order, &ready, source);
        let charge = Charge::Load { delivery_url_id: address.id.to_string(), delivery };
        if submit(app, charge).await?.outcome == Outcome::DeliveryUrlClosed {
            // Others were quicker, or the time is up: the row says which.
            find(app, token).await?;
            return Err(Refused::Exhausted);
        }
    }
    Ok(described(ready.etag.clone(), Some((ready, source))))
}

async fn find(app: &App, token: &str) -> Result<Arc<Address>, Refused> {
    let id = app.signing_keys.verify(token).await?.ok_or(Refused::Invalid)?;
    let address = app.addresses.find(app, id).await?.ok_or(Refused::Invalid)?;
    if address.key_revoked {
        return Err(Refused::KeyRevoked);
    }
    if address.expires_at <= app.clock.now() {
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

fn shareable_seconds(app: &App, address: &Address) -> Option<i64> {
    (!address.is_capped()).then(|| ((address.expires_at.0 - app.clock.now().0) / 1000).max(0))
}

async fn submit(app: &App, charge: Charge) -> Result<Metered, DeliveryError> {
    Ok(app.meter.submit(Entry::uncounted(charge)).await?)
}
