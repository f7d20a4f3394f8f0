//! Finds the sheet or face that is closest to a vehicle.

use std::cmp::Reverse;
use std::collections::HashMap;

use cyclorama_core::{BodyClass, Vehicle};

use crate::{AppliesTo, Closeness};

/// Sheets or faces, indexed by the makes that they are for.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// Names in the order in which they were added.
    names: Vec<String>,
    /// Entries that name makes, by make, with positions in `names`.
    of_make: HashMap<String, Vec<(usize, AppliesTo)>>,
    of_any_make: Vec<(usize, AppliesTo)>,
}

impl Index {
    /// Adds a sheet or face called `name`, with the vehicles that it is for.
    pub fn add(&mut self, name: &str, uses: Vec<AppliesTo>) {
        let position = self.names.len();
        self.names.push(name.to_owned());
        for applies in uses {
            if applies.makes.is_empty() {
                self.of_any_make.push((position, applies.clone()));
            }
            for make in &applies.makes {
                self.of_make.entry(make.clone()).or_default().push((position, applies.clone()));
            }
        }
    }

    /// Returns the closest sheet to a vehicle and how close it is. Of equally close ones, the
    /// first that was added wins.
    pub fn closest(&self, vehicle: &Vehicle) -> Option<(Closeness, &str)> {
        let of_its_make = self.of_make.get(&vehicle.make).into_iter().flatten();
        let (closeness, Reverse(position)) = of_its_make
            .chain(&self.of_any_make)
            .filter_map(|(position, applies)| Some((applies.closeness(vehicle)?, Reverse(*position))))
            .max()?;
        Some((closeness, &self.names[position]))
    }

    /// Returns the closest sheet that was drawn for the vehicle's model in that year with another
    /// body, because all bodies of a car have the same front.
    ///
    /// Returns `None` if the vehicle is not a car or its model was not drawn.
    pub fn closest_of_another_body(&self, vehicle: &Vehicle) -> Option<&str> {
        let is_another = |applies: &AppliesTo| {
            !applies.bodies.contains(&vehicle.body)
                && applies.bodies.iter().any(|body| shares_its_front(*body, vehicle.body))
        };
        let of_its_make = self.of_make.get(&vehicle.make).into_iter().flatten();
        let (_, Reverse(position)) = of_its_make
            .filter(|(_, applies)| is_another(applies))
            .filter_map(|(position, applies)| Some((applies.closeness_of_any_body(vehicle)?, Reverse(*position))))
            .filter(|(closeness, _)| closeness.names_the_model())
            .max()?;
        Some(&self.names[position])
    }

    /// Returns all entries with the names of their sheets.
    pub fn uses(&self) -> impl Iterator<Item = (&str, &AppliesTo)> {
        let all = self.of_make.values().flatten().chain(&self.of_any_make);
        all.map(|(position, applies)| (self.names[*position].as_str(), applies))
    }
}

/// True if a body of a model has the same front as the drawn body. A van, a pickup or an SUV of the
/// same name is another vehicle, but an SUV may have a convertible version.
fn shares_its_front(drawn: BodyClass, body: BodyClass) -> bool {
    use BodyClass::{Convertible, Coupe, Fastback, Hatchback, Sedan, Suv, Wagon};
    let is_car = |body| matches!(body, Sedan | Hatchback | Coupe | Fastback | Convertible | Wagon);
    is_car(body) && (is_car(drawn) || drawn == Suv && body == Convertible)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclorama_core::{Dimensions, VehicleType};

    fn sedan(make: &str, model: &str, year: u16, length_mm: u32) -> Vehicle {
        let dimensions =
            Dimensions { length_mm, width_mm: 1800, height_mm: 1450, wheelbase_mm: 2700, front_track_mm: 1550 };
        let (make, model) = (make.to_owned(), model.to_owned());
        Vehicle { make, model, year, vehicle_type: VehicleType::PassengerCar, body: BodyClass::Sedan, dimensions }
    }

    #[test]
    fn the_closest_sheet_wins() {
        let mut index = Index::default();
        for (name, uses) in [
            ("all", r#"[{ "makes": ["works"], "models": ["*"] }]"#),
            ("car", r#"[{ "bodies": ["sedan"] }]"#),
            ("family", r#"[{ "makes": ["acme"], "models": ["one*"] }]"#),
            ("long", r#"[{ "bodies": ["sedan"], "length_mm": [5000, 9000] }]"#),
            ("make", r#"[{ "makes": ["acme"] }]"#),
            ("second", r#"[{ "makes": ["acme"], "models": ["one"], "years": [2010, 2019] }]"#),
            ("third", r#"[{ "makes": ["acme"], "models": ["one"], "years": [2014, 2016] }]"#),
        ] {
            index.add(name, serde_json::from_str(uses).unwrap());
        }
        for (make, model, year, length_mm, expected, is_of_the_model) in [
            ("other", "one", 2015, 4500, "car", false),
            ("other", "one", 2015, 5200, "long", false),
            ("works", "two", 2015, 4500, "all", false),
            ("acme", "two", 2015, 5200, "make", false),
            ("acme", "one-gt", 2015, 4500, "family", true),
            ("acme", "one", 2011, 4500, "second", true),
            ("acme", "one", 2015, 4500, "third", true),
            ("acme", "one", 2020, 4500, "family", true),
        ] {
            let (closeness, name) = index.closest(&sedan(make, model, year, length_mm)).unwrap();
            assert_eq!((name, closeness.names_the_model()), (expected, is_of_the_model), "{make} {model} {year}");
        }
    }

    #[test]
    fn a_body_that_nobody_drew_has_the_front_of_its_model() {
        let mut index = Index::default();
        for (name, uses) in [
            ("class", r#"[{ "bodies": ["wagon"] }]"#),
            ("make", r#"[{ "makes": ["acme"], "bodies": ["sedan"] }]"#),
            ("first", r#"[{ "makes": ["acme"], "models": ["one*"], "years": [2000, 2009], "bodies": ["hatchback"] }]"#),
            ("second", r#"[{ "makes": ["acme"], "models": ["one"], "years": [2010, 2019], "bodies": ["hatchback"] }]"#),
            ("van", r#"[{ "makes": ["acme"], "models": ["box"], "bodies": ["van"] }]"#),
            ("tall", r#"[{ "makes": ["acme"], "models": ["hill"], "bodies": ["suv"] }]"#),
            ("short", r#"[{ "makes": ["acme"], "models": ["two"], "bodies": ["sedan"], "length_mm": [1, 2] }]"#),
        ] {
            index.add(name, serde_json::from_str(uses).unwrap());
        }
        use BodyClass::{Convertible, Hatchback, Pickup, Suv, Van, Wagon};
        for (make, model, year, body, expected) in [
            ("acme", "one", 2015, Wagon, Some("second")),
            ("acme", "one", 2005, Wagon, Some("first")),
            ("acme", "one", 2025, Wagon, None),
            ("acme", "one", 2015, Hatchback, None),
            ("acme", "one", 2015, Van, None),
            ("acme", "two", 2015, Wagon, Some("short")),
            ("acme", "three", 2015, Wagon, None),
            ("acme", "one", 2015, Suv, None),
            ("acme", "box", 2015, Pickup, None),
            ("acme", "hill", 2015, Convertible, Some("tall")),
            ("acme", "hill", 2015, Wagon, None),
            ("other", "one", 2015, Wagon, None),
        ] {
            let vehicle = Vehicle { body, ..sedan(make, model, year, 4500) };
            assert_eq!(index.closest_of_another_body(&vehicle), expected, "{make} {model} {year} {body}");
        }
    }
}
