//! An order: one image of a vehicle, in a format and a framing.

use super::framed::FramedImage;
use super::request::{self, AskedFormat, ImageRequest};
use crate::catalog::wanted::MissingVehicles;
use crate::catalog::{Catalog, Found, NameMatch, NotFound, VehicleId};
use cyclorama_core::{Format, Framing, Variant, Vehicle, VehicleKey};

/// One image of a vehicle that the catalog has.
#[derive(Debug, Clone)]
pub struct Order {
    /// The vehicle that is drawn. It is of another catalog row than the named one if that row lists
    /// the body as a model of its own.
    pub vehicle: Vehicle,
    /// The variant as it was requested.
    pub variant: Variant,
    /// How the vehicle's name in the request was matched.
    pub matched: NameMatch,
    /// The format of the bytes that are delivered.
    pub format: Format,
    /// The format that the request names. For `auto`, `format` is one that every client reads,
    /// until `Images::negotiated` has evaluated `Accept`.
    pub asked_format: AskedFormat,
    pub frame: Framing,
}

impl Order {
    /// Returns the order of a request if the catalog has its vehicle. Otherwise fails with
    /// [`NotFound`] and counts the vehicle in `names_missing`.
    pub fn find(catalog: &Catalog, names_missing: &MissingVehicles, request: &ImageRequest) -> Result<Self, NotFound> {
        let found = catalog.find_asked(&request.vehicle);
        let found = found.inspect_err(|missing| names_missing.count(&request.vehicle, missing))?;
        Ok(Self::new(found, request))
    }

    /// Returns the permanent id of the make, model and body that were requested.
    pub fn vehicle_id(&self) -> VehicleId {
        VehicleId::of(&self.variant.make, &self.variant.model, self.vehicle.body)
    }

    /// Returns the request in one canonical spelling: equal for orders of the same bytes that get
    /// the same answer.
    pub fn meaning(&self) -> serde_json::Value {
        let Variant { make, model, year, body, view, paint } = &self.variant;
        let Framing { width, height, .. } = &self.frame;
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

    /// Returns a description of the image for people, as on a statement.
    pub fn words(&self) -> String {
        let mut words = self.variant.words();
        for (name, value) in request::frame_pairs(&self.frame) {
            words.push_str(&format!(", {name} {value}"));
        }
        words
    }

    /// Returns the size of the image, if it does not depend on the image.
    pub fn framed_in_advance(&self) -> Option<FramedImage> {
        let (width, height) = self.frame.size_px();
        self.frame.has_known_size().then_some(FramedImage { width, height, scale_mm_per_px: None })
    }

    /// Returns the order of a request that was stored with the catalog's slugs, if the catalog
    /// still has that very vehicle. A prefix of a name does not match here, or a URL of a model
    /// that is gone would show another one.
    pub fn stored(catalog: &Catalog, key: &VehicleKey, request: &ImageRequest) -> Option<Self> {
        let found = catalog.of_parts(&key.make, &key.model, key.body, key.year)?;
        Some(Self::new(found, request))
    }

    /// Returns the order of a request for the catalog's vehicle `found`.
    pub fn new(found: Found, request: &ImageRequest) -> Self {
        let Found { make, model, year, chosen_body: body, vehicle, matched, .. } = found;
        let variant = Variant::new(VehicleKey { make, model, body, year }, request.view, request.paint);
        let asked_format = request.format;
        Order { vehicle, variant, matched, format: asked_format.usual(), asked_format, frame: request.frame }
    }
}
