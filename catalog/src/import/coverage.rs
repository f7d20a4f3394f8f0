//! Counts for how many vehicles of a release the size is known, and how many have that of their
//! class. For `catalog info`.

use super::super::Catalog;
use super::ImportError;
use super::rules::Rules;
use serde::Serialize;
use std::collections::BTreeMap;

/// Counts of vehicles by what is known of them.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Number of vehicles by body class.
    pub bodies: BTreeMap<&'static str, usize>,
    /// Number of vehicles whose size comes from a source or from a published figure of the family.
    pub sized: usize,
    /// Number of vehicles that have the size of their body class.
    pub of_class: usize,
}

impl Coverage {
    /// Counts the vehicles of a catalog. The built-in rules are needed to recognise a size of the
    /// class.
    pub fn of(catalog: &Catalog) -> Result<Self, ImportError> {
        let rules = Rules::built_in()?;
        let mut coverage = Self::default();
        for make in catalog.makes() {
            for model in &make.models {
                for vehicle in model.years().iter().filter_map(|year| catalog.vehicle(make, model, year)) {
                    *coverage.bodies.entry(vehicle.body.as_str()).or_default() += 1;
                    if vehicle.dimensions == rules.template(vehicle.body, vehicle.year) {
                        coverage.of_class += 1;
                    } else {
                        coverage.sized += 1;
                    }
                }
            }
        }
        Ok(coverage)
    }
}
