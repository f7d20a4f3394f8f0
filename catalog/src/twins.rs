//! Twins: catalog rows that are one car, because the registers file it under several names, each
//! with its own years (`glc` and `glc-class`). The groups of rows are data, in `twins.toml`.
//!
//! Why: `docs/decisions/catalog-and-search.md` (One car in two catalog rows (`glc`, `glc-class`)).

use super::{Catalog, Make, Model, import, names};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::LazyLock;

static TEXT: &str = include_str!("../data/twins.toml");

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Groups of rows, each row as `make/model` in slugs.
    twins: Vec<Vec<String>>,
    #[serde(rename = "apart")]
    _apart: Vec<Apart>,
}

/// Rows whose names look like those of twins although they are different cars.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Apart {
    #[serde(rename = "why")]
    _why: String,
    #[serde(rename = "models")]
    _models: Vec<String>,
}

/// The other rows of its group for each row.
fn groups() -> &'static HashMap<String, Vec<String>> {
    /// The embedded list. A test reads it, so it is never empty here.
    static READ: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
        let file: File = toml::from_str(TEXT).unwrap_or_default();
        let others = |group: Vec<String>| {
            let of = |one: &String| group.iter().filter(|other| *other != one).cloned().collect();
            group.iter().map(|one| (one.clone(), of(one))).collect::<Vec<(String, Vec<String>)>>()
        };
        file.twins.into_iter().flat_map(others).collect()
    });
    &READ
}

impl Catalog {
    /// Returns the other rows of the release that are the same car.
    pub fn twins<'a>(&'a self, make: &Make, model: &Model) -> impl Iterator<Item = (&'a Make, &'a Model)> + use<'a> {
        let others = groups().get(&format!("{}/{}", make.slug, model.slug)).map_or(&[][..], Vec::as_slice);
        others.iter().filter_map(|key| {
            let (make, model) = key.split_once('/')?;
            self.row(make, model)
        })
    }

    /// Returns the same car where the release has it in that year: the row itself, else a twin.
    pub fn same_car_in<'a>(&'a self, make: &'a Make, model: &'a Model, year: u16) -> Option<(&'a Make, &'a Model)> {
        let itself = std::iter::once((make, model));
        itself.chain(self.twins(make, model)).find(|(_, model)| model.years().contains(year))
    }

    /// Returns the family of a trim where the release has it in that year: the 3 Series for
    /// `328xi`.
    pub fn family_in<'a>(&'a self, make: &'a Make, model: &Model, year: u16) -> Option<(&'a Make, &'a Model)> {
        let (make, family) = self.family(make, model)?;
        self.same_car_in(make, family, year)
    }

    /// Returns the family of a trim, in any year.
    pub(super) fn family<'a>(&'a self, make: &'a Make, model: &Model) -> Option<(&'a Make, &'a Model)> {
        let key = |slug: &str| slug.replace('-', "");
        let family = import::family(&names::key(&make.name), &key(&model.slug))?;
        Some((make, make.models.iter().find(|other| key(&other.slug) == family)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn listed() -> (File, Catalog) {
        let catalog = Catalog::embedded().expect("the embedded release loads");
        (toml::from_str(TEXT).expect("twins.toml"), catalog)
    }

    #[test]
    fn every_listed_row_is_of_this_release_and_in_one_group() {
        let (file, catalog) = listed();
        let mut seen = BTreeSet::new();
        for key in file.twins.iter().flatten().chain(file._apart.iter().flat_map(|apart| &apart._models)) {
            let (make, model) = key.split_once('/').expect(key);
            let make =
                catalog.makes().iter().find(|other| other.slug == make).unwrap_or_else(|| panic!("no make {key}"));
            assert!(make.models.iter().any(|other| other.slug == model), "no model {key}");
            assert!(seen.insert(key), "{key} is listed twice");
        }
    }

    /// Pairs of rows of one make whose names differ by the make's own name, by `class` or `series`,
    /// or by `range-rover`.
    #[test]
    fn rows_that_look_like_twins_are_listed() {
        let (file, catalog) = listed();
        let groups: Vec<&Vec<String>> =
            file.twins.iter().chain(file._apart.iter().map(|apart| &apart._models)).collect();
        let mut missing = BTreeSet::new();
        for make in catalog.makes() {
            let key = |slug: &str| slug.replace('-', "");
            let row = |model: &Model| format!("{}/{}", make.slug, model.slug);
            for model in &make.models {
                let name = key(&model.slug);
                let longer = [
                    format!("{name}class"),
                    format!("{name}series"),
                    format!("{}{name}", key(&make.slug)),
                    format!("rangerover{name}"),
                ];
                for other in make.models.iter().filter(|other| longer.contains(&key(&other.slug))) {
                    if !groups.iter().any(|group| group.contains(&row(model)) && group.contains(&row(other))) {
                        missing.insert(format!("{} and {}", row(model), row(other)));
                    }
                }
            }
        }
        assert_eq!(missing, BTreeSet::new());
    }
}
