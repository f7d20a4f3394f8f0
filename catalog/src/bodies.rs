//! Holds which bodies a model had in which years. `data/bodies.tsv` is made from the sources,
//! `data/bodies.cc-by-sa.tsv` from the share-alike one. `data/bodies-known.tsv` is written by hand
//! and replaces both for the models that it lists.

use super::styles::{are_alike, body_of_phrase};
use super::{Catalog, Make, Model};
use cyclorama_core::{BodyClass, Dimensions, Vehicle};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

static KNOWN: &str = include_str!("../data/bodies-known.tsv");
static FROM_SOURCES: &str = include_str!("../data/bodies.tsv");
static SHARE_ALIKE: &str = include_str!("../data/bodies.cc-by-sa.tsv");

/// One line of a table: a body of a model in some years.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BodyLine {
    pub body: BodyClass,
    pub years: RangeInclusive<u16>,
    /// Length, width, height and wheelbase in millimetres, where they are known.
    sizes_mm: [Option<u32>; 4],
    /// Slugs of the make's rows that are this body.
    rows: Vec<String>,
}

/// All lines of a table by `make/model` in slugs.
#[derive(Debug, Default)]
struct BodyTable(HashMap<String, Vec<BodyLine>>);

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{line}`: {problem}")]
struct BadLine {
    line: String,
    problem: &'static str,
}

impl BodyTable {
    /// Joins the tables. A model that `known` lists has those lines and no others. Any other model
    /// has the lines of all sources together.
    fn read(known: &str, sources: &[&str]) -> Result<Self, BadLine> {
        let mut table = Self::of_text(known)?;
        let mut of_sources = BodyTable::default();
        for text in sources {
            for (model, lines) in Self::of_text(text)?.0 {
                of_sources.0.entry(model).or_default().extend(lines);
            }
        }
        for (model, lines) in of_sources.0 {
            table.0.entry(model).or_insert(lines);
        }
        Ok(table)
    }

    fn of_text(text: &str) -> Result<Self, BadLine> {
        let mut table = BodyTable::default();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (model, read) = BodyLine::read(line).map_err(|problem| BadLine { line: line.to_owned(), problem })?;
            table.0.entry(model.to_owned()).or_default().push(read);
        }
        Ok(table)
    }
}

impl BodyLine {
    fn read(text: &str) -> Result<(&str, Self), &'static str> {
        let cells: Vec<&str> = text.split('\t').collect();
        let [model, body, first, last, length, width, height, wheelbase, rows, _why] = cells[..] else {
            return Err("has not ten columns");
        };
        let body = body.parse().map_err(|_| "the second column is no body")?;
        let year = |cell: &str| cell.parse::<u16>().map_err(|_| "the third and fourth column are years");
        let years = year(first)?..=year(last)?;
        let mut sizes_mm = [None; 4];
        for (size, cell) in sizes_mm.iter_mut().zip([length, width, height, wheelbase]) {
            if cell != "-" {
                *size = Some(cell.parse().map_err(|_| "a size is neither a number nor `-`")?);
            }
        }
        let rows = rows.split(',').filter(|row| *row != "-").map(str::to_owned).collect();
        Ok((model, BodyLine { body, years, sizes_mm, rows }))
    }
}

/// Returns the listed bodies of a model in all years.
pub(super) fn lines(make: &str, model: &str) -> &'static [BodyLine] {
    /// The embedded tables. A test reads them, so that they are never left empty by a mistake.
    static READ: LazyLock<BodyTable> =
        LazyLock::new(|| BodyTable::read(KNOWN, &[FROM_SOURCES, SHARE_ALIKE]).unwrap_or_default());
    READ.0.get(&format!("{make}/{model}")).map_or(&[], Vec::as_slice)
}

/// Returns the body that a word stands for: `estate` and `wagon` are one. `None` for a word that
/// names no body.
pub fn body_of_word(word: &str) -> Option<BodyClass> {
    let text = word.trim().to_lowercase();
    text.parse().ok().or_else(|| body_of_phrase(&text))
}

impl Catalog {
    /// Returns every body that a model is offered with in a year, with the vehicle that is drawn
    /// for it; the usual body comes first. Empty for a year that the model does not have.
    pub fn bodies(&self, make: &Make, model: &Model, year: u16) -> Vec<Vehicle> {
        let Some(usual) = self.vehicle(make, model, year) else { return Vec::new() };
        let mut bodies = vec![usual.clone()];
        for line in lines(&make.slug, &model.slug).iter().filter(|line| line.years.contains(&year)) {
            if bodies.iter().all(|other| other.body != line.body) {
                bodies.push(self.with_body(make, &usual, line));
            }
        }
        bodies[1..].sort_by_key(|vehicle| vehicle.body as u8);
        bodies
    }

    /// The vehicle with another body than the usual one: the row for that body where the release
    /// has one, else the usual vehicle with the sizes that are known of the body, or that such a
    /// body usually has.
    fn with_body(&self, make: &Make, usual: &Vehicle, line: &BodyLine) -> Vehicle {
        let rows = line.rows.iter().filter_map(|slug| self.row(&make.slug, slug));
        let own = rows.filter_map(|(make, model)| self.vehicle(make, model, usual.year));
        if let Some(own) = own.into_iter().find(|vehicle| vehicle.body == line.body) {
            return own;
        }
        let typical = typical(usual, line.body);
        let [length, width, height, wheelbase] = line.sizes_mm;
        let dimensions = Dimensions {
            length_mm: length.unwrap_or(typical.length_mm),
            width_mm: width.unwrap_or(typical.width_mm),
            height_mm: height.unwrap_or(typical.height_mm),
            wheelbase_mm: wheelbase.unwrap_or(typical.wheelbase_mm),
            front_track_mm: typical.front_track_mm,
        };
        Vehicle { body: line.body, dimensions, ..usual.clone() }
    }
}

/// A row of the same car that is offered with a body.
pub(super) struct RowWithBody<'a> {
    pub make: &'a Make,
    pub model: &'a Model,
    pub vehicle: Vehicle,
}

impl Catalog {
    /// Finds the row that is offered with a body in a year: the row itself, another row of the same
    /// car, or its family. `328i Convertible` is a 3 Series where the register has a saloon of that
    /// name only.
    pub(super) fn row_with_body<'a>(
        &'a self,
        make: &'a Make,
        model: &'a Model,
        year: u16,
        body: BodyClass,
    ) -> Option<RowWithBody<'a>> {
        let rows = std::iter::once((make, model)).chain(self.twins(make, model)).chain(self.family(make, model));
        let offered = |(make, model): (&'a Make, &'a Model)| {
            let vehicle = meant(body, &self.bodies(make, model, year))?.clone();
            Some(RowWithBody { make, model, vehicle })
        };
        rows.into_iter().find_map(offered)
    }
}

/// The usual difference of bodies of one model from its hatchback in length and height, in
/// millimetres: means over models that are sold with several bodies, rounded to a centimetre.
const fn beyond_hatchback_mm(body: BodyClass) -> (i32, i32) {
    match body {
        BodyClass::Sedan => (230, -10),
        BodyClass::Fastback => (180, -20),
        BodyClass::Coupe => (120, -60),
        BodyClass::Convertible => (100, -50),
        BodyClass::Wagon => (260, 30),
        _ => (0, 0),
    }
}

/// Estimates the sizes of a model with another body from those of its usual one.
fn typical(usual: &Vehicle, body: BodyClass) -> Dimensions {
    let ((own_length, own_height), (length, height)) = (beyond_hatchback_mm(usual.body), beyond_hatchback_mm(body));
    let Dimensions { length_mm, height_mm, .. } = usual.dimensions;
    Dimensions {
        length_mm: length_mm.saturating_add_signed(length - own_length),
        height_mm: height_mm.saturating_add_signed(height - own_height),
        ..usual.dimensions
    }
}

/// Chooses among the offered bodies: the requested one, else the only one that the same words are
/// used for (`suv` for an off-roader).
pub(super) fn meant(asked: BodyClass, offered: &[Vehicle]) -> Option<&Vehicle> {
    let itself = offered.iter().find(|vehicle| vehicle.body == asked);
    itself.or_else(|| {
        let mut alike = offered.iter().filter(|vehicle| are_alike(asked, vehicle.body));
        alike.next().filter(|_| alike.next().is_none())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_reads_and_names_a_model_of_the_release() {
        let catalog = Catalog::embedded().unwrap();
        for text in [KNOWN, FROM_SOURCES, SHARE_ALIKE] {
            let table = BodyTable::of_text(text).unwrap_or_else(|error| panic!("{error}"));
            for (name, lines) in table.0 {
                let (make, model) = name.split_once('/').unwrap_or_else(|| panic!("{name}"));
                let (make, _) = catalog.row(make, model).unwrap_or_else(|| panic!("no row {name}"));
                for line in &lines {
                    assert!(line.years.start() <= line.years.end(), "{name}: {line:?}");
                    for row in &line.rows {
                        assert!(catalog.row(&make.slug, row).is_some(), "{name}: no row {row}");
                    }
                }
                for (position, line) in lines.iter().enumerate() {
                    let overlaps = |other: &BodyLine| {
                        other.body == line.body
                            && other.years.start() <= line.years.end()
                            && line.years.start() <= other.years.end()
                    };
                    assert!(!lines[position + 1..].iter().any(overlaps), "{name}: {line:?} overlaps another line");
                }
            }
        }
    }

    #[test]
    fn a_faulty_line_says_what_is_wrong() {
        let line = |text: &str| BodyTable::of_text(text).unwrap_err().problem;
        assert_eq!(line("a/b\twagon"), "has not ten columns");
        assert_eq!(line("a/b\tboat\t2000\t2001\t-\t-\t-\t-\t-\twhy"), "the second column is no body");
        assert_eq!(line("a/b\twagon\t2000\tnow\t-\t-\t-\t-\t-\twhy"), "the third and fourth column are years");
        assert_eq!(line("a/b\twagon\t2000\t2001\tlong\t-\t-\t-\t-\twhy"), "a size is neither a number nor `-`");
    }

    #[test]
    fn words_for_bodies() {
        for (word, body) in [
            ("estate", Some(BodyClass::Wagon)),
            ("wagon", Some(BodyClass::Wagon)),
            ("Saloon", Some(BodyClass::Sedan)),
            ("cabriolet", Some(BodyClass::Convertible)),
            ("off-roader", Some(BodyClass::OffRoader)),
            ("minivan", Some(BodyClass::Minivan)),
            ("golf", None),
            ("", None),
        ] {
            assert_eq!(body_of_word(word), body, "{word}");
        }
    }
}
