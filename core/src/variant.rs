//! A variant: a vehicle in one view and one paint, the unit that has one render.

use crate::{BodyClass, Paint, VehicleKey, View};
use serde::{Deserialize, Serialize};

/// A vehicle in one view and one paint. Make and model are slugs of the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Variant {
    pub make: String,
    pub model: String,
    pub year: u16,
    /// A body that the model does not usually have in that year; `None` for the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<BodyClass>,
    pub view: View,
    #[serde(rename = "color")]
    pub paint: Paint,
}

impl Variant {
    /// Combines a vehicle with a view and a paint.
    pub fn new(key: VehicleKey, view: View, paint: Paint) -> Self {
        let VehicleKey { make, model, body, year } = key;
        Variant { make, model, year, body, view, paint }
    }

    /// Returns the description of the variant that a statement prints for people.
    pub fn words(&self) -> String {
        format!("{}, {}, {}", self.vehicle_key(), self.view, self.paint)
    }

    /// Returns the text form of the variant's [`VehicleKey`].
    pub fn vehicle_key(&self) -> String {
        self.key().to_string()
    }

    pub fn key(&self) -> VehicleKey {
        VehicleKey { make: self.make.clone(), model: self.model.clone(), body: self.body, year: self.year }
    }

    /// Returns the variant of another vehicle in the same view and paint.
    pub fn of_vehicle(&self, key: VehicleKey) -> Self {
        Variant::new(key, self.view, self.paint)
    }
}
