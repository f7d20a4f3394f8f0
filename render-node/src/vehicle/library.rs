//! The library of sheets and faces, and the choice of those that a vehicle is built from.
//!
//! Every file names the vehicles that it is for (`[[applies_to]]`), so a new file does not have to
//! be added to a list. The closest one wins: a sheet that names the model comes before one that
//! names the make, and that before one that names only the body class.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use cyclorama_core::vehicle::{BodyClass, Vehicle};
use cyclorama_drawings::{Drawings, Header};

use super::face::FaceSheet;
use super::fitting_years::date_fittings;
use super::lamp_years::date_lamps;
use super::motorcycle::two_wheelers::{Texts, TwoWheelers};
use super::sheet::Sheet;
use super::sheet::tables::{SheetError, Tables};
use super::small_parts::date_small_parts;
use super::variation::vary;
use super::{bonnet_lines, bumper, flank_form, marque, opened, panels, proportions, relative, wheel_fit};

include!(concat!(env!("OUT_DIR"), "/sheet_texts.rs"));

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

/// All sheets and faces, parsed but not checked.
#[derive(Debug, Clone)]
pub struct Library {
    sheets: Tables,
    faces: Tables,
    /// The vehicles that each sheet and face is for.
    drawings: Drawings,
    two_wheelers: TwoWheelers,
}

/// Parses the tables of some files, and the header of each.
fn read_all(texts: &[(&str, &str)]) -> Result<(Tables, Vec<Header>), SheetError> {
    let mut tables = Tables::new();
    let mut headers = Vec::with_capacity(texts.len());
    for (name, text) in texts {
        let fail = |error: toml::de::Error| SheetError { sheet: (*name).to_owned(), problem: error.to_string() };
        let mut table: toml::Table = text.parse().map_err(fail)?;
        let applies_to = table.remove("applies_to").map_or(Ok(Vec::new()), toml::Value::try_into).map_err(fail)?;
        let word = |key: &str| table.get(key).and_then(toml::Value::as_str).map(str::to_owned);
        headers.push(Header {
            name: (*name).to_owned(),
            base: word("base"),
            face: word("face"),
            applies_to,
            is_measured: table.contains_key("facts"),
            generation: word("generation"),
        });
        tables.insert((*name).to_owned(), table);
    }
    Ok((tables, headers))
}

static EMBEDDED: LazyLock<Result<Arc<Library>, SheetError>> =
    LazyLock::new(|| Library::of(SHEETS, FACES, &TWO_WHEELERS).map(Arc::new));

/// The tables of two-wheelers that are compiled into the program.
pub(super) const TWO_WHEELERS: Texts<'static> = Texts {
    families: TWO_WHEELER_FAMILIES,
    words: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sheets/two-wheelers/words.toml")),
    variation: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sheets/two-wheelers/variation.toml")),
};

impl Library {
    /// Returns the sheets that are compiled into the program.
    pub fn embedded() -> Result<Arc<Library>, SheetError> {
        EMBEDDED.clone()
    }

    /// Returns the sheets of a folder, or without a folder those that are
    /// compiled into the program.
    pub fn open(folder: Option<&Path>) -> Result<Arc<Library>, LibraryError> {
        match folder {
            Some(folder) => Ok(Arc::new(Library::read(folder)?)),
            None => Ok(Library::embedded()?),
        }
    }

    /// Reads the sheets of a folder that is laid out as `render-node/sheets`,
    /// for people who draw them.
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
        let two_wheelers = folder.join("two-wheelers");
        let text = |file: &str| {
            let path = two_wheelers.join(file);
            std::fs::read_to_string(&path).map_err(|source| LibraryError::Read { folder: path, source })
        };
        let families = shelf(&[two_wheelers.join("families")])?;
        let two_wheelers =
            Texts { families: &as_pairs(&families), words: &text("words.toml")?, variation: &text("variation.toml")? };
        Ok(Library::of(&as_pairs(&sheets), &as_pairs(&faces), &two_wheelers)?)
    }

    fn of(sheets: &[(&str, &str)], faces: &[(&str, &str)], two_wheelers: &Texts<'_>) -> Result<Library, SheetError> {
        let (sheets, sheet_headers) = read_all(sheets)?;
        let (faces, face_headers) = read_all(faces)?;
        let drawings = Drawings::new(sheet_headers, face_headers);
        Ok(Library { sheets, faces, drawings, two_wheelers: TwoWheelers::read(two_wheelers)? })
    }

    /// Returns the tables that two-wheelers are drawn from.
    pub(crate) fn two_wheelers(&self) -> &TwoWheelers {
        &self.two_wheelers
    }

    pub fn sheet(&self, name: &str) -> Result<Sheet, SheetError> {
        Sheet::read(name, &self.sheets)
    }

    pub fn face(&self, name: &str) -> Result<FaceSheet, SheetError> {
        FaceSheet::read(name, &self.faces)
    }

    /// Returns the names of all sheets.
    pub fn sheet_names(&self) -> impl Iterator<Item = &str> {
        self.sheets.keys().map(String::as_str)
    }

    /// Returns the names of all faces.
    pub fn face_names(&self) -> impl Iterator<Item = &str> {
        self.faces.keys().map(String::as_str)
    }

    /// Returns the name of the sheet for a vehicle, or `None` for bodies that have no template.
    pub fn sheet_for(&self, vehicle: &Vehicle) -> Option<&str> {
        self.drawings.sheet(vehicle).map(|(_, name)| name)
    }

    /// True if the vehicle's sheet was drawn for its model, not for a class or a make.
    pub fn is_drawn(&self, vehicle: &Vehicle) -> bool {
        self.drawings.sheet(vehicle).is_some_and(|(closeness, _)| closeness.names_the_model())
    }

    /// Returns the name of the face for a vehicle whose sheet leaves the face to make and year.
    pub fn face_for(&self, vehicle: &Vehicle) -> Option<&str> {
        self.drawings.face(vehicle).map(|(_, name)| name)
    }

    /// Returns the vehicle in the year that stands for its look, so that all years of a look are
    /// drawn in the same way.
    pub fn in_year_of_its_look(&self, vehicle: &Vehicle) -> Vehicle {
        Vehicle { year: self.drawings.look(vehicle).year, ..vehicle.clone() }
    }

    /// Returns the sheet called `name` with the face that it names.
    fn with_face(&self, name: &str, vehicle: &Vehicle) -> Result<Sheet, SheetError> {
        let mut sheet = self.sheet(name)?;
        let face = match sheet.face.as_str() {
            "own" => None,
            "make" => self.face_for(vehicle),
            named => Some(named),
        };
        if let Some(face) = face.map(|name| self.face(name)).transpose()? {
            face.put_on(&mut sheet);
        }
        Ok(sheet)
    }

    /// Returns the coupe of a convertible's model with its roof removed, if the coupe was drawn.
    fn opened_coupe(&self, vehicle: &Vehicle) -> Result<Option<Sheet>, SheetError> {
        let Some(name) = self.drawings.coupe_of_convertible(vehicle) else { return Ok(None) };
        let coupe = Vehicle { body: BodyClass::Coupe, ..vehicle.clone() };
        let mut sheet = self.with_face(name, &coupe)?;
        Ok(opened::take_roof_off(&mut sheet).then_some(sheet))
    }

    /// Adapts a template to the model: with the front of the model's drawing with another body, or
    /// else with variations by the model's name.
    fn make_its_own(&self, sheet: &mut Sheet, vehicle: &Vehicle) -> Result<(), SheetError> {
        let name = self.drawings.another_body(vehicle);
        let relative = name.map(|name| self.with_face(name, vehicle)).transpose()?;
        match &relative {
            Some(relative) => relative::take_over(sheet, relative),
            None => vary(sheet, vehicle),
        }
        proportions::settle(sheet, vehicle);
        if let Some(facts) = relative.as_ref().and_then(|relative| relative.facts.as_ref()) {
            relative::take_over_places(sheet, facts, vehicle);
        }
        Ok(())
    }

    /// Returns the vehicle's sheet with its face, or `None` if no template fits.
    pub fn dressed(&self, vehicle: &Vehicle) -> Result<Option<Sheet>, SheetError> {
        let Some((closeness, name)) = self.drawings.sheet(vehicle) else { return Ok(None) };
        let mut is_drawn = closeness.names_the_model();
        let mut sheet = self.with_face(name, vehicle)?;
        if !is_drawn && let Some(open) = self.opened_coupe(vehicle)? {
            (sheet, is_drawn) = (open, true);
        }
        if !is_drawn {
            self.make_its_own(&mut sheet, vehicle)?;
        }
        flank_form::shape(&mut sheet, vehicle, is_drawn);
        bonnet_lines::settle(&mut sheet, vehicle, is_drawn);
        wheel_fit::fit(&mut sheet, vehicle, is_drawn);
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
        for (name, applies) in library.drawings.uses() {
            // `pumper` is a fire engine of any make, if its body is a truck.
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
