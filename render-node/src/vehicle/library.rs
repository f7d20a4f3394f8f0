//! The sheets and faces there are, and which of them a vehicle is built from.
//!
//! Every file says by itself what it is for (`[[applies_to]]`), so a new one needs no list to be kept. The closest one wins: a sheet
//! that names the model before one that names the make, before one that names the body class only.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use cyclorama_core::vehicle::{BodyClass, Vehicle};
use serde::Deserialize;

use super::bonnet_lines;
use super::bumper;
use super::face::FaceSheet;
use super::fitting_years::date_fittings;
use super::lamp_years::date_lamps;
use super::marque;
use super::panels;
use super::sheet::{Sheet, SheetError};
use super::small_parts::date_small_parts;
use super::variation::vary;
use super::wheel_fit;

include!(concat!(env!("OUT_DIR"), "/sheet_texts.rs"));

/// A file's tables by its name.
pub type Tables = BTreeMap<String, toml::Table>;

/// Vehicles that a sheet or face is for. What is left out may be anything.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppliesTo {
    /// Slugs of the catalog.
    #[serde(default)]
    pub makes: Vec<String>,
    /// Slugs, or with a `*` at the end how they begin.
    #[serde(default)]
    pub models: Vec<String>,
    /// First and last model year.
    #[serde(default)]
    pub years: Option<[u16; 2]>,
    #[serde(default)]
    pub bodies: Vec<BodyClass>,
    /// Of the vehicle, in millimetres.
    #[serde(default)]
    pub length_mm: Option<[u32; 2]>,
    #[serde(default)]
    pub height_mm: Option<[u32; 2]>,
}

impl AppliesTo {
    /// How closely it names the vehicle; `None` when it does not. Larger is closer.
    fn closeness(&self, vehicle: &Vehicle) -> Option<Closeness> {
        let named = |list: &[String], slug: &str| {
            let closest = |entry: &String| match entry.strip_suffix('*') {
                Some(start) => slug.starts_with(start).then_some(ANY_MODEL + start.len() as u32),
                None => (entry == slug).then_some(1000),
            };
            if list.is_empty() { Some(0) } else { list.iter().filter_map(closest).max() }
        };
        let years: RangeInclusive<u16> = self.years.map_or(0..=u16::MAX, |[first, last]| first..=last);
        let within = |range: Option<[u32; 2]>, mm: u32| range.is_none_or(|[least, most]| (least..=most).contains(&mm));
        let make = named(&self.makes, &vehicle.make)?;
        let model = named(&self.models, &vehicle.model)?;
        let fits = years.contains(&vehicle.year)
            && within(self.length_mm, vehicle.dimensions.length_mm)
            && within(self.height_mm, vehicle.dimensions.height_mm)
            && (self.bodies.is_empty() || self.bodies.contains(&vehicle.body));
        let limits =
            [self.years.is_some(), !self.bodies.is_empty(), self.length_mm.is_some(), self.height_mm.is_some()];
        let narrowed = limits.into_iter().map(u32::from).sum();
        let span = self.years.map_or(u16::MAX, |[first, last]| last.saturating_sub(first));
        fits.then_some(Closeness { model, make: make.min(1), narrowed, span: Reverse(span) })
    }
}

/// Whether an entry of a table is for a vehicle. No makes or bodies stand for any, years are the first and the last.
pub(super) fn is_for(vehicle: &Vehicle, makes: &[String], years: Option<[u16; 2]>, bodies: &[BodyClass]) -> bool {
    let [first, last] = years.unwrap_or([0, u16::MAX]);
    (makes.is_empty() || makes.contains(&vehicle.make))
        && (first..=last).contains(&vehicle.year)
        && (bodies.is_empty() || bodies.contains(&vehicle.body))
}

/// What `*` alone is worth: a make's sheet, whatever the model.
const ANY_MODEL: u32 = 1;

/// How closely a sheet names a vehicle; the larger is closer. In the order in which they count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Closeness {
    /// 0: any model; more for longer beginnings of its name, most for the whole.
    model: u32,
    make: u32,
    /// How many of years, bodies, lengths and heights are limited.
    narrowed: u32,
    /// Fewer years are closer.
    span: Reverse<u16>,
}

impl Closeness {
    fn names_the_model(self) -> bool {
        self.model > ANY_MODEL
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    #[error(transparent)]
    Sheet(#[from] SheetError),
    #[error("cannot read the sheets in {}", folder.display())]
    Read {
        folder: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

/// All sheets and faces, read but not checked.
#[derive(Debug, Clone)]
pub struct Library {
    sheets: Shelf,
    faces: Shelf,
}

#[derive(Debug, Clone, Default)]
struct Shelf {
    tables: Tables,
    applies_to: Vec<(String, Vec<AppliesTo>)>,
}

impl Shelf {
    fn add(&mut self, name: &str, text: &str) -> Result<(), SheetError> {
        let fail = |error: toml::de::Error| SheetError { sheet: name.to_owned(), problem: error.to_string() };
        let mut table: toml::Table = text.parse().map_err(fail)?;
        if let Some(value) = table.remove("applies_to") {
            self.applies_to.push((name.to_owned(), value.try_into().map_err(fail)?));
        }
        self.tables.insert(name.to_owned(), table);
        Ok(())
    }

    /// The closest and how close it is; of equals the first by name.
    fn closest(&self, vehicle: &Vehicle) -> Option<(Closeness, &str)> {
        let mut found: Option<(Closeness, &str)> = None;
        for (name, uses) in &self.applies_to {
            let closeness = uses.iter().filter_map(|applies| applies.closeness(vehicle)).max();
            if let Some(closeness) = closeness
                && found.is_none_or(|(best, _)| closeness > best)
            {
                found = Some((closeness, name));
            }
        }
        found
    }
}

static EMBEDDED: LazyLock<Result<Arc<Library>, SheetError>> =
    LazyLock::new(|| Library::of(SHEETS, FACES).map(Arc::new));

impl Library {
    /// The sheets inside the program.
    pub fn embedded() -> Result<Arc<Library>, SheetError> {
        EMBEDDED.clone()
    }

    /// The sheets of a folder, or those inside the program.
    pub fn open(folder: Option<&Path>) -> Result<Arc<Library>, LibraryError> {
        match folder {
            Some(folder) => Ok(Arc::new(Library::read(folder)?)),
            None => Ok(Library::embedded()?),
        }
    }

    /// The sheets of a folder laid out as `src/vehicle/sheets`: for people who draw them.
    pub fn read(folder: &Path) -> Result<Library, LibraryError> {
        let shelf = |folders: &[PathBuf]| -> Result<Vec<(String, String)>, LibraryError> {
            let mut texts = Vec::new();
            for folder in folders {
                let unreadable = |source| LibraryError::Read { folder: folder.clone(), source };
                for entry in std::fs::read_dir(folder).map_err(unreadable)? {
                    let path = entry.map_err(unreadable)?.path();
                    if path.extension().is_some_and(|extension| extension == "toml") {
                        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                        texts.push((name, std::fs::read_to_string(&path).map_err(unreadable)?));
                    }
                }
            }
            texts.sort();
            Ok(texts)
        };
        let sheets = shelf(&[folder.to_owned(), folder.join("models")])?;
        let faces = shelf(&[folder.join("faces")])?;
        Ok(Library::of(&as_pairs(&sheets), &as_pairs(&faces))?)
    }

    fn of(sheets: &[(&str, &str)], faces: &[(&str, &str)]) -> Result<Library, SheetError> {
        let mut library = Library { sheets: Shelf::default(), faces: Shelf::default() };
        for (name, text) in sheets {
            library.sheets.add(name, text)?;
        }
        for (name, text) in faces {
            library.faces.add(name, text)?;
        }
        Ok(library)
    }

    pub fn sheet(&self, name: &str) -> Result<Sheet, SheetError> {
        Sheet::read(name, &self.sheets.tables)
    }

    pub fn face(&self, name: &str) -> Result<FaceSheet, SheetError> {
        FaceSheet::read(name, &self.faces.tables)
    }

    /// Names of all sheets.
    pub fn sheet_names(&self) -> impl Iterator<Item = &str> {
        self.sheets.tables.keys().map(String::as_str)
    }

    /// Names of all faces.
    pub fn face_names(&self) -> impl Iterator<Item = &str> {
        self.faces.tables.keys().map(String::as_str)
    }

    /// The name of the sheet for a vehicle; none for bodies that have no template.
    pub fn sheet_for(&self, vehicle: &Vehicle) -> Option<&str> {
        self.sheets.closest(vehicle).map(|(_, name)| name)
    }

    /// Whether the vehicle's sheet was drawn for its model, not for a class or a make.
    pub fn is_drawn(&self, vehicle: &Vehicle) -> bool {
        self.sheets.closest(vehicle).is_some_and(|(closeness, _)| closeness.names_the_model())
    }

    /// The name of the face for a vehicle whose sheet leaves it to make and year.
    pub fn face_for(&self, vehicle: &Vehicle) -> Option<&str> {
        self.faces.closest(vehicle).map(|(_, name)| name)
    }

    /// The vehicle's sheet with its face on, varied by its name if it was not drawn for it; `None` when no template fits.
    pub fn dressed(&self, vehicle: &Vehicle) -> Result<Option<Sheet>, SheetError> {
        let Some((closeness, name)) = self.sheets.closest(vehicle) else { return Ok(None) };
        let mut sheet = self.sheet(name)?;
        let face = match sheet.face.as_str() {
            "own" => None,
            "make" => self.face_for(vehicle),
            named => Some(named),
        };
        if let Some(face) = face.map(|name| self.face(name)).transpose()? {
            face.put_on(&mut sheet);
        }
        if !closeness.names_the_model() {
            vary(&mut sheet, vehicle);
        }
        bonnet_lines::settle(&mut sheet, vehicle, closeness.names_the_model());
        wheel_fit::fit(&mut sheet, vehicle, closeness.names_the_model());
        date_small_parts(&mut sheet, vehicle);
        date_lamps(&mut sheet, vehicle);
        marque::complete(&mut sheet, vehicle);
        panels::settle(&mut sheet, vehicle);
        if let Some(truck) = &mut sheet.truck {
            truck.year = vehicle.year;
        }
        date_fittings(&mut sheet, vehicle);
        bumper::shape(&mut sheet, vehicle);
        Ok(Some(sheet))
    }
}

fn as_pairs(texts: &[(String, String)]) -> Vec<(&str, &str)> {
    texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::typical::typical;

    #[test]
    fn every_sheet_and_face_reads_and_what_it_applies_to_is_said_well() {
        let library = Library::embedded().unwrap();
        for name in library.sheet_names() {
            let sheet = library.sheet(name).unwrap_or_else(|error| panic!("{error}"));
            if !["own", "make"].contains(&sheet.face.as_str()) {
                library.face(&sheet.face).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
        for name in library.face_names() {
            library.face(name).unwrap_or_else(|error| panic!("{error}"));
        }
        for (name, uses) in library.sheets.applies_to.iter().chain(&library.faces.applies_to) {
            for applies in uses {
                // `pumper` is a fire engine of whatever make, as long as it is a truck.
                let placed = !applies.makes.is_empty() || !applies.bodies.is_empty();
                assert!(applies.models.is_empty() || placed, "{name}: a model without a make or body");
                let backwards = applies.years.is_some_and(|[first, last]| first > last);
                assert!(!backwards, "{name}: years run backwards");
                for slug in applies.makes.iter().chain(&applies.models) {
                    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                    assert!(slug.strip_suffix('*').unwrap_or(slug).chars().all(good), "{name}: `{slug}` is no slug");
                }
            }
        }
    }

    #[test]
    fn the_closest_sheet_wins() {
        let library = Library::of(
            &[
                ("car", "applies_to = [{ bodies = [\"sedan\"] }]"),
                ("long", "applies_to = [{ bodies = [\"sedan\"], length_mm = [5000, 9000] }]"),
                ("make", "applies_to = [{ makes = [\"acme\"] }]"),
                ("all", "applies_to = [{ makes = [\"works\"], models = [\"*\"] }]"),
                ("family", "applies_to = [{ makes = [\"acme\"], models = [\"one*\"] }]"),
                ("second", "applies_to = [{ makes = [\"acme\"], models = [\"one\"], years = [2010, 2019] }]"),
                ("third", "applies_to = [{ makes = [\"acme\"], models = [\"one\"], years = [2014, 2016] }]"),
                ("idle", "about = \"a base for others\""),
            ],
            &[],
        )
        .unwrap();
        let drawn = |make: &str, model: &str| {
            let mut vehicle = typical(BodyClass::Sedan);
            (vehicle.make, vehicle.model) = (make.to_owned(), model.to_owned());
            library.is_drawn(&vehicle)
        };
        assert!(drawn("acme", "one") && !drawn("acme", "two") && !drawn("works", "two"));
        let sheet_of = |make: &str, model: &str, year: u16, length_mm: u32| {
            let mut vehicle = typical(BodyClass::Sedan);
            (vehicle.make, vehicle.model, vehicle.year) = (make.to_owned(), model.to_owned(), year);
            vehicle.dimensions.length_mm = length_mm;
            library.sheet_for(&vehicle).map(str::to_owned)
        };
        for (make, model, year, length_mm, expected) in [
            ("other", "one", 2015, 4500, "car"),
            ("other", "one", 2015, 5200, "long"),
            ("acme", "two", 2015, 5200, "make"),
            ("acme", "one-gt", 2015, 4500, "family"),
            ("acme", "one", 2011, 4500, "second"),
            ("acme", "one", 2015, 4500, "third"),
            ("acme", "one", 2020, 4500, "family"),
        ] {
            assert_eq!(sheet_of(make, model, year, length_mm).as_deref(), Some(expected), "{make} {model} {year}");
        }
    }
}
