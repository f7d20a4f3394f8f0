//! Finds the years of a model that look the same: those with the same drawing and about the same
//! dimensions, and all years of a generation that was drawn by itself. One look is rendered once,
//! in one size.

use super::{Catalog, Make, Model};
use cyclorama_core::{BodyClass, Dimensions, Vehicle, VehicleKey, VehicleType};
use cyclorama_drawings::{Drawings, Look as DrawnLook};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Hexadecimal digits of a look's id: 96 bits.
const ID_DIGITS: usize = 24;

/// An appearance that several years of a model share, and with it their images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// A digest of what is drawn. It is equal for all vehicles that share their images.
    pub id: String,
    /// Every year that has the look, by the keys under which its images may be stored; in order of
    /// year.
    pub keys: Vec<VehicleKey>,
    /// The size in which the look is drawn: that of the year in the middle.
    pub dimensions: Dimensions,
}

/// Consecutive years in which a model has one look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Generation {
    /// The name that the maker or people use, such as `Mk7` or `E46`; `None` where the drawing has
    /// none.
    pub name: Option<String>,
    pub from: u16,
    pub to: u16,
    /// True if this generation is the one before it with another face.
    pub facelift: bool,
}

/// Sources differ by this much about one vehicle from year to year: length, width, height,
/// wheelbase and front track, in millimetres. In an image of 1024 px, 45 mm of a car's length are
/// 10 px.
/// Why: `docs/decisions/bodies-looks-and-vins.md` (How much sizes may differ within a look).
const SAME_SIZE_MM: [u32; 5] = [45, 30, 35, 20, 45];

fn sizes_mm(dimensions: &Dimensions) -> [u32; 5] {
    let Dimensions { length_mm, width_mm, height_mm, wheelbase_mm, front_track_mm } = *dimensions;
    [length_mm, width_mm, height_mm, wheelbase_mm, front_track_mm]
}

fn has_same_size(one: &Dimensions, other: &Dimensions) -> bool {
    let pairs = sizes_mm(one).into_iter().zip(sizes_mm(other));
    pairs.zip(SAME_SIZE_MM).all(|((one, other), most)| one.abs_diff(other) <= most)
}

/// Everything that an image is made from except the size. Vehicles with the same manner and about
/// the same size share a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Manner<'a> {
    look: DrawnLook<'a>,
    vehicle_type: VehicleType,
}

impl Manner<'static> {
    fn of(vehicle: &Vehicle) -> Self {
        Manner { look: Drawings::embedded().look(vehicle), vehicle_type: vehicle.vehicle_type }
    }

    /// Computes the digest of what is drawn, in the size of that vehicle.
    fn look_id(&self, drawn: &Vehicle) -> String {
        let DrawnLook { drawing, year, is_generation: _ } = self.look;
        let [sheet, face, relative] = [drawing.sheet, drawing.face, drawing.relative].map(|name| name.unwrap_or("-"));
        let Vehicle { make, model, vehicle_type, body, dimensions, year: _ } = drawn;
        let [length, width, height, wheelbase, track] = sizes_mm(dimensions);
        let text = format!(
            "{make}/{model} {vehicle_type} {body} {length} {width} {height} {wheelbase} {track} {sheet} {face} {relative} {year}"
        );
        let mut id = hex::encode(Sha256::digest(text));
        id.truncate(ID_DIGITS);
        id
    }
}

/// The years that have one look, in order; at least one.
struct LookYears {
    manner: Manner<'static>,
    first: Vehicle,
    years: Vec<(VehicleKey, Vehicle)>,
}

impl LookYears {
    fn has(&self, manner: Manner, vehicle: &Vehicle) -> bool {
        let has_same_size = || has_same_size(&self.first.dimensions, &vehicle.dimensions);
        self.manner == manner && (manner.look.is_generation || has_same_size())
    }

    fn look(&self) -> Look {
        let middle = self.manner.look.year;
        let drawn = self.years.iter().map(|(_, vehicle)| vehicle).min_by_key(|vehicle| vehicle.year.abs_diff(middle));
        let drawn = drawn.unwrap_or(&self.first);
        Look {
            id: self.manner.look_id(drawn),
            keys: self.years.iter().map(|(key, _)| key.clone()).collect(),
            dimensions: drawn.dimensions,
        }
    }
}

impl Catalog {
    /// Returns the look of a vehicle that comes from [`Catalog::bodies`] or [`Catalog::vehicle`].
    pub fn look(&self, vehicle: &Vehicle) -> Look {
        let own = self.key_of(vehicle);
        let looks = self.looks(&vehicle.make, &vehicle.model, vehicle.body);
        let found = looks.into_iter().find(|look| look.keys.contains(&own));
        found.unwrap_or_else(|| Look {
            id: Manner::of(vehicle).look_id(vehicle),
            keys: vec![own],
            dimensions: vehicle.dimensions,
        })
    }

    /// Returns the looks of a row's years with one body, in order of their first year. Empty for
    /// slugs that no row has.
    pub fn looks(&self, make: &str, model: &str, body: BodyClass) -> Vec<Look> {
        self.gathered(make, model, body).iter().map(LookYears::look).collect()
    }

    fn gathered(&self, make: &str, model: &str, body: BodyClass) -> Vec<LookYears> {
        let mut gathered: Vec<LookYears> = Vec::new();
        let Some((make, model)) = self.row(make, model) else { return gathered };
        for year in model.years().iter() {
            let drawn = self.drawn(make, model, year, body);
            // Where the release lists the body as a model of its own, that model has the looks.
            let Some((key, vehicle)) = drawn.filter(|(key, _)| key.model == model.slug) else { continue };
            let manner = Manner::of(&vehicle);
            match gathered.iter_mut().find(|other| other.has(manner, &vehicle)) {
                Some(same) => same.years.push((key, vehicle)),
                None => gathered.push(LookYears { manner, first: vehicle.clone(), years: vec![(key, vehicle)] }),
            }
        }
        gathered
    }

    /// A model with a body in a year, and the key under which its images are stored.
    fn drawn(&self, make: &Make, model: &Model, year: u16, body: BodyClass) -> Option<(VehicleKey, Vehicle)> {
        let offered = self.bodies(make, model, year);
        let vehicle = offered.into_iter().find(|vehicle| vehicle.body == body)?;
        Some((self.key_of(&vehicle), vehicle))
    }

    /// The key under which images of a vehicle are stored: that of the row that is drawn, with its
    /// body where that is not the usual one of the sources.
    pub fn key_of(&self, vehicle: &Vehicle) -> VehicleKey {
        let usual = self.row(&vehicle.make, &vehicle.model).map(|(make, model)| {
            self.corrected_body(make, model, vehicle.year).unwrap_or_else(|| model.body_in(vehicle.year))
        });
        VehicleKey {
            make: vehicle.make.clone(),
            model: vehicle.model.clone(),
            body: usual.filter(|usual| *usual != vehicle.body).map(|_| vehicle.body),
            year: vehicle.year,
        }
    }

    /// Returns the looks that a model had with a body, in order of time. Years in which it was not
    /// sold make no gap.
    pub fn generations(&self, make: &Make, model: &Model, body: BodyClass) -> Vec<Generation> {
        let gathered = self.generation_looks(make, model, body);
        let mut generations: Vec<(usize, Generation)> = Vec::new();
        for year in model.years().iter() {
            let has_year = |one: &LookYears| one.years.iter().any(|(key, _)| key.year == year);
            let Some(position) = gathered.iter().position(has_year) else { continue };
            match generations.last_mut().filter(|(last, _)| *last == position) {
                Some((_, generation)) => generation.to = year,
                None => {
                    let drawn = &gathered[position];
                    let before = generations.last().map(|(last, _)| &gathered[*last]);
                    let facelift = before.is_some_and(|before| is_facelift(before, drawn));
                    let sheet = drawn.manner.look.drawing.sheet.unwrap_or_default();
                    let name = Drawings::embedded().generation(sheet).map(str::to_owned);
                    generations.push((position, Generation { name, from: year, to: year, facelift }));
                }
            }
        }
        generations.into_iter().map(|(_, generation)| generation).collect()
    }

    /// The looks of a body: those of the row that lists the body as a model of its own, where the
    /// release has one.
    fn generation_looks(&self, make: &Make, model: &Model, body: BodyClass) -> Vec<LookYears> {
        let own = self.gathered(&make.slug, &model.slug, body);
        let mut rows: Vec<String> = Vec::new();
        for year in model.years().iter() {
            let drawn = self.drawn(make, model, year, body).map(|(key, _)| key.model);
            rows.extend(drawn.filter(|row| *row != model.slug && !rows.contains(row)));
        }
        let of_rows = rows.iter().flat_map(|row| self.gathered(&make.slug, row, body));
        own.into_iter().chain(of_rows).collect()
    }
}

/// True if a look is the one before it with another face or other lamps: it has the same sheet or
/// one that starts from it, in about the same size.
fn is_facelift(before: &LookYears, after: &LookYears) -> bool {
    let sheets = [before, after].map(|one| one.manner.look.drawing.sheet.unwrap_or_default());
    let is_related = sheets[0] == sheets[1] || Drawings::embedded().base(sheets[1]) == Some(sheets[0]);
    is_related && has_same_size(&before.first.dimensions, &after.first.dimensions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn years_of_one_look_share_it_and_every_year_has_one() {
        let catalog = Catalog::embedded().unwrap();
        for (make, model) in [("volkswagen", "golf"), ("ford", "f-150"), ("bmw", "3-series"), ("honda", "pc800")] {
            let (make, model) = catalog.row(make, model).unwrap();
            let mut seen: HashMap<String, Vec<VehicleKey>> = HashMap::new();
            for year in model.years().iter() {
                for vehicle in catalog.bodies(make, model, year) {
                    let look = catalog.look(&vehicle);
                    assert!(look.keys.contains(&catalog.key_of(&vehicle)) || vehicle.model != model.slug, "{look:?}");
                    let first = seen.entry(look.id.clone()).or_insert_with(|| look.keys.clone());
                    assert_eq!(*first, look.keys, "{} {year}", model.slug);
                }
            }
        }
    }

    /// The sources give the fourth Golf two lengths.
    #[test]
    fn a_generation_that_was_drawn_has_one_size() {
        let catalog = Catalog::embedded().unwrap();
        let of_year = |year| catalog.of_parts("volkswagen", "golf", None, year).unwrap().vehicle;
        let (first, last) = (of_year(1998), of_year(2003));
        assert_ne!(first.dimensions, last.dimensions);
        assert_eq!(catalog.look(&first), catalog.look(&last));
        assert_eq!(catalog.look(&first).dimensions, of_year(2000).dimensions);
    }

    #[test]
    fn generations_cover_the_years_in_order_and_without_overlap() {
        let catalog = Catalog::embedded().unwrap();
        let (make, model) = catalog.row("volkswagen", "golf").unwrap();
        let generations = catalog.generations(make, model, BodyClass::Hatchback);
        let names: Vec<&str> = generations.iter().filter_map(|one| one.name.as_deref()).collect();
        assert_eq!(names, ["Mk2", "Mk3", "Mk4", "Mk5", "Mk6", "Mk7", "Mk8"]);
        assert_eq!(generations.len(), names.len());
        assert!(generations.iter().all(|one| one.from <= one.to));
        assert!(generations.is_sorted_by(|one, next| one.to < next.from));
        let of_2015 = generations.iter().find(|one| (one.from..=one.to).contains(&2015)).unwrap();
        assert!(of_2015.from <= 2015 && of_2015.to >= 2018, "{of_2015:?}");
    }
}
