//! Decides which body is meant: the one that words name, else one that has the number of doors they
//! name, else the usual one.

use super::ResolvedVehicle;
use super::recognise::VIEW;
use crate::bodies::meant;
use crate::search::{Aside, BODY_SLOT};
use crate::styles::{are_alike, body_of_doors, doors_fit};
use crate::{Catalog, Make, Model};
use cyclorama_core::{BodyClass, Vehicle};
use std::cmp::Reverse;

/// The body and the number of doors that a description names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Said {
    pub body: Option<BodyClass>,
    pub doors: Option<u16>,
}

/// A vehicle with the body that is meant.
#[derive(Debug, Clone)]
pub struct VehicleWithBody<'a> {
    pub make: &'a Make,
    pub model: &'a Model,
    pub vehicle: Vehicle,
    /// True if the words chose a body or doors that the model has.
    pub is_said: bool,
    /// True if the words name a body or doors that the model of that year does not have.
    pub is_missing: bool,
}

impl VehicleWithBody<'_> {
    /// The body if it is not the usual one of that year.
    pub fn chosen(&self) -> Option<BodyClass> {
        Some(self.vehicle.body).filter(|body| *body != self.model.body_in(self.vehicle.year))
    }
}

/// Chooses the vehicle of a row in the requested year, else in the nearest; without a year in the
/// newest that has the body.
pub fn choose<'a>(
    catalog: &'a Catalog,
    (make, model): (&'a Make, &'a Model),
    asked: Option<u16>,
    said: Said,
) -> Option<VehicleWithBody<'a>> {
    let years = model.years();
    let has = |year: &u16, body| meant(body, &catalog.bodies(make, model, *year)).is_some();
    let newest_with = |body| years.iter().filter(|year| has(year, body)).last();
    let year = match asked {
        Some(asked) => years.iter().min_by_key(|year| (year.abs_diff(asked), Reverse(*year))),
        None => said.body.and_then(newest_with).or_else(|| years.iter().last()),
    }?;
    let usual = catalog.vehicle(make, model, year)?;
    let of_doors = said.doors.filter(|doors| !doors_fit(*doors, usual.body)).map(body_of_doors);
    let Some(body) = said.body.or(of_doors) else {
        return Some(VehicleWithBody { make, model, vehicle: usual, is_said: false, is_missing: false });
    };
    Some(match catalog.row_with_body(make, model, year, body) {
        Some(row) => {
            VehicleWithBody { make: row.make, model: row.model, vehicle: row.vehicle, is_said: true, is_missing: false }
        }
        None => VehicleWithBody { make, model, vehicle: usual, is_said: false, is_missing: true },
    })
}

/// Drops readings of a word as a body which the found vehicle never had, where the word is a part
/// of a view as well: in `Audi Q5 avant` the word is French for the front, because there is no such
/// estate. Returns the remaining readings, or `None` if nothing was dropped.
pub fn without_misread(catalog: &Catalog, asides: &[Aside], found: &ResolvedVehicle<'_>) -> Option<Vec<Aside>> {
    let body = found.extracted.body.filter(|body| !are_alike(*body, found.vehicle.body))?;
    let has = |year| meant(body, &catalog.bodies(found.make, found.model, year)).is_some();
    if found.model.years().iter().any(has) {
        return None;
    }
    let same_words = |one: &Aside, other: &Aside| (one.from, one.to) == (other.from, other.to);
    let is_view = |one: &Aside| asides.iter().any(|other| other.slot == VIEW && same_words(one, other));
    let is_kept = |aside: &&Aside| aside.slot != BODY_SLOT || aside.makes.is_empty() || !is_view(aside);
    let kept: Vec<Aside> = asides.iter().filter(is_kept).copied().collect();
    (kept.len() < asides.len()).then_some(kept)
}
