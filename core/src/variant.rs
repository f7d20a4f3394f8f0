//! A variant: what one render answers for (make, model, year, body, view, paint).

use crate::{BodyClass, Paint, VehicleKey, View};
use serde::{Deserialize, Serialize};

/// Make and model are slugs of the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Variant {
    pub make: String,
    pub model: String,
    pub year: u16,
    /// One that the model does not usually have in that year.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<BodyClass>,
    pub view: View,
    #[serde(rename = "color")]
    pub paint: Paint,
}

impl Variant {
    /// The picture of a vehicle from one side in one paint.
    pub fn new(key: VehicleKey, view: View, paint: Paint) -> Self {
        let VehicleKey { make, model, body, year } = key;
        Variant { make, model, year, body, view, paint }
    }

    /// As people are told what it was, on a statement.
    pub fn words(&self) -> String {
        format!("{}, {}, {}", self.vehicle_key(), self.view, self.paint)
    }

    /// The text of its [`VehicleKey`].
    pub fn vehicle_key(&self) -> String {
        self.key().to_string()
    }

    pub fn key(&self) -> VehicleKey {
        VehicleKey { make: self.make.clone(), model: self.model.clone(), body: self.body, year: self.year }
    }

    /// The same picture of another vehicle.
    pub fn of_vehicle(&self, key: VehicleKey) -> Self {
        Variant::new(key, self.view, self.paint)
    }
}
