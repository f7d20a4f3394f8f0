//! Makes a release: the package says which vehicles exist, the sources which body and size they
//! have.
//!
//! Every entry is derived twice, with and without the share-alike source. Where the two differ, the
//! difference goes to the supplement, so the release itself holds nothing that comes only from the
//! share-alike source.

mod bodies;
mod body;
mod coverage;
mod evidence;
mod package;
mod rules;
mod size;
mod sources;

pub use bodies::BodyChoice;
pub use coverage::Coverage;

use super::names;
use super::release::{
    self, FIRST_YEAR, Make, Model, Patch, Release, ReleaseError, Source, Spelling, Supplement, YearSet,
};
use cyclorama_core::{BodyClass, Dimensions, VehicleType};
use evidence::{Evidence, KnownModels, MEMBERS, Sightings};
use package::Package;
use rules::Rules;
use size::Nameplate;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const SUPPLEMENT_NOTICE: &str = "Vehicle dimensions and body styles in this file are derived from AllCarsDB \
    (github.com/shifter907/allcarsdb), licence CC BY-SA 4.0; this file is offered under the same licence. The underlying \
    values contain information licensed under the Open Government Licence - Canada (Transport Canada, Canadian Vehicle \
    Specifications).";

/// The reason why an import failed.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("the package is not what this import reads: {detail}")]
    Package { detail: String },
    #[error("{} is not a table this import reads", path.display())]
    Table { path: PathBuf, source: csv::Error },
    #[error("{} has no column `{column}`", path.display())]
    Column { path: PathBuf, column: String },
    #[error("{} is not the JSON this import reads", path.display())]
    Json { path: PathBuf, source: serde_json::Error },
    #[error("the rules do not parse")]
    Rules { source: Box<toml::de::Error> },
    #[error("the release would not hold what the package lists: {detail}")]
    Counts { detail: String },
    #[error(transparent)]
    Release(#[from] ReleaseError),
}

/// The result of an import.
#[derive(Debug, serde::Serialize)]
pub struct Report {
    pub package: String,
    pub counts: super::Counts,
    /// Folders of sources that were missing.
    pub missing_sources: Vec<&'static str>,
    /// Number of vehicles by the origin of their dimensions.
    pub dimensions_from: BTreeMap<&'static str, usize>,
    /// Number of vehicles by body class.
    pub bodies: BTreeMap<&'static str, usize>,
    /// Number of vehicles whose facts are in the supplement.
    pub share_alike_vehicles: usize,
    /// Number of models with a choice of bodies.
    pub body_choice: BodyChoice,
    pub release_bytes: usize,
    pub supplement_bytes: usize,
}

/// Reads package, sources and rules (the built-in ones if `None`), and writes the release to `out`,
/// and beside it the supplement and the two tables of bodies. Returns [`ImportError`] if an input
/// cannot be read or has another shape, or if the result does not match the package.
pub fn import(package: &Path, sources: &Path, rules: Option<&Path>, out: &Path) -> Result<Report, ImportError> {
    let rules = rules.map_or_else(Rules::built_in, Rules::read)?;
    let package = package::read(package)?;
    let drafts = draft(&package)?;
    let mut known = KnownModels::new();
    for make in &drafts {
        known.entry(make.key.clone()).or_default().extend(make.models.keys().cloned());
    }
    let (evidence, missing_sources) = sources::read_all(sources, &rules, &known)?;

    let mut builder = Builder {
        rules: &rules,
        evidence: &evidence,
        report: Default::default(),
        share_alike: 0,
        bodies: Default::default(),
        subjects: Vec::new(),
    };
    let mut tables = bodies::Tables::default();
    let (mut plain, mut shared) = (Sizes::default(), Sizes::default());
    let mut makes = Vec::with_capacity(drafts.len());
    let mut patches = Vec::new();
    for draft in drafts {
        let position = makes.len() as u32;
        let mut make = Make {
            id: draft.id,
            name: rules
                .make_names
                .get(&draft.key)
                .or(evidence.make_names.get(&draft.key))
                .cloned()
                .unwrap_or_else(|| names::shown(&draft.name)),
            slug: draft.slug.clone(),
            aliases: evidence.make_aliases.get(&draft.key).cloned().unwrap_or_default(),
            models: Vec::with_capacity(draft.models.len()),
        };
        for (key, model) in draft.models {
            let (model, patch) = builder.model(&draft.key, &key, model, &mut plain, &mut shared);
            if !patch.is_empty() {
                patches.push(Patch { make: position, model: make.models.len() as u32, spans: patch });
            }
            make.models.push(model);
        }
        tables.add_make(&rules, &evidence, (&draft.key, &make.slug), &std::mem::take(&mut builder.subjects));
        makes.push(make);
    }
    let (dimensions_from, bodies, share_alike_vehicles) = (builder.report, builder.bodies, builder.share_alike);

    let list = |source: &package::PackageSource| Source {
        id: source.source_id.clone(),
        name: source.source_name.clone(),
        region: source.region.clone(),
        license: source.license.clone(),
        url: source.source_url.clone(),
    };
    let name = format!("{} {}", package.name, package.version);
    let made = Release::new(name.clone(), package.data.sources.iter().map(list).collect(), makes, plain.list);
    let release_bytes = release::encode(&made)?;
    let supplement_bytes =
        release::encode(&Supplement::new(SUPPLEMENT_NOTICE.into(), &release_bytes, shared.list, patches))?;

    let counts = counted(&package, &release_bytes, &supplement_bytes)?;
    write(out, &release_bytes)?;
    write(&release::supplement_path(out), &supplement_bytes)?;
    let (plain_bodies, share_alike_bodies, body_choice) = tables.finish(&name);
    write(&out.with_file_name("bodies.tsv"), plain_bodies.as_bytes())?;
    write(&out.with_file_name("bodies.cc-by-sa.tsv"), share_alike_bodies.as_bytes())?;
    Ok(Report {
        package: name,
        counts,
        missing_sources,
        dimensions_from,
        bodies,
        share_alike_vehicles,
        body_choice,
        release_bytes: release_bytes.len(),
        supplement_bytes: supplement_bytes.len(),
    })
}

/// Reads back the bytes of the release, and compares its counts with the package before any file is
/// replaced.
fn counted(package: &Package, release: &[u8], supplement: &[u8]) -> Result<super::Counts, ImportError> {
    let counts = super::Catalog::read("(new)", release, Some(supplement))?.counts();
    let data = &package.data;
    let listed = (data.makes.len(), data.model_names.len(), data.models.len(), data.vehicle_types.len());
    let held = (counts.makes, counts.model_names, counts.entries, counts.vehicle_types);
    if listed == held {
        return Ok(counts);
    }
    let detail = format!(
        "makes, model names, entries and vehicle types are {listed:?} in the package and {held:?} in the release"
    );
    Err(ImportError::Counts { detail })
}

/// Replaces a file in one step, so that a running service never loads a half-written one.
fn write(path: &Path, bytes: &[u8]) -> Result<(), ReleaseError> {
    let beside = path.with_extension("new");
    std::fs::write(&beside, bytes)
        .and_then(|()| std::fs::rename(&beside, path))
        .map_err(|source| ReleaseError::Write { path: path.to_owned(), source })
}

struct MakeDraft {
    id: u64,
    key: String,
    name: String,
    slug: String,
    /// Models by key.
    models: BTreeMap<String, ModelDraft>,
}

#[derive(Default)]
struct ModelDraft {
    /// Years by vehicle type (position in `VehicleType::ALL`), by spelling.
    spellings: BTreeMap<String, BTreeMap<u8, YearSet>>,
    /// Years in the package's first source, NHTSA, by spelling. Its spellings are the well-known
    /// ones.
    us_years: BTreeMap<String, YearSet>,
}

/// Groups the package's rows by make and key of the model.
fn draft(package: &Package) -> Result<Vec<MakeDraft>, ImportError> {
    let data = &package.data;
    let wrong = |detail: String| ImportError::Package { detail };
    let mut types = HashMap::new();
    for listed in &data.vehicle_types {
        let ours = match listed.vehicle_type_name.as_str() {
            "Motorcycle" => VehicleType::Motorcycle,
            "Passenger Car" => VehicleType::PassengerCar,
            "Truck" => VehicleType::Truck,
            "Bus" => VehicleType::Bus,
            "Multipurpose Passenger Vehicle (MPV)" => VehicleType::Mpv,
            "Auto Rickshaw" => VehicleType::AutoRickshaw,
            "Other Vehicle" => VehicleType::Other,
            other => return Err(wrong(format!("unknown vehicle type `{other}`"))),
        };
        types.insert(listed.vehicle_type_id, number(VehicleType::ALL, ours));
    }
    let us_mask =
        data.sources.iter().position(|source| source.source_id == "nhtsa-vpic").map_or(0, |index| 1u32 << index);
    let mut makes: Vec<MakeDraft> = data
        .makes
        .iter()
        .map(|make| MakeDraft {
            id: make.make_id,
            key: names::key(&make.make_name),
            name: make.make_name.clone(),
            slug: names::slug(&make.make_name),
            models: BTreeMap::new(),
        })
        .collect();
    makes.sort_by(|a, b| a.slug.cmp(&b.slug).then(a.name.cmp(&b.name)));
    // Two makes with one slug stay separate: the later one's slug gets a number.
    for index in 1..makes.len() {
        let same = makes[..index].iter().filter(|other| other.key == makes[index].key).count();
        if same > 0 {
            makes[index].slug = format!("{}-{}", makes[index].slug, same + 1);
        }
    }
    let positions: HashMap<u64, usize> = makes.iter().enumerate().map(|(position, make)| (make.id, position)).collect();
    for (year, make, _, name, vehicle_type, sources) in &data.models {
        let make = positions.get(make).ok_or_else(|| wrong(format!("a row of unknown make {make}")))?;
        let name = data.model_names.get(*name).ok_or_else(|| wrong(format!("a row of unknown model name {name}")))?;
        let vehicle_type =
            types.get(vehicle_type).ok_or_else(|| wrong(format!("a row of unknown type {vehicle_type}")))?;
        let key = names::key(name);
        if key.is_empty() || *year < FIRST_YEAR || *year >= FIRST_YEAR + 64 {
            return Err(wrong(format!("a row `{name}` of {year}")));
        }
        let model = makes[*make].models.entry(key).or_default();
        model.spellings.entry(name.clone()).or_default().entry(*vehicle_type).or_default().insert(*year);
        if sources & us_mask != 0 {
            model.us_years.entry(name.clone()).or_default().insert(*year);
        }
    }
    Ok(makes)
}

impl ModelDraft {
    fn years(&self) -> YearSet {
        self.spellings.values().flat_map(BTreeMap::values).fold(YearSet::default(), |all, years| all.union(*years))
    }

    /// The spelling to show: NHTSA's if it has one, one with lower-case letters rather than
    /// capitals, and the one of most years.
    fn spelling(&self) -> &str {
        let years =
            |name: &str| self.spellings[name].values().fold(YearSet::default(), |all, years| all.union(*years)).len();
        self.spellings
            .keys()
            .max_by_key(|name| {
                let us = self.us_years.get(*name).map_or(0, |years| years.len());
                (us > 0, name.chars().any(char::is_lowercase), us, years(name))
            })
            .map_or("", String::as_str)
    }

    /// Vehicle types, the one with the most years first; of equals, the one that is first in this
    /// order.
    fn types(&self) -> Vec<(VehicleType, YearSet)> {
        use VehicleType::{AutoRickshaw, Bus, Motorcycle, Mpv, Other, PassengerCar, Truck};
        let order = [PassengerCar, Motorcycle, Truck, Mpv, Bus, AutoRickshaw, Other];
        let years = |wanted: VehicleType| {
            let listed = self.spellings.values().filter_map(|types| types.get(&number(VehicleType::ALL, wanted)));
            listed.fold(YearSet::default(), |all, years| all.union(*years))
        };
        let mut types: Vec<_> =
            order.into_iter().map(|one| (one, years(one))).filter(|(_, years)| !years.is_empty()).collect();
        types.sort_by_key(|(_, years)| std::cmp::Reverse(years.len()));
        types
    }
}

/// Distinct dimensions, and the position of each in the list.
#[derive(Default)]
struct Sizes {
    list: Vec<Dimensions>,
    positions: HashMap<[u32; 5], u32>,
}

impl Sizes {
    fn position(&mut self, size: Dimensions) -> u32 {
        let key = [size.length_mm, size.width_mm, size.height_mm, size.wheelbase_mm, size.front_track_mm];
        *self.positions.entry(key).or_insert_with(|| {
            self.list.push(size);
            self.list.len() as u32 - 1
        })
    }
}

struct Builder<'a> {
    rules: &'a Rules,
    evidence: &'a Evidence,
    report: BTreeMap<&'static str, usize>,
    bodies: BTreeMap<&'static str, usize>,
    share_alike: usize,
    /// Models of the make that is being built.
    subjects: Vec<bodies::ReleaseModel>,
}

/// First and last year, body, and position of the dimensions: a span of a [`Patch`].
type PatchSpan = (u8, u8, u8, u32);

impl Builder<'_> {
    fn model(
        &mut self,
        make: &str,
        key: &str,
        draft: ModelDraft,
        plain: &mut Sizes,
        shared: &mut Sizes,
    ) -> (Model, Vec<PatchSpan>) {
        let spelling = draft.spelling();
        let sightings = chain(self.rules, self.evidence, make, key, spelling);
        let subject = body::ModelFacts::new(
            self.rules,
            self.evidence,
            &draft,
            Nameplate { make, key, sightings: &sightings },
            spelling,
        );
        let types = subject.types();
        let mut usual = BTreeMap::new();
        let mut spans = Vec::new();
        let mut patch: Vec<PatchSpan> = Vec::new();
        for year in draft.years().iter() {
            let offset = (year - FIRST_YEAR) as u8;
            let free = subject.facts(year, false);
            let full = subject.facts(year, true);
            usual.insert(year, (free.body, full.body));
            spans.push((offset, number(BodyClass::ALL, free.body), plain.position(free.dimensions)));
            *self.report.entry(full.dimensions_from).or_default() += 1;
            *self.bodies.entry(full.body.as_str()).or_default() += 1;
            if (free.body, free.dimensions) != (full.body, full.dimensions) {
                self.share_alike += 1;
                let facts = (number(BodyClass::ALL, full.body), shared.position(full.dimensions));
                match patch.last_mut() {
                    Some((_, last, body, size)) if *last + 1 == offset && (*body, *size) == facts => *last = offset,
                    _ => patch.push((offset, offset, facts.0, facts.1)),
                }
            }
        }
        self.subjects.push(bodies::ReleaseModel {
            slug: names::slug(spelling),
            key: key.to_owned(),
            words: names::words(spelling),
            usual,
        });
        let model = Model {
            name: names::shown(spelling),
            slug: names::slug(spelling),
            popularity: self.evidence.get(make, key).map_or(0, |sightings| sightings.register.popularity),
            types: types.into_iter().map(|(one, years)| (number(VehicleType::ALL, one), years)).collect(),
            spans: release::spans(spans.into_iter()),
            spellings: draft
                .spellings
                .into_iter()
                .map(|(name, years)| Spelling { name, years: years.into_iter().collect() })
                .collect(),
        };
        (model, patch)
    }
}

/// Returns the sightings that hold for a model, the nearest first: under its own key, under the
/// longest known beginnings of its name (`911 GT3`: `911`), under its family, and under its
/// family's members.
fn chain<'a>(rules: &Rules, evidence: &'a Evidence, make: &str, key: &str, spelling: &str) -> Vec<&'a Sightings> {
    let mut keys = vec![key.to_owned()];
    let words = names::words(spelling);
    for count in (1..words.len()).rev() {
        let beginning = words[..count].concat();
        if beginning.len() >= 2 {
            keys.push(beginning);
        }
    }
    for own in keys.clone() {
        keys.extend(rules.family(make, &own));
    }
    let members: Vec<String> = keys.iter().map(|key| format!("{MEMBERS}{key}")).collect();
    keys.extend(members);
    let mut seen = std::collections::HashSet::new();
    keys.retain(|key| seen.insert(key.clone()));
    keys.iter().filter_map(|key| evidence.get(make, key)).collect()
}

/// Returns the key of the family that a trim of a make belongs to by the built-in rules (`328xi`:
/// `3series`). Make and model are keys as well.
pub fn family(make: &str, model: &str) -> Option<String> {
    static RULES: LazyLock<Option<Rules>> = LazyLock::new(|| Rules::built_in().ok());
    RULES.as_ref()?.family(make, model)
}

/// Position of a value in its enumeration, as the release stores it. The enumerations have fewer
/// than 64 values.
fn number<T: PartialEq>(all: &[T], value: T) -> u8 {
    all.iter().position(|other| *other == value).unwrap_or(0) as u8
}
