//! How much of a release is known, and how much stands for its class: for `catalog info`.

use super::super::Catalog;
use super::ImportError;
use super::rules::Rules;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Vehicles by body class.
    pub bodies: BTreeMap<&'static str, usize>,
    /// Vehicles whose size a source or a published figure of the family tells.
    pub sized: usize,
    /// Vehicles that have the size of their body class.
    pub of_class: usize,
}

impl Coverage {
    /// By the built-in rules, with which a size of the class is recognised.
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
