//! Finds the closest of many sheets.

use std::cmp::Reverse;
use std::collections::HashMap;

use cyclorama_core::Vehicle;

use crate::{AppliesTo, Closeness};

/// Sheets, or faces, by the makes they are for.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// In the order in which they were added.
    names: Vec<String>,
    /// Uses that name their makes, with positions in `names`.
    of_make: HashMap<String, Vec<(usize, AppliesTo)>>,
    of_any_make: Vec<(usize, AppliesTo)>,
}

impl Index {
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

    /// The closest to a vehicle and how close it is; of equals the one that was added first.
    pub fn closest(&self, vehicle: &Vehicle) -> Option<(Closeness, &str)> {
        let of_its_make = self.of_make.get(&vehicle.make).into_iter().flatten();
        let (closeness, Reverse(position)) = of_its_make
            .chain(&self.of_any_make)
            .filter_map(|(position, applies)| Some((applies.closeness(vehicle)?, Reverse(*position))))
            .max()?;
        Some((closeness, &self.names[position]))
    }

    /// All uses with the names of their sheets.
    pub fn uses(&self) -> impl Iterator<Item = (&str, &AppliesTo)> {
        let all = self.of_make.values().flatten().chain(&self.of_any_make);
        all.map(|(position, applies)| (self.names[*position].as_str(), applies))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclorama_core::{BodyClass, Dimensions, VehicleType};

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
}
