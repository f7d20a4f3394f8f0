//! What is delivered: one picture of a vehicle, in a format and a frame.

use super::framed::Framed;
use super::request::{self, AskedFormat, ImageRequest};
use crate::catalog::wanted::MissingVehicles;
use crate::catalog::{Catalog, Found, Matched, NotFound, VehicleId};
use cyclorama_core::{Format, Frame, Variant, Vehicle, VehicleKey};

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
    /// The format that the request names. For `auto`, `format` is one that every client reads, until
    /// `Pictures::negotiated` has looked at `Accept`.
    pub asked_format: AskedFormat,
    pub frame: Frame,
}

impl Order {
    /// The order of a request, if the catalog has its vehicle; what it does not have is counted among `names_missing`.
    pub fn find(catalog: &Catalog, names_missing: &MissingVehicles, request: &ImageRequest) -> Result<Self, NotFound> {
        let found = catalog.find_asked(&request.vehicle);
        let found = found.inspect_err(|missing| names_missing.count(&request.vehicle, missing))?;
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

    /// The order of a request that was kept with the catalog's slugs, if the catalog still has that very vehicle: a
    /// beginning of a name means nothing here, or an address of a model that is gone would show another one.
    pub fn stored(catalog: &Catalog, key: &VehicleKey, request: &ImageRequest) -> Option<Self> {
        let found = catalog.of_parts(&key.make, &key.model, key.body, key.year)?;
        Some(Self::new(found, request))
    }

    pub fn new(found: Found, request: &ImageRequest) -> Self {
        let Found { make, model, year, chosen_body: body, vehicle, matched, .. } = found;
        let variant = Variant::new(VehicleKey { make, model, body, year }, request.view, request.paint);
        let asked_format = request.format;
        Order { vehicle, variant, matched, format: asked_format.usual(), asked_format, frame: request.frame }
    }
}
