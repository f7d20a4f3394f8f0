//! A vehicle as the catalog describes it and as a render node needs it, and the key that names it.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

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
    /// Shape of the body. It decides which template a vehicle is built from.
    pub enum BodyClass {
        Sedan = "sedan", Hatchback = "hatchback", Coupe = "coupe", Fastback = "fastback", Convertible = "convertible",
        Wagon = "wagon", Suv = "suv", OffRoader = "off-roader", Pickup = "pickup", Van = "van", Minivan = "minivan",
        Truck = "truck", Bus = "bus", Motorcycle = "motorcycle", Scooter = "scooter", Trailer = "trailer",
        Rickshaw = "rickshaw", Other = "other",
    }
}

impl BodyClass {
    /// True for a vehicle that is straddled or stepped through instead of sat in.
    pub const fn is_two_wheeler(self) -> bool {
        matches!(self, BodyClass::Motorcycle | BodyClass::Scooter)
    }
}

/// Outer dimensions in whole millimetres; `width_mm` is without mirrors. No value is ever missing:
/// where no source knows one, the import fills it in from the body class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Dimensions {
    pub length_mm: u32,
    pub width_mm: u32,
    pub height_mm: u32,
    pub wheelbase_mm: u32,
    pub front_track_mm: u32,
}

/// One make, model and year of the catalog: everything that a node receives
/// about the vehicle to draw.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Vehicle {
    /// Make and model are slugs: lower case, hyphenated.
    pub make: String,
    pub model: String,
    pub year: u16,
    #[serde(rename = "type")]
    pub vehicle_type: VehicleType,
    pub body: BodyClass,
    pub dimensions: Dimensions,
}

impl Vehicle {
    /// Returns `make/model/year`, which names the vehicle in object keys and job rows.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.make, self.model, self.year)
    }
}

/// The key under which images of a vehicle are stored. Its text form is `make/model/year`, or
/// `make/model.body/year` for a body that the model does not usually have in that year.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VehicleKey {
    /// Make and model are slugs, which hold no dot.
    pub make: String,
    pub model: String,
    pub body: Option<BodyClass>,
    pub year: u16,
}

/// The error of parsing a text that is not a [`VehicleKey`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a vehicle's key is `make/model/year` or `make/model.body/year`")]
pub struct NoVehicleKey;

impl fmt::Display for VehicleKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.make, self.model)?;
        if let Some(body) = self.body {
            write!(f, ".{body}")?;
        }
        write!(f, "/{}", self.year)
    }
}

impl FromStr for VehicleKey {
    type Err = NoVehicleKey;

    fn from_str(text: &str) -> Result<Self, NoVehicleKey> {
        let [make, model, year] = text.split('/').collect::<Vec<_>>()[..] else { return Err(NoVehicleKey) };
        let (model, body) = match model.split_once('.') {
            Some((model, body)) => (model, Some(body.parse().map_err(|_| NoVehicleKey)?)),
            None => (model, None),
        };
        let year = year.parse().map_err(|_| NoVehicleKey)?;
        Ok(VehicleKey { make: make.to_owned(), model: model.to_owned(), body, year })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_as_it_is_written() {
        for (text, body) in [("volkswagen/golf/2015", None), ("volkswagen/golf.wagon/2015", Some(BodyClass::Wagon))] {
            let key: VehicleKey = text.parse().unwrap();
            assert_eq!((key.model.as_str(), key.body, key.to_string().as_str()), ("golf", body, text));
        }
        for text in ["", "volkswagen/golf", "volkswagen/golf/x", "volkswagen/golf.boat/2015", "a/b/2015/c"] {
            assert_eq!(text.parse::<VehicleKey>(), Err(NoVehicleKey), "{text}");
        }
    }
}
