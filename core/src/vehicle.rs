//! A vehicle as the catalog describes it and a render node needs it.

use serde::{Deserialize, Serialize};

crate::named_enum! {
    /// The catalog's seven vehicle types.
    pub enum VehicleType {
        Motorcycle = "motorcycle", PassengerCar = "passenger-car", Truck = "truck", Bus = "bus",
        /// "Multipurpose Passenger Vehicle" in the catalog: SUVs and minivans.
        Mpv = "mpv",
        AutoRickshaw = "auto-rickshaw", Other = "other",
    }
}

crate::named_enum! {
    /// Shape of the body: what decides which template a vehicle is built from.
    pub enum BodyClass {
        Sedan = "sedan", Hatchback = "hatchback", Coupe = "coupe", Fastback = "fastback", Convertible = "convertible",
        Wagon = "wagon", Suv = "suv", OffRoader = "off-roader", Pickup = "pickup", Van = "van", Minivan = "minivan",
        Truck = "truck", Bus = "bus", Motorcycle = "motorcycle", Scooter = "scooter", Trailer = "trailer",
        Rickshaw = "rickshaw", Other = "other",
    }
}

impl BodyClass {
    /// Straddled or stepped through, in place of sat in.
    pub const fn is_two_wheeler(self) -> bool {
        matches!(self, BodyClass::Motorcycle | BodyClass::Scooter)
    }
}

/// Outer dimensions in whole millimetres; `width` without mirrors. Always all given: where no source knows a value
/// the import fills it from the body class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dimensions {
    pub length_mm: u32,
    pub width_mm: u32,
    pub height_mm: u32,
    pub wheelbase_mm: u32,
    pub front_track_mm: u32,
}

/// One make, model and year of the catalog: everything a node is told about what to draw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vehicle {
    /// Slugs: lower case, hyphenated.
    pub make: String,
    pub model: String,
    pub year: u16,
    #[serde(rename = "type")]
    pub vehicle_type: VehicleType,
    pub body: BodyClass,
    pub dimensions: Dimensions,
}

impl Vehicle {
    /// `make/model/year`: names the vehicle in object keys and job rows.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.make, self.model, self.year)
    }
}
