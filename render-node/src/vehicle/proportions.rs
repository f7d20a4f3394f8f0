//! Proportions of cars that nobody has drawn: the proportions of measured cars of the same kind,
//! varied a little by the model's name.

use std::sync::LazyLock;

use cyclorama_core::vehicle::{BodyClass, Vehicle};
use serde::Deserialize;

use super::applies_to::is_for;
use super::chance::chances;
use super::sheet::Sheet;
use super::sheet::facts::Facts;

const TABLE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sheets/tables/proportions.toml"));

#[derive(Debug, Deserialize)]
struct Table {
    proportions: Vec<Proportions>,
}

#[derive(Debug, Deserialize)]
struct Proportions {
    bodies: Vec<BodyClass>,
    years: [u16; 2],
    length_mm: [u32; 2],
    #[serde(flatten)]
    places: Facts,
}

static PROPORTIONS: LazyLock<Vec<Proportions>> =
    LazyLock::new(|| toml::from_str::<Table>(TABLE).map(|table| table.proportions).unwrap_or_default());

/// Maximum distance of the screens from the median along the car, and of the rear end of the side
/// windows in height, as ratios of the wheelbase.
const SCREENS_ASIDE: f32 = 0.022;
const WINDOW_END_ASIDE: f32 = 0.007;

/// Gives a sheet that was not drawn for a model the proportions of its kind, if they were measured.
pub fn settle(sheet: &mut Sheet, vehicle: &Vehicle) {
    let d = vehicle.dimensions;
    let is_its_kind = |row: &&Proportions| {
        let [shortest, longest] = row.length_mm;
        is_for(vehicle, &[], Some(row.years), &row.bodies) && (shortest..=longest).contains(&d.length_mm)
    };
    let Some(row) = PROPORTIONS.iter().find(is_its_kind) else { return };
    let mut places = row.places.clone();
    let mut either = chances(&format!("{}/{}/proportions", vehicle.make, vehicle.model));
    let (front, rear, up) = (SCREENS_ASIDE * either(), SCREENS_ASIDE * either(), WINDOW_END_ASIDE * either());
    // Heights are ratios of the wheelbase too, and those of a low car are lower.
    let roof = d.height_mm as f32 / d.wheelbase_mm.max(1) as f32;
    let taller = places.roof.map_or(1.0, |drawn| roof / drawn);
    places.roof = Some(roof);
    if let Some(header) = &mut places.header {
        header[0] += front;
    }
    for place in [&mut places.roof_end, &mut places.deck, &mut places.glass_rear].into_iter().flatten() {
        place[0] += rear;
    }
    if let Some(rear_end) = &mut places.glass_rear {
        rear_end[1] += up;
    }
    places.for_each_place(|place| place[1] *= taller);
    sheet.proportions = Some(places);
}

#[cfg(test)]
mod tests {
    use super::super::library::Library;
    use super::super::typical::typical;
    use super::*;

    #[test]
    fn the_table_reads_and_what_is_not_drawn_gets_the_proportions_of_its_kind() {
        assert!(!PROPORTIONS.is_empty());
        let library = Library::embedded().unwrap();
        let names = ["one", "two"].map(|model| Vehicle {
            make: "nobody".to_owned(),
            model: model.to_owned(),
            year: 2014,
            ..typical(BodyClass::Hatchback)
        });
        let [one, two] = names.map(|vehicle| library.dressed(&vehicle).unwrap().unwrap().proportions.unwrap());
        let x = |facts: &Facts| facts.header.unwrap()[0];
        assert!((x(&one) - x(&two)).abs() > 1e-4 && (x(&one) - 0.36).abs() <= SCREENS_ASIDE);
    }

    #[test]
    fn what_was_drawn_keeps_its_own() {
        let library = Library::embedded().unwrap();
        let golf = Vehicle {
            make: "volkswagen".to_owned(),
            model: "golf".to_owned(),
            year: 2016,
            ..typical(BodyClass::Hatchback)
        };
        assert!(library.dressed(&golf).unwrap().unwrap().proportions.is_none());
    }
}
