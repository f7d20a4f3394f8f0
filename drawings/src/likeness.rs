//! How like the real vehicle an image is.
//!
//! Why: `docs/decisions/bodies-looks-and-vins.md` (Likeness of a picture: `generation`, `model`,
//! `make`, `body`).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use cyclorama_core::{Vehicle, named_enum};
use serde::Deserialize;

use crate::{Drawings, Header};

named_enum! {
    /// What the drawing of a vehicle was made for. The first value is the
    /// closest to the real vehicle.
    pub enum Likeness {
        /// The generation of the model, with proportions measured on the real vehicle.
        Generation = "generation",
        /// The model, or its family, drawn from its known looks.
        Model = "model",
        /// The class, size and time of the vehicle, with the face of its make.
        Make = "make",
        /// The class, size and time of the vehicle alone.
        Body = "body",
    }
}

/// Returns how like the real vehicle its image is, according to the sheets that this
/// program was built with.
pub fn likeness(vehicle: &Vehicle) -> Likeness {
    if vehicle.body.is_two_wheeler() {
        let is_known = EMBEDDED.two_wheeler_makes.contains(&vehicle.make);
        return if is_known { Likeness::Make } else { Likeness::Body };
    }
    let Some((closeness, name)) = EMBEDDED.drawings.sheet(vehicle) else { return Likeness::Body };
    if closeness.names_the_model() && closeness.names_the_make() {
        return if EMBEDDED.drawings.is_measured(name) { Likeness::Generation } else { Likeness::Model };
    }
    let has_face = EMBEDDED.drawings.face(vehicle).is_some_and(|(face, _)| face.names_the_make());
    if closeness.names_the_make() || has_face { Likeness::Make } else { Likeness::Body }
}

static HEADERS: &str = include_str!(concat!(env!("OUT_DIR"), "/headers.json"));

/// The headers that this program was built with.
struct EmbeddedHeaders {
    drawings: Drawings,
    /// Makes whose two-wheelers are drawn in their own manner: wheels, lamps, frames, silencers.
    two_wheeler_makes: BTreeSet<String>,
}

static EMBEDDED: LazyLock<EmbeddedHeaders> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the build script wrote it, and the tests read it")]
    let headers: Headers = serde_json::from_str(HEADERS).expect("the headers of the sheets");
    EmbeddedHeaders {
        drawings: Drawings::new(headers.sheets, headers.faces),
        two_wheeler_makes: headers.two_wheeler_makes,
    }
});

impl Drawings {
    /// Returns the drawings that this program was built with.
    pub fn embedded() -> &'static Drawings {
        &EMBEDDED.drawings
    }
}

#[derive(Deserialize)]
struct Headers {
    sheets: Vec<Header>,
    faces: Vec<Header>,
    two_wheeler_makes: BTreeSet<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclorama_core::{BodyClass, Dimensions, VehicleType};

    #[test]
    fn the_likeness_follows_what_was_drawn() {
        let dimensions =
            Dimensions { length_mm: 4300, width_mm: 1800, height_mm: 1450, wheelbase_mm: 2640, front_track_mm: 1550 };
        let vehicle = |make: &str, model: &str, body: BodyClass| Vehicle {
            make: make.to_owned(),
            model: model.to_owned(),
            year: 2015,
            vehicle_type: VehicleType::PassengerCar,
            body,
            dimensions,
        };
        for (make, model, body, expected) in [
            ("volkswagen", "golf", BodyClass::Hatchback, Likeness::Model),
            ("volkswagen", "nobody-drew-it", BodyClass::Hatchback, Likeness::Make),
            ("nobody-knows-it", "one", BodyClass::Hatchback, Likeness::Body),
            ("ducati", "monster", BodyClass::Motorcycle, Likeness::Make),
            ("nobody-knows-it", "one", BodyClass::Scooter, Likeness::Body),
        ] {
            assert!(likeness(&vehicle(make, model, body)) <= expected, "{make} {model}");
            if expected != Likeness::Model {
                assert_eq!(likeness(&vehicle(make, model, body)), expected, "{make} {model}");
            }
        }
    }
}
