//! Which years of a model look alike: those that are drawn from the same sheet with the same face, in the manner of the same time.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;

use cyclorama_core::{BodyClass, Vehicle};
use serde::Deserialize;

use crate::{AppliesTo, Closeness, Index};

/// Model years in which a drawing is looked for; the catalog has no others.
const YEARS: RangeInclusive<u16> = 1990..=2030;
/// A sheet that fits more years in a row than a generation lasts stands for several, which are told apart by the eras of their lamps,
/// wheels and trim.
const GENERATION_YEARS_MAX: usize = 12;
/// Length of an era, counted from the first of [`YEARS`].
const ERA_YEARS: u16 = 5;
/// No chain of bases is longer.
const BASES_MAX: usize = 8;

/// What the file of a sheet or face says about itself.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Header {
    pub name: String,
    /// The sheet whose numbers it starts from.
    #[serde(default)]
    pub base: Option<String>,
    /// `own`, `make` or the name of a face; the base's where it says nothing.
    #[serde(default)]
    pub face: Option<String>,
    /// Empty for one that is only a base of others.
    #[serde(default)]
    pub applies_to: Vec<AppliesTo>,
    /// Whether it holds facts that were measured on the real vehicle.
    #[serde(default)]
    pub is_measured: bool,
    /// What the maker or people call the generation that it draws: `Mk7`, `E46`.
    #[serde(default)]
    pub generation: Option<String>,
}

/// Every sheet and face there is, by what each is for.
#[derive(Debug, Clone, Default)]
pub struct Drawings {
    sheets: Index,
    faces: Index,
    /// Sheets that wear the face of the vehicle's make and year.
    with_face_of_make: HashSet<String>,
    /// Sheets with measured facts.
    measured: HashSet<String>,
    /// Names of generations, and of bases, by sheet.
    generations: HashMap<String, String>,
    bases: HashMap<String, String>,
}

/// What a vehicle is drawn from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drawing<'a> {
    /// `None` where no sheet is for such a vehicle.
    pub sheet: Option<&'a str>,
    /// The face of the make, where the sheet leaves the face to it.
    pub face: Option<&'a str>,
    /// A sheet of the model's with another body, which lends its front where nobody drew this one.
    pub relative: Option<&'a str>,
}

/// How a vehicle of a year looks: all years of a model with equal looks and dimensions have the same picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look<'a> {
    pub drawing: Drawing<'a>,
    /// The model year whose lamps, wheels and trim stand for the look.
    pub year: u16,
    /// Whether the drawing is of one generation of this very model: then all its years have one size, however the catalog's
    /// sources differ about them.
    pub is_generation: bool,
}

impl Drawings {
    pub fn new(sheets: Vec<Header>, faces: Vec<Header>) -> Self {
        let mut drawings = Drawings::default();
        let by_name: BTreeMap<&str, &Header> = sheets.iter().map(|sheet| (sheet.name.as_str(), sheet)).collect();
        drawings.with_face_of_make =
            sheets.iter().filter(|sheet| wears_face_of_make(sheet, &by_name)).map(|sheet| sheet.name.clone()).collect();
        for sheet in sheets {
            if sheet.is_measured {
                drawings.measured.insert(sheet.name.clone());
            }
            if let Some(generation) = sheet.generation {
                drawings.generations.insert(sheet.name.clone(), generation);
            }
            if let Some(base) = sheet.base {
                drawings.bases.insert(sheet.name.clone(), base);
            }
            drawings.sheets.add(&sheet.name, sheet.applies_to);
        }
        for face in faces {
            drawings.faces.add(&face.name, face.applies_to);
        }
        drawings
    }

    /// The sheet for a vehicle and how close it is; `None` for bodies that have no template.
    pub fn sheet(&self, vehicle: &Vehicle) -> Option<(Closeness, &str)> {
        self.sheets.closest(vehicle)
    }

    /// The face for a vehicle whose sheet leaves it to make and year.
    pub fn face(&self, vehicle: &Vehicle) -> Option<(Closeness, &str)> {
        self.faces.closest(vehicle)
    }

    pub fn is_measured(&self, sheet: &str) -> bool {
        self.measured.contains(sheet)
    }

    /// What the generation that a sheet draws is called.
    pub fn generation(&self, sheet: &str) -> Option<&str> {
        self.generations.get(sheet).map(String::as_str)
    }

    /// The sheet whose numbers a sheet starts from.
    pub fn base(&self, sheet: &str) -> Option<&str> {
        self.bases.get(sheet).map(String::as_str)
    }

    /// All uses of sheets and faces, with their names.
    pub fn uses(&self) -> impl Iterator<Item = (&str, &AppliesTo)> {
        self.sheets.uses().chain(self.faces.uses())
    }

    /// The sheet of a convertible's model as a coupe, where that was drawn for it.
    pub fn coupe_of_convertible(&self, vehicle: &Vehicle) -> Option<&str> {
        if vehicle.body != BodyClass::Convertible {
            return None;
        }
        let coupe = Vehicle { body: BodyClass::Coupe, ..vehicle.clone() };
        self.sheet(&coupe).filter(|(closeness, _)| closeness.names_the_model()).map(|(_, name)| name)
    }

    /// A sheet of the vehicle's model with another body that has the same front.
    pub fn another_body(&self, vehicle: &Vehicle) -> Option<&str> {
        self.sheets.closest_of_another_body(vehicle)
    }

    pub fn of(&self, vehicle: &Vehicle) -> Drawing<'_> {
        let Some((closeness, sheet)) = self.sheet(vehicle) else { return Drawing::default() };
        let has_face = self.with_face_of_make.contains(sheet);
        let relative = match closeness.names_the_model() {
            true => None,
            false => self.coupe_of_convertible(vehicle).or_else(|| self.another_body(vehicle)),
        };
        let face = if has_face { self.face(vehicle).map(|(_, name)| name) } else { None };
        Drawing { sheet: Some(sheet), face, relative }
    }

    /// The look of a vehicle in its year. Vehicles that differ in nothing but the year have the same look in every year of it.
    pub fn look(&self, vehicle: &Vehicle) -> Look<'_> {
        let drawing = self.of(vehicle);
        let mut other = vehicle.clone();
        let mut is_drawn_alike = |year: &u16| {
            other.year = *year;
            self.of(&other) == drawing
        };
        let before = (*YEARS.start()..vehicle.year).rev().take_while(&mut is_drawn_alike).count() as u16;
        let after = (vehicle.year + 1..=*YEARS.end()).take_while(&mut is_drawn_alike).count() as u16;
        let (mut first, mut last) = (vehicle.year - before, vehicle.year + after);
        let is_short = (first..=last).len() <= GENERATION_YEARS_MAX;
        if !is_short {
            let era = vehicle.year.saturating_sub(*YEARS.start()) / ERA_YEARS;
            let from = YEARS.start() + era * ERA_YEARS;
            (first, last) = (first.max(from), last.min(from + ERA_YEARS - 1));
        }
        // The run of a year before the first era may not reach into it.
        let year = if first <= last { first + (last - first) / 2 } else { vehicle.year };
        let is_generation = is_short && self.sheet(vehicle).is_some_and(|(closeness, _)| closeness.names_the_model());
        Look { drawing, year, is_generation }
    }
}

fn wears_face_of_make(sheet: &Header, by_name: &BTreeMap<&str, &Header>) -> bool {
    let chain = std::iter::successors(Some(sheet), |sheet| by_name.get(sheet.base.as_deref()?).copied());
    chain.take(BASES_MAX).find_map(|sheet| sheet.face.as_deref()) == Some("make")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclorama_core::{Dimensions, VehicleType};

    fn car(model: &str, year: u16) -> Vehicle {
        let dimensions =
            Dimensions { length_mm: 4300, width_mm: 1800, height_mm: 1450, wheelbase_mm: 2650, front_track_mm: 1550 };
        Vehicle {
            make: "acme".to_owned(),
            model: model.to_owned(),
            year,
            vehicle_type: VehicleType::PassengerCar,
            body: BodyClass::Hatchback,
            dimensions,
        }
    }

    fn drawings() -> Drawings {
        let sheets = serde_json::json!([
            { "name": "hatchback", "face": "make", "applies_to": [{ "bodies": ["hatchback"] }] },
            { "name": "first", "base": "hatchback", "face": "own",
              "applies_to": [{ "makes": ["acme"], "models": ["one"], "years": [2003, 2008] }] },
            { "name": "second", "base": "hatchback",
              "applies_to": [{ "makes": ["acme"], "models": ["one"], "years": [2009, 2016] }] },
        ]);
        let faces = serde_json::json!([
            { "name": "acme-1990", "applies_to": [{ "makes": ["acme"], "years": [1990, 2012] }] },
            { "name": "acme-2013", "applies_to": [{ "makes": ["acme"], "years": [2013, 2030] }] },
        ]);
        Drawings::new(serde_json::from_value(sheets).unwrap(), serde_json::from_value(faces).unwrap())
    }

    #[test]
    fn years_of_one_sheet_and_face_are_one_look() {
        let drawings = drawings();
        for (years, sheet, face, stands_for) in [
            // The face of the make changes in 2006, and this sheet has its own.
            (2003..=2008, "first", None, 2005),
            (2009..=2012, "second", Some("acme-1990"), 2010),
            (2013..=2016, "second", Some("acme-2013"), 2014),
            // Longer than a generation: the end of an era.
            (2017..=2019, "hatchback", Some("acme-2013"), 2018),
            (2020..=2024, "hatchback", Some("acme-2013"), 2022),
        ] {
            for year in years {
                let look = drawings.look(&car("one", year));
                assert_eq!((look.drawing.sheet, look.drawing.face), (Some(sheet), face), "{year}");
                assert_eq!(look.year, stands_for, "{year}");
            }
        }
    }

    #[test]
    fn the_year_that_stands_for_a_look_has_that_look() {
        let drawings = Drawings::embedded();
        for model in ["golf", "passat", "nobody-drew-it"] {
            for year in 1990..=2026 {
                let mut vehicle = car(model, year);
                vehicle.make = "volkswagen".to_owned();
                let look = drawings.look(&vehicle);
                vehicle.year = look.year;
                assert_eq!(drawings.look(&vehicle), look, "{model} {year}");
            }
        }
    }
}
