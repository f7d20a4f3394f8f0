//! Holds which bodies a model had in which years. `data/bodies.tsv` is made from the sources,
//! `data/bodies.cc-by-sa.tsv` from the share-alike one. `data/bodies-known.tsv` is written by hand
//! and replaces both for the models that it lists. `data/usual-bodies.tsv` corrects which of them a
//! model usually has.

use super::release::{FIRST_YEAR, Release, Span, facts_in, spans};
use super::styles::{are_alike, body_of_phrase};
use super::{Catalog, Make, Model};
use cyclorama_core::{BodyClass, Dimensions, Vehicle};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

static KNOWN: &str = include_str!("../data/bodies-known.tsv");
static FROM_SOURCES: &str = include_str!("../data/bodies.tsv");
static SHARE_ALIKE: &str = include_str!("../data/bodies.cc-by-sa.tsv");
static USUAL: &str = include_str!("../data/usual-bodies.tsv");

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
    fn of_text(text: &str) -> Result<Self, BadLine> {
        by_model(text, BodyLine::read).map(BodyTable)
    }

    /// Joins the tables that are made from the sources. A model has the lines of all of them.
    fn of_sources() -> Result<Self, BadLine> {
        let mut table = Self::of_text(FROM_SOURCES)?;
        for (model, lines) in Self::of_text(SHARE_ALIKE)?.0 {
            table.0.entry(model).or_default().extend(lines);
        }
        Ok(table)
    }
}

/// Reads the lines of a table by `make/model` in slugs. `read` returns a line's model and the rest
/// of it, or what is wrong with it.
fn by_model<'t, T>(
    text: &'t str,
    read: impl Fn(&'t str) -> Result<(&'t str, T), &'static str>,
) -> Result<HashMap<String, Vec<T>>, BadLine> {
    let mut table: HashMap<String, Vec<T>> = HashMap::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (model, one) = read(line).map_err(|problem| BadLine { line: line.to_owned(), problem })?;
        table.entry(model.to_owned()).or_default().push(one);
    }
    Ok(table)
}

/// Reads the cells of a first and a last year.
fn years(first: &str, last: &str) -> Result<RangeInclusive<u16>, &'static str> {
    let year = |cell: &str| cell.parse::<u16>().map_err(|_| "the third and fourth column are years");
    Ok(year(first)?..=year(last)?)
}

impl BodyLine {
    fn read(text: &str) -> Result<(&str, Self), &'static str> {
        let cells: Vec<&str> = text.split('\t').collect();
        let [model, body, first, last, length, width, height, wheelbase, rows, _why] = cells[..] else {
            return Err("has not ten columns");
        };
        let body = body.parse().map_err(|_| "the second column is no body")?;
        let years = years(first, last)?;
        let mut sizes_mm = [None; 4];
        for (size, cell) in sizes_mm.iter_mut().zip([length, width, height, wheelbase]) {
            if cell != "-" {
                *size = Some(cell.parse().map_err(|_| "a size is neither a number nor `-`")?);
            }
        }
        let rows = rows.split(',').filter(|row| *row != "-").map(str::to_owned).collect();
        Ok((model, BodyLine { body, years, sizes_mm, rows }))
    }

    /// Returns dimensions with the sizes that are known of this body in place of their own.
    fn sizes_over(&self, other: Dimensions) -> Dimensions {
        let [length, width, height, wheelbase] = self.sizes_mm;
        Dimensions {
            length_mm: length.unwrap_or(other.length_mm),
            width_mm: width.unwrap_or(other.width_mm),
            height_mm: height.unwrap_or(other.height_mm),
            wheelbase_mm: wheelbase.unwrap_or(other.wheelbase_mm),
            ..other
        }
    }
}

/// The embedded tables. Tests read them, so that they are never left empty by a mistake.
static KNOWN_BODIES: LazyLock<BodyTable> = LazyLock::new(|| BodyTable::of_text(KNOWN).unwrap_or_default());
static SOURCE_BODIES: LazyLock<BodyTable> = LazyLock::new(|| BodyTable::of_sources().unwrap_or_default());
static USUAL_BODIES: LazyLock<HashMap<String, Vec<UsualBody>>> =
    LazyLock::new(|| by_model(USUAL, UsualBody::read).unwrap_or_default());

/// Returns the listed bodies of a model in all years. A model that the hand-written table lists has
/// those lines and no others.
pub(super) fn lines(make: &str, model: &str) -> &'static [BodyLine] {
    let name = format!("{make}/{model}");
    KNOWN_BODIES.0.get(&name).or_else(|| SOURCE_BODIES.0.get(&name)).map_or(&[], Vec::as_slice)
}

/// The usual body of a model in some years, where the sources have another one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct UsualBody {
    body: BodyClass,
    years: RangeInclusive<u16>,
}

impl UsualBody {
    fn read(text: &str) -> Result<(&str, Self), &'static str> {
        let cells: Vec<&str> = text.split('\t').collect();
        let [model, body, first, last, _why] = cells[..] else { return Err("has not five columns") };
        let body = body.parse().map_err(|_| "the second column is no body")?;
        Ok((model, UsualBody { body, years: years(first, last)? }))
    }
}

/// Corrects the usual bodies of a release and their sizes by the hand-written tables. Returns the
/// spans that models with a corrected body had before, by `make/model` in slugs: images and ids
/// from before the correction are named by them.
pub(super) fn correct_usual_bodies(release: &mut Release) -> HashMap<String, Vec<Span>> {
    let mut before = HashMap::new();
    let Release { makes, dimensions, .. } = release;
    let mut places: HashMap<Dimensions, u32> = HashMap::new();
    for make in makes {
        for model in &mut make.models {
            let name = format!("{}/{}", make.slug, model.slug);
            let Some(listed) = KNOWN_BODIES.0.get(&name) else { continue };
            let corrections = USUAL_BODIES.get(&name).map_or(&[][..], Vec::as_slice);
            let years: Vec<(u8, u8, u32)> = (0..64)
                .map(|offset| {
                    let (body, place) = model.facts_of(offset);
                    let year = FIRST_YEAR + u16::from(offset);
                    let right = corrections.iter().find(|one| one.years.contains(&year)).map(|one| one.body);
                    let right = right.or(BodyClass::ALL.get(usize::from(body)).copied());
                    let Some((right, sources)) = right.zip(dimensions.get(place as usize).copied()) else {
                        return (offset, body, place);
                    };
                    let sized = sized(listed, right, year, usize::from(body) != right as usize, sources);
                    if sized == sources {
                        return (offset, right as u8, place);
                    }
                    let place = *places.entry(sized).or_insert_with(|| {
                        dimensions.push(sized);
                        dimensions.len() as u32 - 1
                    });
                    (offset, right as u8, place)
                })
                .collect();
            let has_another_body = years.iter().any(|(offset, body, _)| *body != model.facts_of(*offset).0);
            let spans_before = std::mem::replace(&mut model.spans, spans(years.into_iter()));
            if has_another_body {
                before.insert(name, spans_before);
            }
        }
    }
    before
}

/// Returns the published sizes of a body in a year where its line has them, else those of the
/// sources. A corrected body takes the sizes of its line that is nearest in time, because those of
/// the sources belong to another body.
fn sized(listed: &[BodyLine], body: BodyClass, year: u16, is_corrected: bool, sources: Dimensions) -> Dimensions {
    let years_apart =
        |line: &&BodyLine| line.years.start().saturating_sub(year) + year.saturating_sub(*line.years.end());
    let of_body = listed.iter().filter(|line| line.body == body);
    let line = of_body.min_by_key(years_apart).filter(|line| is_corrected || line.years.contains(&year));
    let sized = line.map_or(sources, |line| line.sizes_over(sources));
    Dimensions { front_track_mm: sources.front_track_mm * sized.width_mm / sources.width_mm.max(1), ..sized }
}

/// Returns the body that a word stands for: `estate` and `wagon` are one. `None` for a word that
/// names no body.
pub fn body_of_word(word: &str) -> Option<BodyClass> {
    let text = word.trim().to_lowercase();
    text.parse().ok().or_else(|| body_of_phrase(&text))
}

impl Catalog {
    /// Returns the usual body of a model in a year as the sources have it, where that is corrected;
    /// `None` where it is not.
    pub(super) fn corrected_body(&self, make: &Make, model: &Model, year: u16) -> Option<BodyClass> {
        let before = self.spans_before(make, model)?;
        let offset = u8::try_from(year.checked_sub(FIRST_YEAR)?).ok()?;
        let (body, _) = facts_in(before, offset);
        BodyClass::ALL.get(usize::from(body)).copied().filter(|body| *body != model.body_in(year))
    }

    /// Returns the spans of a model as the sources have them, where its usual body is corrected.
    pub(super) fn spans_before(&self, make: &Make, model: &Model) -> Option<&[Span]> {
        self.spans_before.get(&format!("{}/{}", make.slug, model.slug)).map(Vec::as_slice)
    }

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
        let dimensions = line.sizes_over(typical(usual, line.body));
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
    use crate::{AskedName, AskedVehicle, AskedYear, VehicleId};

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
    fn every_corrected_body_is_listed_and_the_sources_have_another() {
        let catalog = Catalog::embedded().unwrap();
        let known = BodyTable::of_text(KNOWN).unwrap();
        let corrections = by_model(USUAL, UsualBody::read).unwrap_or_else(|error| panic!("{error}"));
        assert!(!corrections.is_empty());
        for (name, corrections) in corrections {
            let (make, model) = name.split_once('/').unwrap_or_else(|| panic!("{name}"));
            let (make, model) = catalog.row(make, model).unwrap_or_else(|| panic!("no row {name}"));
            for UsualBody { body, years } in corrections {
                assert!(known.0[&name].iter().any(|line| line.body == body), "{name}: {body} is not listed");
                assert!(years.clone().any(|year| catalog.corrected_body(make, model, year).is_some()), "{name} {body}");
                let usual = years.filter_map(|year| catalog.vehicle(make, model, year));
                assert!(usual.fold(0, |count, vehicle| count + usize::from(vehicle.body == body)) > 0, "{name} {body}");
            }
        }
    }

    #[test]
    fn a_corrected_body_has_its_sizes_and_its_old_id_and_key_stay_apart() {
        let catalog = Catalog::embedded().unwrap();
        let (make, model) = catalog.row("renault", "megane").unwrap();
        let usual = catalog.vehicle(make, model, 2010).unwrap();
        assert_eq!((usual.body, usual.dimensions.height_mm), (BodyClass::Hatchback, 1471));
        assert_eq!(catalog.bodies(make, model, 2010)[0], usual);
        let (make, model) = catalog.row("dacia", "logan").unwrap();
        let logan = catalog.vehicle(make, model, 2009).unwrap();
        assert_eq!((logan.body, logan.dimensions.length_mm), (BodyClass::Sedan, 4247), "the sources have 4.83 m");
        assert_eq!(catalog.key_of(&logan).body, None);
        let (make, model) = catalog.row("renault", "megane").unwrap();
        assert!(catalog.bodies(make, model, 2010).iter().all(|vehicle| vehicle.body != BodyClass::Suv));
        // Images of the tall body may be stored under the key without a body.
        assert_eq!(catalog.key_of(&usual).body, Some(BodyClass::Hatchback));
        // An old id stands for the right body in the years that are corrected, and for itself in
        // others.
        let (_, _, body) = catalog.of_id(VehicleId::of("seat", "exeo", BodyClass::Hatchback)).unwrap();
        assert_eq!(body, BodyClass::Sedan);
        let name = AskedName::Id(VehicleId::of("renault", "megane", BodyClass::Suv));
        for (year, body) in [(2010, BodyClass::Hatchback), (2024, BodyClass::Suv)] {
            let asked = AskedVehicle { name: name.clone(), year: AskedYear::Year(year), body: None };
            assert_eq!(catalog.find_asked(&asked).unwrap().vehicle.body, body, "{year}");
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
