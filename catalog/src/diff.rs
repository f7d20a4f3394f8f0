//! Lists the differences between two releases, for an operator who is about to use the newer one.

use super::{Catalog, Make, Model};
use serde::Serialize;
use std::collections::BTreeMap;

/// The differences: makes and models by slug, years ascending.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diff {
    pub makes_added: Vec<String>,
    pub makes_removed: Vec<String>,
    /// Models with the years that can be requested now and could not before.
    pub added: BTreeMap<String, Vec<u16>>,
    /// Models with the years that cannot be requested any more.
    pub removed: BTreeMap<String, Vec<u16>>,
    /// Models with the years in which they have another type, body or size. Their stored images
    /// show the old shape.
    pub redrawn: BTreeMap<String, Vec<u16>>,
}

impl Diff {
    /// Compares two releases by the slugs of their makes and models.
    pub fn of(old: &Catalog, new: &Catalog) -> Self {
        let makes =
            |catalog: &Catalog| -> Vec<String> { catalog.makes().iter().map(|make| make.slug.clone()).collect() };
        let without = |these: Vec<String>, others: &[String]| -> Vec<String> {
            these.into_iter().filter(|slug| !others.contains(slug)).collect()
        };
        let (before, after) = (makes(old), makes(new));
        let mut diff = Self {
            makes_added: without(after.clone(), &before),
            makes_removed: without(before, &after),
            ..Self::default()
        };
        let (before, after) = (models(old), models(new));
        for (key, (make, model)) in &after {
            let known = before.get(key);
            for year in model.years().iter() {
                let is = new.vehicle(make, model, year);
                match known.and_then(|(make, model)| old.vehicle(make, model, year)) {
                    None => diff.added.entry(key.clone()).or_default().push(year),
                    was if was != is => diff.redrawn.entry(key.clone()).or_default().push(year),
                    _ => {}
                }
            }
        }
        for (key, (_, model)) in &before {
            let left = after.get(key).map(|(_, model)| model.years()).unwrap_or_default();
            let gone: Vec<u16> = model.years().iter().filter(|year| !left.contains(*year)).collect();
            if !gone.is_empty() {
                diff.removed.insert(key.clone(), gone);
            }
        }
        diff
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn models(catalog: &Catalog) -> BTreeMap<String, (&Make, &Model)> {
    let models = catalog.makes().iter().flat_map(|make| make.models.iter().map(move |model| (make, model)));
    models.map(|(make, model)| (format!("{}/{}", make.slug, model.slug), (make, model))).collect()
}
