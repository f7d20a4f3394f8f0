//! The rule by which a sheet or a face names the vehicles that it is for, and
//! how closely it names one.

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use cyclorama_core::{BodyClass, Vehicle};
use serde::Deserialize;

/// The vehicles that a sheet or face is for. A member that is left out allows any value.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppliesTo {
    /// Slugs of the catalog.
    #[serde(default)]
    pub makes: Vec<String>,
    /// Slugs of the catalog, or the beginning of slugs with a `*` at the end.
    #[serde(default)]
    pub models: Vec<String>,
    /// First and last model year, both included.
    #[serde(default)]
    pub years: Option<[u16; 2]>,
    #[serde(default)]
    pub bodies: Vec<BodyClass>,
    /// Smallest and largest length of the vehicle, in millimetres, both included. `height_mm` is
    /// the same for the height.
    #[serde(default)]
    pub length_mm: Option<[u32; 2]>,
    #[serde(default)]
    pub height_mm: Option<[u32; 2]>,
}

impl AppliesTo {
    /// Returns how closely this names the vehicle, or `None` if it does not. Larger is closer.
    pub fn closeness(&self, vehicle: &Vehicle) -> Option<Closeness> {
        let within = |range: Option<[u32; 2]>, mm: u32| range.is_none_or(|[least, most]| (least..=most).contains(&mm));
        let fits = within(self.length_mm, vehicle.dimensions.length_mm)
            && within(self.height_mm, vehicle.dimensions.height_mm)
            && (self.bodies.is_empty() || self.bodies.contains(&vehicle.body));
        self.closeness_of_any_body(vehicle).filter(|_| fits)
    }

    /// Returns how closely this names the vehicle's make, model and year, ignoring body and size.
    pub fn closeness_of_any_body(&self, vehicle: &Vehicle) -> Option<Closeness> {
        let named = |list: &[String], slug: &str| {
            let closest = |entry: &String| match entry.strip_suffix('*') {
                Some(start) => slug.starts_with(start).then_some(ANY_MODEL + start.len() as u32),
                None => (entry == slug).then_some(1000),
            };
            if list.is_empty() { Some(0) } else { list.iter().filter_map(closest).max() }
        };
        let years: RangeInclusive<u16> = self.years.map_or(0..=u16::MAX, |[first, last]| first..=last);
        let make = named(&self.makes, &vehicle.make)?;
        let model = named(&self.models, &vehicle.model)?;
        let limits =
            [self.years.is_some(), !self.bodies.is_empty(), self.length_mm.is_some(), self.height_mm.is_some()];
        let narrowed = limits.into_iter().map(u32::from).sum();
        let span = self.years.map_or(u16::MAX, |[first, last]| last.saturating_sub(first));
        let is_of_the_year = years.contains(&vehicle.year);
        is_of_the_year.then_some(Closeness { model, make: make.min(1), narrowed, span: Reverse(span) })
    }
}

/// Score of the pattern `*`, which matches any model of the make.
const ANY_MODEL: u32 = 1;

/// How closely a sheet names a vehicle; the larger value is closer. The members are
/// compared in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Closeness {
    /// 0 for any model; more for a longer beginning of the model's name, and
    /// most for the whole name.
    model: u32,
    make: u32,
    /// Number of limits set among years, bodies, lengths and heights.
    narrowed: u32,
    /// Number of years; fewer are closer.
    span: Reverse<u16>,
}

impl Closeness {
    /// True if the sheet was drawn for the vehicle's make.
    pub fn names_the_make(self) -> bool {
        self.make > 0
    }

    /// True if the sheet was drawn for the vehicle's model, not for a class or a make.
    pub fn names_the_model(self) -> bool {
        self.model > ANY_MODEL
    }
}
