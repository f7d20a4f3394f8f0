//! Which years of a model share a look: those that are drawn from the same sheet with the same
//! face, in the style of the same era.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;

use cyclorama_core::{BodyClass, Vehicle};
use serde::Deserialize;

use crate::{AppliesTo, Closeness, Index};

/// Model years that are searched for the same drawing; the catalog has no others.
const YEARS: RangeInclusive<u16> = 1990..=2030;
/// Longest run of years, of one sheet and face, that counts as one generation. A longer run stands
/// for several generations, which differ by the lamps, wheels and trim of their eras.
const GENERATION_YEARS_MAX: usize = 12;
/// Length of an era in years, counted from the first of [`YEARS`].
const ERA_YEARS: u16 = 5;
/// Maximum length of a chain of bases.
const BASES_MAX: usize = 8;

/// What the file of a sheet or face declares about itself.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Header {
    pub name: String,
    /// The sheet whose numbers this sheet starts from.
    #[serde(default)]
    pub base: Option<String>,
    /// `own`, `make` or the name of a face. `None` inherits the value of the base.
    #[serde(default)]
    pub face: Option<String>,
    /// The vehicles that it is for. Empty for a sheet that only serves as a base of others.
    #[serde(default)]
    pub applies_to: Vec<AppliesTo>,
    /// True if the file holds facts that were measured on the real vehicle.
    #[serde(default)]
    pub is_measured: bool,
    /// Name of the generation that the sheet draws, used by the maker or by people: `Mk7`, `E46`.
    #[serde(default)]
    pub generation: Option<String>,
}

/// All sheets and faces, indexed by the vehicles that they are for.
#[derive(Debug, Clone, Default)]
pub struct Drawings {
    sheets: Index,
    faces: Index,
    /// Sheets that take the face of the vehicle's make and year.
    with_face_of_make: HashSet<String>,
    /// Sheets with measured facts.
    measured: HashSet<String>,
    /// Names of generations, and below names of bases, by sheet.
    generations: HashMap<String, String>,
    bases: HashMap<String, String>,
}

/// The sheets and the face that a vehicle is drawn from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drawing<'a> {
    /// `None` if no sheet is for such a vehicle.
    pub sheet: Option<&'a str>,
    /// The face of the make, if the sheet leaves the face to the make.
    pub face: Option<&'a str>,
    /// A sheet of the same model with another body, which provides the front if
    /// this body was not drawn.
    pub relative: Option<&'a str>,
}

/// The look of a vehicle in one year. All years of a model with equal looks and
/// dimensions have the same image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look<'a> {
    pub drawing: Drawing<'a>,
    /// The model year whose lamps, wheels and trim stand for the look.
    pub year: u16,
    /// True if the drawing is of one generation of this very model. Then all its years have one
    /// size, however the catalog's sources differ about them.
    pub is_generation: bool,
}

impl Drawings {
    /// Indexes the headers of all sheets and faces.
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

    /// Returns the sheet for a vehicle and how close it is, or `None` for bodies
    /// that have no template.
    pub fn sheet(&self, vehicle: &Vehicle) -> Option<(Closeness, &str)> {
        self.sheets.closest(vehicle)
    }

    /// Returns the face for a vehicle whose sheet leaves the face to make and year.
    pub fn face(&self, vehicle: &Vehicle) -> Option<(Closeness, &str)> {
        self.faces.closest(vehicle)
    }

    pub fn is_measured(&self, sheet: &str) -> bool {
        self.measured.contains(sheet)
    }

    /// Returns the name of the generation that a sheet draws.
    pub fn generation(&self, sheet: &str) -> Option<&str> {
        self.generations.get(sheet).map(String::as_str)
    }

    /// Returns the name of the sheet whose numbers a sheet starts from.
    pub fn base(&self, sheet: &str) -> Option<&str> {
        self.bases.get(sheet).map(String::as_str)
    }

    /// Returns all entries of sheets and faces, with their names.
    pub fn uses(&self) -> impl Iterator<Item = (&str, &AppliesTo)> {
        self.sheets.uses().chain(self.faces.uses())
    }

    /// Returns the sheet of the same model as a coupe if the vehicle is a convertible
    /// and the coupe was drawn.
    pub fn coupe_of_convertible(&self, vehicle: &Vehicle) -> Option<&str> {
        if vehicle.body != BodyClass::Convertible {
            return None;
        }
        let coupe = Vehicle { body: BodyClass::Coupe, ..vehicle.clone() };
        self.sheet(&coupe).filter(|(closeness, _)| closeness.names_the_model()).map(|(_, name)| name)
    }

    /// Returns a sheet of the vehicle's model with another body that has the same front.
    pub fn another_body(&self, vehicle: &Vehicle) -> Option<&str> {
        self.sheets.closest_of_another_body(vehicle)
    }

    /// Returns the sheets and the face that a vehicle is drawn from.
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

    /// Returns the look of a vehicle in its year. The result is the same for every year of the look
    /// if the vehicles differ in nothing but the year.
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
        // The run of a year before the first era may not reach into that era.
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
            // The face of the make changes in 2006, but this sheet has its own face.
            (2003..=2008, "first", None, 2005),
            (2009..=2012, "second", Some("acme-1990"), 2010),
            (2013..=2016, "second", Some("acme-2013"), 2014),
            // The run is longer than a generation, so the look is the end of an era.
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
