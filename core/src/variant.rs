//! A variant: what one render answers for (make, model, year, view, paint).

use crate::{Paint, View};
use serde::{Deserialize, Serialize};

/// Make and model are slugs of the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Variant {
    pub make: String,
    pub model: String,
    pub year: u16,
    pub view: View,
    #[serde(rename = "color")]
    pub paint: Paint,
}

impl Variant {
    /// As people are told what it was, on a statement.
    pub fn words(&self) -> String {
        format!("{}, {}, {}", self.vehicle_key(), self.view, self.paint)
    }

    /// `make/model/year`, as [`crate::Vehicle::key`].
    pub fn vehicle_key(&self) -> String {
        format!("{}/{}/{}", self.make, self.model, self.year)
    }
}
