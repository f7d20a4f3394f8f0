//! The catalog of existing vehicles: makes, models and years, with the body and dimensions from
//! which each is drawn.
//!
//! The catalog is pure after load: no I/O, no clock, shared by reference. [`release`] is the file
//! format. [`lookup`] finds one vehicle by the names that a caller wrote, [`search`] finds many by
//! free text, and [`resolve`] decides which vehicle a text means. [`bodies`] lists the bodies of a
//! model, [`ids`] has its permanent ids, and [`looks`] says which years look the same.
//! [`CurrentCatalog`] holds the release that is served now, [`Diff`] compares two releases, and
//! [`import`] makes a release from public data. Names are compared by `names`.

mod bodies;
mod current;
mod diff;
mod ids;
pub mod import;
mod looks;
pub mod lookup;
mod nameless;
mod names;
pub mod release;
pub mod resolve;
pub mod search;
mod styles;
mod twins;

pub use bodies::body_of_word;
pub use current::{CurrentCatalog, ReloadError};
pub use diff::Diff;
pub use ids::{NoVehicleId, VehicleId};
pub use looks::{Generation, Look};
pub use lookup::{AskedName, AskedVehicle, AskedYear, Found, Missing, NameMatch, NotFound, Suggestion};
pub use names::slug as normalised;
pub use release::{Make, Model, ReleaseError, Source, YearSet};

use cyclorama_core::{BodyClass, Dimensions, Vehicle, VehicleType};
use cyclorama_drawings::{Likeness, likeness};
use release::{FIRST_YEAR, Release};
use search::SearchIndex;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::OnceLock;

static EMBEDDED_RELEASE: &[u8] = include_bytes!("../data/vehicles.bin");
static EMBEDDED_SUPPLEMENT: &[u8] = include_bytes!("../data/vehicles.cc-by-sa.bin");

/// A loaded release.
#[derive(Debug)]
pub struct Catalog {
    package: String,
    /// SHA-256 of the release file and its supplement, in hex.
    digest: String,
    sources: Vec<Source>,
    makes: Vec<Make>,
    dimensions: Vec<Dimensions>,
    /// The spans of models whose usual body is corrected, as the sources have them, by `make/model`
    /// in slugs.
    spans_before: HashMap<String, Vec<release::Span>>,
    /// Positions in `makes` by key of name, slug and alias. Two makes may share a key
    /// (`IVECO-FORD`, `IVECO FORD`).
    makes_by_key: HashMap<String, Vec<u32>>,
    /// For each make, the keys of its models, ascending, with their positions.
    models_by_key: Vec<Vec<(String, u32)>>,
    counts: OnceLock<Counts>,
    /// Counted at the first use.
    likeness_counts: OnceLock<BTreeMap<Likeness, usize>>,
    /// Built at the first use: commands that do not search need not wait for it.
    search_index: OnceLock<SearchIndex>,
    /// Built when the first id is looked up.
    ids: OnceLock<ids::Ids>,
}

/// The size of a release, counted from the release itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    pub makes: usize,
    /// Distinct model names, as the package spells them.
    pub model_names: usize,
    /// Number of combinations of make, model name, vehicle type and year, as the package lists
    /// them.
    pub entries: usize,
    pub vehicle_types: usize,
    /// Number of combinations of make, model and year that can be requested. Spellings and vehicle
    /// types of one model count once.
    pub vehicles: usize,
    pub year_from: u16,
    pub year_to: u16,
}

impl Catalog {
    /// Reads the release that this program was built with.
    pub fn embedded() -> Result<Self, ReleaseError> {
        Self::read("(built in)", EMBEDDED_RELEASE, Some(EMBEDDED_SUPPLEMENT))
    }

    /// Reads a release file, with the share-alike supplement beside it where there is one. Returns
    /// [`ReleaseError`] if a file cannot be read or decoded, or if the two do not belong together.
    pub fn load(path: &Path) -> Result<Self, ReleaseError> {
        let read =
            |path: &Path| std::fs::read(path).map_err(|source| ReleaseError::Read { path: path.to_owned(), source });
        let release = read(path)?;
        let beside = release::supplement_path(path);
        let supplement = beside.exists().then(|| read(&beside)).transpose()?;
        Self::read(&path.display().to_string(), &release, supplement.as_deref())
    }

    fn read(file: &str, release: &[u8], supplement: Option<&[u8]>) -> Result<Self, ReleaseError> {
        let digest = Sha256::new().chain_update(release).chain_update(supplement.unwrap_or_default()).finalize();
        Release::decode(file, release, supplement).map(|release| Self::index(release, hex::encode(digest)))
    }

    fn index(mut release: Release, digest: String) -> Self {
        let spans_before = bodies::correct_usual_bodies(&mut release);
        let mut makes_by_key: HashMap<String, Vec<u32>> = HashMap::new();
        let mut models_by_key = Vec::with_capacity(release.makes.len());
        for (position, make) in release.makes.iter().enumerate() {
            let spellings =
                [make.name.as_str(), make.slug.as_str()].into_iter().chain(make.aliases.iter().map(String::as_str));
            for key in spellings.map(lookup::make_key) {
                let makes = makes_by_key.entry(key).or_default();
                if makes.last() != Some(&(position as u32)) {
                    makes.push(position as u32);
                }
            }
            let mut keys: Vec<(String, u32)> = make
                .models
                .iter()
                .enumerate()
                .map(|(position, model)| (model.slug.replace('-', ""), position as u32))
                .collect();
            keys.sort();
            models_by_key.push(keys);
        }
        // A nickname stands for its make unless some make has it as its name.
        for (position, make) in release.makes.iter().enumerate() {
            for name in search::make_nicknames(make) {
                makes_by_key.entry(lookup::make_key(name)).or_insert_with(|| vec![position as u32]);
            }
        }
        let Release { package, sources, makes, dimensions, .. } = release;
        Self {
            package,
            digest,
            sources,
            makes,
            dimensions,
            spans_before,
            makes_by_key,
            models_by_key,
            counts: OnceLock::new(),
            likeness_counts: OnceLock::new(),
            search_index: OnceLock::new(),
            ids: OnceLock::new(),
        }
    }

    /// Package and version that the makes, models and years come from.
    pub fn package(&self) -> &str {
        &self.package
    }

    /// SHA-256 of the release's files, in hex. Any two different releases have different digests.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// All makes, in order of name.
    pub fn makes(&self) -> &[Make] {
        &self.makes
    }

    /// Makes that have a model in this year. The models of a make are [`Make::models`], in order of
    /// key, and the years of a model [`Model::years`].
    pub fn makes_in(&self, year: u16) -> impl Iterator<Item = &Make> {
        self.makes.iter().filter(move |make| make.models.iter().any(|model| model.years().contains(year)))
    }

    /// Every year that some model has.
    pub fn years(&self) -> YearSet {
        self.makes.iter().flat_map(|make| &make.models).fold(YearSet::default(), |all, model| all.union(model.years()))
    }

    /// Returns what a node needs to draw a model of the release in one of its years, or `None` in
    /// any other year.
    pub fn vehicle(&self, make: &Make, model: &Model, year: u16) -> Option<Vehicle> {
        let vehicle_type = model.vehicle_type_in(year)?;
        let (body, dimensions) = model.facts_of((year - FIRST_YEAR) as u8);
        Some(Vehicle {
            make: make.slug.clone(),
            model: model.slug.clone(),
            year,
            vehicle_type,
            body: *cyclorama_core::BodyClass::ALL.get(body as usize)?,
            dimensions: *self.dimensions.get(dimensions as usize)?,
        })
    }

    /// The index in which free text is looked up.
    pub fn search_index(&self) -> &SearchIndex {
        self.search_index.get_or_init(|| SearchIndex::new(self))
    }

    /// Make, model and body of every id of the release, built at the first call.
    fn id_index(&self) -> &ids::Ids {
        self.ids.get_or_init(|| self.ids())
    }

    /// Counts makes, models and vehicles. They are counted once, because counting distinct names
    /// takes some milliseconds.
    pub fn counts(&self) -> Counts {
        *self.counts.get_or_init(|| self.count())
    }

    /// Number of vehicles by likeness. They are counted once, because it takes some hundred
    /// milliseconds.
    pub fn likeness_counts(&self) -> &BTreeMap<Likeness, usize> {
        self.likeness_counts.get_or_init(|| {
            let mut counts: BTreeMap<Likeness, usize> = Likeness::ALL.iter().map(|likeness| (*likeness, 0)).collect();
            for vehicle in self.vehicles() {
                *counts.entry(likeness(&vehicle)).or_default() += 1;
            }
            counts
        })
    }

    /// Every vehicle that can be requested, in order of make, model and year.
    pub fn vehicles(&self) -> impl Iterator<Item = Vehicle> {
        let models = self.makes.iter().flat_map(|make| make.models.iter().map(move |model| (make, model)));
        models
            .flat_map(move |(make, model)| model.years().iter().filter_map(move |year| self.vehicle(make, model, year)))
    }

    fn count(&self) -> Counts {
        let models = || self.makes.iter().flat_map(|make| &make.models);
        let spellings = || models().flat_map(|model| &model.spellings);
        let listed = || spellings().flat_map(|spelling| &spelling.years);
        let years = listed().fold(YearSet::default(), |all, (_, years)| all.union(*years));
        Counts {
            makes: self.makes.len(),
            model_names: spellings().map(|spelling| spelling.name.as_str()).collect::<BTreeSet<_>>().len(),
            entries: listed().map(|(_, years)| years.len()).sum(),
            vehicle_types: listed().map(|(vehicle_type, _)| *vehicle_type).collect::<BTreeSet<_>>().len(),
            vehicles: models().map(|model| model.years().len()).sum(),
            year_from: years.iter().next().unwrap_or(0),
            year_to: years.iter().last().unwrap_or(0),
        }
    }
}

impl Model {
    /// The vehicle type that the model has most often.
    pub fn vehicle_type(&self) -> VehicleType {
        self.types.first().map_or(VehicleType::Other, |(vehicle_type, _)| VehicleType::ALL[*vehicle_type as usize])
    }

    /// The body that the model usually has in a year. Before its first span begins, that of the
    /// first span.
    pub fn body_in(&self, year: u16) -> BodyClass {
        let (body, _) = self.facts_of(year.saturating_sub(FIRST_YEAR) as u8);
        BodyClass::ALL.get(usize::from(body)).copied().unwrap_or(BodyClass::Other)
    }

    /// The vehicle type in one year; `None` where the model does not exist in that year.
    pub fn vehicle_type_in(&self, year: u16) -> Option<VehicleType> {
        let (vehicle_type, _) = self.types.iter().find(|(_, years)| years.contains(year))?;
        VehicleType::ALL.get(*vehicle_type as usize).copied()
    }
}

#[cfg(test)]
mod tests;
