//! From a request for a picture to its bytes: what was asked, what it costs, where the bytes are found.
//!
//! The order is: authenticate, rate-limit, parse and validate, catalog, conditional, charge, find bytes, answer. The first four are
//! the handler's; how credits move is `ledger`'s, how a picture comes to exist `renders`'.

mod abandoned;
mod charge;
#[cfg_attr(not(feature = "content-credentials"), path = "credentials_absent.rs")]
pub mod credentials;
mod encoders;
mod etag;
mod examples;
mod find;
mod looks;
mod negotiation;
mod new_paints;
pub mod partner;
pub mod request;
pub mod sizes;
pub mod tracking;
pub mod urls;

pub use charge::{Asked, Delivered, Shown, Told, count, deliver, show};
pub use etag::{matches as etag_matches, of_bytes as etag_of_bytes};
pub use examples::{Example, Examples, is_rendered};
pub use find::{
    Described, Framed, Pictures, Ready, example, for_partner, found_for_free, made_for_free, ready, ready_within,
    rendered,
};
pub use looks::{drawn, home_ahead, kept_variant};
pub use negotiation::negotiated;
pub use request::{AskedFormat, BadParameter, Endpoint, ImageRequest, ResponseKind};

use crate::app::App;
use crate::catalog::{Catalog, Found, Matched, NotFound, VehicleId};
use crate::clock::UnixMs;
use crate::ledger::{Credits, KeyCap, MeterError, Window};
use crate::objects::ObjectError;
use crate::plural;
use crate::renders::RenderError;
use crate::turns::waiting::NoPlace;
use credentials::CredentialsError;
use cyclorama_core::encoding::EncodingError;
use cyclorama_core::wire::FailureKind;
use cyclorama_core::{Format, Frame, Variant, Vehicle, VehicleKey};
use std::sync::Arc;

/// One picture of a vehicle that the catalog has.
#[derive(Debug, Clone)]
pub struct Order {
    /// What is drawn: of another row than the one that was named where that lists the body as a model of its own.
    pub vehicle: Vehicle,
    /// As it was asked for.
    pub variant: Variant,
    /// How the words of the request were read as a name.
    pub matched: Matched,
    /// The format of the bytes that are delivered.
    pub format: Format,
    /// The format that the request names. For `auto`, `format` is one that every client reads, until [`negotiated`] has looked at `Accept`.
    pub asked_format: AskedFormat,
    pub frame: Frame,
}

impl Order {
    /// The order of a request, if the catalog has its vehicle; what it does not have is counted.
    pub fn find(app: &App, request: &ImageRequest) -> Result<Self, NotFound> {
        let found = app.catalog.now().find_asked(&request.vehicle);
        let found = found.inspect_err(|missing| app.missing_vehicles.count(&request.vehicle, missing))?;
        Ok(Self::new(found, request))
    }

    /// The permanent id of the make, model and body that were asked for.
    pub fn vehicle_id(&self) -> VehicleId {
        VehicleId::of(&self.variant.make, &self.variant.model, self.vehicle.body)
    }

    /// What is asked for, in one spelling: equal for orders of the same bytes that are answered alike.
    pub fn meaning(&self) -> serde_json::Value {
        let Variant { make, model, year, body, view, paint } = &self.variant;
        let Frame { width, height, .. } = &self.frame;
        let mut meaning = serde_json::json!({
            "make": make, "model": model, "year": year, "view": view.as_str(), "color": paint.color(),
            "format": self.asked_format.as_str(), "width": width, "height": height, "side": self.frame.square_side_px(),
        });
        if let Some(body) = body {
            meaning["body"] = body.as_str().into();
        }
        for (name, value) in request::added_pairs(&self.frame, paint) {
            meaning[name] = value.into();
        }
        meaning
    }

    /// As people are told what it was, on a statement.
    pub fn words(&self) -> String {
        let mut words = self.variant.words();
        for (name, value) in request::frame_pairs(&self.frame) {
            words.push_str(&format!(", {name} {value}"));
        }
        words
    }

    /// The size of the picture, where it does not depend on the picture.
    pub fn framed_in_advance(&self) -> Option<Framed> {
        let (width, height) = self.frame.size_px();
        self.frame.has_known_size().then_some(Framed { width, height, scale_mm_per_px: None })
    }

    /// The order of a request that was kept with the catalog's slugs, if the catalog still has that very vehicle: a beginning of a name means
    /// nothing here, or an address of a model that is gone would show another one.
    pub fn stored(catalog: &Catalog, key: &VehicleKey, request: &ImageRequest) -> Option<Self> {
        let found = catalog.of_parts(&key.make, &key.model, key.body, key.year)?;
        Some(Self::new(found, request))
    }

    pub fn new(found: Found, request: &ImageRequest) -> Self {
        let Found { make, model, year, chosen_body: body, vehicle, matched, .. } = found;
        let variant = Variant { make, model, year, body, view: request.view, paint: request.paint };
        let asked_format = request.format;
        Order { vehicle, variant, matched, format: asked_format.usual(), asked_format, frame: request.frame }
    }
}

/// Why there is no picture. Nothing was charged, or what was charged has been given back.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DeliveryError {
    #[error("the window of the key or its account is full")]
    RateLimited { window: Window, limit: i64, of_account: bool },
    #[error("the balance does not cover {}", plural::count(required.0, "credit"))]
    Insufficient { balance: Credits, required: Credits },
    #[error("the key's cap of the month does not cover {}", plural::count(required.0, "credit"))]
    OverCap { balance: Credits, required: Credits, cap: KeyCap },
    #[error("{} of the account were left unpaid today", plural::count(*abandoned, "new picture"))]
    TooManyAbandoned { abandoned: i64, reset_at: UnixMs },
    #[error("the account has had {} made today", plural::count(*paints, "new paint"))]
    TooManyPaints { paints: i64, reset_at: UnixMs },
    #[error("the key's account has no ledger")]
    NoLedger,
    #[error("the picture came after its hold was given back")]
    HoldLost,
    #[error("another attempt at the named request was quicker")]
    AttemptLost,
    #[error(transparent)]
    Render(#[from] RenderError),
    #[error("the stored picture cannot be read")]
    Store(#[source] Arc<ObjectError>),
    #[error("the picture cannot be encoded")]
    Encoding(#[source] Arc<EncodingError>),
    #[error("the picture's credentials cannot be signed")]
    Credentials(#[source] Arc<CredentialsError>),
    /// There is more work for nobody's credit than there are places for it.
    #[error("too many free pictures are being made")]
    FreeWorkFull,
    #[error(transparent)]
    NoPlace(#[from] NoPlace),
    #[error("the ledger does not answer")]
    Meter(#[from] MeterError),
    #[error("the database does not answer")]
    Database(#[source] Arc<sqlx::Error>),
}

impl DeliveryError {
    /// The picture itself could not be made. Trouble with storing it, or with capacity, is not the picture's.
    pub fn is_failed_render(&self) -> bool {
        matches!(self, DeliveryError::Render(RenderError::Failed { kind, .. }) if kind != FailureKind::Upload.as_str())
    }
}

impl From<sqlx::Error> for DeliveryError {
    fn from(error: sqlx::Error) -> Self {
        DeliveryError::Database(Arc::new(error))
    }
}
