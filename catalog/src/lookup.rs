//! Finds one vehicle by the names that a caller wrote, and explains the error if there is none.

mod asked;
mod certain;

pub use asked::{AskedName, AskedVehicle, AskedYear};

use super::bodies;
use super::ids::VehicleId;
use super::nameless::{is_nameless, is_nameless_make};
use super::search::{Effort, Match, MatchKind, Query, Words, model_nicknames, trims_and_years};
use super::{Catalog, Make, Model, import, names};
use cyclorama_core::{BodyClass, Vehicle, VehicleKey, named_enum};
use serde::Serialize;

/// Maximum number of suggestions in an answer: enough to choose from, short enough to read.
const SUGGESTIONS_MAX: usize = 8;
/// Minimum similarity (Jaro-Winkler, 0 to 1) of a name that is worth suggesting.
const LIKENESS_MIN: f64 = 0.72;

/// The one vehicle that a request means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Slugs of the catalog's row that was named.
    pub make: String,
    pub model: String,
    pub make_name: String,
    pub model_name: String,
    pub year: u16,
    /// The body that the request names; `None` for the one that the model usually has in that year.
    pub chosen_body: Option<BodyClass>,
    /// The vehicle that is drawn. It belongs to another row where the release lists the body as a
    /// model of its own.
    pub vehicle: Vehicle,
    pub matched: NameMatch,
}

impl Found {
    /// The key of the vehicle that was named.
    pub fn key(&self) -> VehicleKey {
        VehicleKey { make: self.make.clone(), model: self.model.clone(), body: self.chosen_body, year: self.year }
    }

    /// The permanent id of make, model and body.
    pub fn id(&self) -> VehicleId {
        VehicleId::of(&self.make, &self.model, self.vehicle.body)
    }
}

named_enum! {
    /// The way in which the words of a request were read as a name of the catalog.
    pub enum NameMatch {
        /// The names or slugs of the catalog, or an id.
        Exact = "exact",
        /// Another name of the make or model, or another row of the same car.
        Alias = "alias",
        /// The name of the model with words of its version behind it, or a version that stands for
        /// its family.
        Trim = "trim",
        /// The beginning of one model's name.
        Prefix = "prefix",
    }
}

/// The part of a request that the catalog does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    Make,
    Model,
    /// The make and model exist, but not in that year.
    Year,
    /// The given model is the beginning of several.
    AmbiguousModel,
    /// No vehicle of this release has the id.
    Id,
    /// The model was not sold with that body in that year.
    Body,
    /// The id stands for one body, and the request names another: a contradiction rather than a gap
    /// of the catalog.
    BodyOfId,
}

/// A 404: says what is wrong and which vehicles may have been meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct NotFound {
    pub missing: Missing,
    pub detail: String,
    /// Best first, at most eight: makes when the make is unknown, else models of the make.
    pub suggestions: Vec<Suggestion>,
    /// The bodies that the model has, where the requested one is missing.
    pub bodies: Vec<BodyClass>,
}

/// A make, or a model of one, with its slugs and the years in which it can be requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    pub make_name: String,
    pub make_slug: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_slug: Option<String>,
    /// The id of its usual body, in the requested year or else the newest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vehicle_id: Option<VehicleId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub years: Vec<u16>,
}

impl Suggestion {
    fn make(make: &Make) -> Self {
        Self {
            make_name: make.name.clone(),
            make_slug: make.slug.clone(),
            model_name: None,
            model_slug: None,
            vehicle_id: None,
            years: Vec::new(),
        }
    }

    fn model(make: &Make, model: &Model, year: Option<u16>) -> Self {
        let years = model.years();
        let year = year.filter(|year| years.contains(*year)).or(years.iter().last());
        Self {
            model_name: Some(model.name.clone()),
            model_slug: Some(model.slug.clone()),
            vehicle_id: year.map(|year| VehicleId::of(&make.slug, &model.slug, model.body_in(year))),
            years: years.iter().collect(),
            ..Self::make(make)
        }
    }
}

/// The key by which makes are compared: [`names::key`]. A nickname in another script has no Latin
/// letters and is its own key.
pub(super) fn make_key(name: &str) -> String {
    let key = names::key(name);
    if key.is_empty() { name.trim().to_lowercase() } else { key }
}

impl Catalog {
    /// Finds a vehicle with its usual body by names or slugs; case, accents and punctuation do not
    /// matter. See [`Catalog::find_asked`].
    pub fn find(&self, make: &str, model: &str, year: u16) -> Result<Found, NotFound> {
        self.find_asked(&AskedVehicle::named(make, model, year))
    }

    /// Returns the vehicle with exactly these slugs in that year. Stored vehicles are looked up
    /// this way, because they were stored under the catalog's own slugs.
    pub fn of_slugs(&self, make: &str, model: &str, year: u16) -> Option<Found> {
        let (make, model) = self.row(make, model)?;
        self.found(make, model, year, NameMatch::Exact)
    }

    /// Returns the row with exactly these slugs.
    pub(super) fn row(&self, make: &str, model: &str) -> Option<(&Make, &Model)> {
        let make = self.make(make).filter(|found| found.slug == make)?;
        Some((make, make.models.iter().find(|found| found.slug == model)?))
    }

    /// Returns the vehicle of a stored key, `make/model/year` or `make/model.body/year`.
    pub fn of_key(&self, vehicle_key: &str) -> Option<Found> {
        let VehicleKey { make, model, body, year } = vehicle_key.parse().ok()?;
        self.of_parts(&make, &model, body, year)
    }

    /// Returns the vehicle with exactly these slugs in that year, with exactly this body or,
    /// without one, the usual body.
    pub fn of_parts(&self, make: &str, model: &str, body: Option<BodyClass>, year: u16) -> Option<Found> {
        let found = self.of_slugs(make, model, year)?;
        let Some(body) = body.filter(|body| *body != found.vehicle.body) else { return Some(found) };
        let (make, model) = self.row(make, model)?;
        let vehicle = self.bodies(make, model, year).into_iter().find(|vehicle| vehicle.body == body)?;
        Some(Found { chosen_body: Some(body), vehicle, ..found })
    }

    /// Returns a make by name, slug or nickname.
    pub fn make(&self, name: &str) -> Option<&Make> {
        self.make_position(name).map(|position| &self.makes[position as usize])
    }

    /// Returns the position in [`Catalog::makes`] of a make by name, slug or nickname. Of two makes
    /// with one name (`SUR-RON`, `SURRON`) it is the one with this slug.
    pub fn make_position(&self, name: &str) -> Option<u32> {
        let named = self.makes_named(name);
        let of_slug = named.iter().find(|position| self.makes[**position as usize].slug == name);
        of_slug.or(named.first()).copied()
    }

    /// Returns a make by name, slug or nickname, or the makes that may have been meant.
    pub fn find_make(&self, name: &str) -> Result<&Make, NotFound> {
        self.make(name).ok_or_else(|| self.unknown_make(name))
    }

    /// Returns a model of a make in any year, or the models that may have been meant.
    pub fn find_model<'a>(&'a self, make: &'a Make, name: &str) -> Result<&'a Model, NotFound> {
        self.model(make, name).ok_or_else(|| {
            let key = names::key(name);
            let starting = |model: &&Model| !key.is_empty() && model.slug.replace('-', "").starts_with(&key);
            let several: Vec<&Model> = make.models.iter().filter(starting).collect();
            match several.is_empty() {
                true => self.unknown_model(make, &key, name, None),
                false => self.ambiguous(make, several, name, None),
            }
        })
    }

    /// Returns the one model of a make that a name, slug or beginning stands for, in any year.
    /// `None` if there is none or more than one.
    pub fn model<'a>(&'a self, make: &'a Make, model: &str) -> Option<&'a Model> {
        let position =
            *self.makes_named(&make.slug).iter().find(|position| self.makes[**position as usize].id == make.id)?;
        let key = names::key(model);
        let starting = self.models_starting(position as usize, &key);
        match starting {
            [(exact, first), ..] if *exact == key && !key.is_empty() => make.models.get(*first as usize),
            [(_, only)] => make.models.get(*only as usize),
            _ => None,
        }
    }

    fn makes_named(&self, name: &str) -> Vec<u32> {
        self.makes_by_key.get(&make_key(name)).cloned().unwrap_or_default()
    }

    /// Models of a make whose key starts with `key`, ascending, so an exact match comes first.
    fn models_starting(&self, make: usize, key: &str) -> &[(String, u32)] {
        let models = &self.models_by_key[make];
        let from = models.partition_point(|(other, _)| other.as_str() < key);
        let count = models[from..].partition_point(|(other, _)| other.starts_with(key));
        if key.is_empty() { &[] } else { &models[from..from + count] }
    }

    fn find_in_year(&self, position: usize, key: &str, asked: &str, year: u16) -> Result<Found, NotFound> {
        let make = &self.makes[position];
        let starting = self.models_starting(position, key);
        let at = |(_, model): &(String, u32)| &make.models[*model as usize];
        if let Some(exact) = starting.first().filter(|(other, _)| other == key) {
            let model = at(exact);
            let found = self.found(make, model, year, NameMatch::Exact);
            return found.ok_or_else(|| self.not_in_year(make, model, asked, year));
        }
        let in_year: Vec<&Model> = starting.iter().map(at).filter(|model| model.years().contains(year)).collect();
        let refused = match (in_year.as_slice(), starting) {
            ([only], _) => match self.found(make, only, year, NameMatch::Prefix) {
                Some(found) => return Ok(found),
                None => self.not_in_year(make, only, asked, year),
            },
            ([], [only]) => self.not_in_year(make, at(only), asked, year),
            ([], []) => self.unknown_model(make, key, asked, Some(year)),
            ([], several) => self.ambiguous(make, several.iter().map(at).collect(), asked, Some(year)),
            (several, _) => self.ambiguous(make, several.to_vec(), asked, Some(year)),
        };
        Err(refused)
    }

    fn found(&self, make: &Make, model: &Model, year: u16, matched: NameMatch) -> Option<Found> {
        Some(Found {
            make: make.slug.clone(),
            model: model.slug.clone(),
            make_name: make.name.clone(),
            model_name: model.name.clone(),
            year,
            chosen_body: None,
            vehicle: self.vehicle(make, model, year)?,
            matched,
        })
    }

    /// The refusal for an unknown make, with suggestions that have a matching model first: the
    /// model may tell which make was meant.
    fn unknown_make_of(&self, asked: &str, model: &str, year: u16, body: Option<BodyClass>) -> NotFound {
        let mut refused = self.unknown_make(asked);
        let of_make = |one: &Suggestion| {
            let found = self.find_named(&one.make_slug, model, year, body).ok()?;
            let (make, model) = self.row(&found.make, &found.model)?;
            Some(Suggestion::model(make, model, Some(year)))
        };
        let models: Vec<Suggestion> = refused.suggestions.iter().filter_map(of_make).collect();
        refused.suggestions.splice(0..0, models);
        refused.suggestions.truncate(SUGGESTIONS_MAX);
        refused
    }

    fn unknown_make(&self, asked: &str) -> NotFound {
        let key = make_key(asked);
        let mut alike: Vec<(f64, &Make)> =
            self.makes.iter().map(|make| (likeness(&key, &names::key(&make.name)), make)).collect();
        alike.retain(|(likeness, make)| *likeness >= LIKENESS_MIN && !is_nameless_make(make));
        // The number of a make's models stands for how likely the make is to be meant.
        alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.models.len().cmp(&a.1.models.len())));
        NotFound {
            missing: Missing::Make,
            detail: format!("the catalog has no make `{}`", shortened(asked)),
            suggestions: alike.iter().take(SUGGESTIONS_MAX).map(|(_, make)| Suggestion::make(make)).collect(),
            bodies: Vec::new(),
        }
    }

    fn not_in_year(&self, make: &Make, model: &Model, asked: &str, year: u16) -> NotFound {
        let mut near = self.meant(make, asked, year, |found| found.kind == MatchKind::Exact && found.reading.left == 0);
        near.insert(0, (make, model));
        near.splice(0..0, self.same_car_in(make, model, year));
        NotFound {
            missing: Missing::Year,
            detail: format!(
                "the catalog has no {} {} of {year}; it has {}",
                make.name,
                model.name,
                ranges(&model.years().iter().collect::<Vec<_>>())
            ),
            suggestions: suggestions(near, Some(year)),
            bodies: Vec::new(),
        }
    }

    fn ambiguous(&self, make: &Make, mut models: Vec<&Model>, asked: &str, year: Option<u16>) -> NotFound {
        models.sort_by_key(|model| (rank(model), model.slug.len()));
        let detail =
            format!("`{}` is the beginning of {} models of {}; name one", shortened(asked), models.len(), make.name);
        let meant = year.map_or(Vec::new(), |year| self.by_beginning(make, &Words::of(asked), year));
        let models = models.into_iter().map(|model| (make, model));
        NotFound {
            missing: Missing::AmbiguousModel,
            detail,
            suggestions: suggestions(meant.into_iter().chain(models), year),
            bodies: Vec::new(),
        }
    }

    fn unknown_model(&self, make: &Make, key: &str, asked: &str, year: Option<u16>) -> NotFound {
        let mut alike: Vec<(f64, &Model)> =
            make.models.iter().map(|model| (likeness(key, &model.slug.replace('-', "")), model)).collect();
        alike.retain(|(likeness, _)| *likeness >= LIKENESS_MIN);
        alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(rank(a.1).cmp(&rank(b.1))));
        let begun = year.map_or(Vec::new(), |year| self.by_beginning(make, &Words::of(asked), year));
        let meant = year.map_or(Vec::new(), |year| self.meant(make, asked, year, |_| true));
        let meant = begun.into_iter().chain(self.of_other_makes(make, key)).chain(meant);
        let alike = alike.into_iter().map(|(_, model)| (make, model));
        NotFound {
            missing: Missing::Model,
            detail: format!("{} has no model `{}` in the catalog", make.name, shortened(asked)),
            suggestions: suggestions(meant.chain(alike), year),
            bodies: Vec::new(),
        }
    }

    /// Well-known models of other makes that have exactly this key, the commonest first: somebody
    /// who wrote `Audi Golf` gets the Golf of Volkswagen.
    fn of_other_makes<'a>(&'a self, make: &Make, key: &str) -> Vec<(&'a Make, &'a Model)> {
        let of = |(position, other): (usize, &'a Make)| {
            let (found, model) = self.models_starting(position, key).first()?;
            let model = other.models.get(*model as usize)?;
            (found == key && other.id != make.id && model.popularity > 0).then_some((other, model))
        };
        let mut models: Vec<(&Make, &Model)> = self.makes.iter().enumerate().filter_map(of).collect();
        models.sort_by_key(|(_, model)| rank(model));
        models.truncate(SUGGESTIONS_MAX);
        models
    }

    /// The models that a name may stand for when the release has no such model in that year. The
    /// surest come first: the longest beginning of the name that is a model or a nickname (`911
    /// Turbo S`), then the family of a trim (`C 300`), then those matches of the search that `sure`
    /// accepts.
    fn meant<'a>(
        &'a self,
        make: &'a Make,
        asked: &str,
        year: u16,
        sure: impl Fn(&Match) -> bool,
    ) -> Vec<(&'a Make, &'a Model)> {
        let words = Words::of(asked);
        let mut meant = self.by_beginning(make, &words, year);
        let asides = trims_and_years(&words);
        let position = self.make_position(&make.slug);
        let query = Query { words: &words, asides: &asides, year: Some(year), make: position, effort: Effort::Decide };
        let mut found = self.search_index().matches(&query);
        found.retain(|found| found.is_model && sure(found));
        found.sort_by_key(|found| (std::cmp::Reverse((found.score, found.renown)), found.subject));
        let models = found.iter().filter_map(|found| {
            let (_, model) = self.subject(found)?;
            self.same_car_in(make, model?, year)
        });
        meant.extend(models);
        meant
    }

    /// The models of that year that the beginning of a name stands for, with or without the `e-`
    /// before it.
    fn by_beginning<'a>(&'a self, make: &'a Make, words: &Words, year: u16) -> Vec<(&'a Make, &'a Model)> {
        let meant = self.beginning(make, words, 0, year).models;
        // An `e-Golf` is a Golf, and counts as one where it has no row.
        let is_electric = meant.is_empty() && words.len() > 1 && words.join(0, 1) == "e";
        if is_electric { self.beginning(make, words, 1, year).models } else { meant }
    }

    /// The models of that year that the longest possible beginning of the name stands for, from
    /// atom `from` on.
    fn beginning<'a>(&'a self, make: &'a Make, words: &Words, from: usize, year: u16) -> Beginning<'a> {
        let make_key = names::key(&make.name);
        for to in (from + 1..=words.len()).rev() {
            let key = words.join(from, to);
            let without_make = key.strip_prefix(&make_key).filter(|rest| !rest.is_empty());
            let family = import::family(&make_key, key);
            let is_called = |model: &&Model| {
                let own = model.slug.replace('-', "");
                own == key
                    || without_make == Some(&own)
                    || model_nicknames(make, model).iter().any(|name| names::key(name) == key)
            };
            let of_family =
                |model: &&Model| family.as_ref().is_some_and(|family| model.slug.replace('-', "") == *family);
            // A single letter is a model only where it is the whole name: `C 300` is not the model
            // `C`.
            let is_name = key.len() > 1 || to == words.len();
            let called: Vec<&Model> = make.models.iter().filter(|model| is_name && is_called(model)).collect();
            let called_count = called.len();
            let models = called.into_iter().chain(make.models.iter().filter(of_family));
            let in_year: Vec<_> = models.filter_map(|model| self.same_car_in(make, model, year)).collect();
            if let Some((_, first)) = in_year.first() {
                let own = first.slug.replace('-', "");
                let is_longer = key.len() > own.len() && key.starts_with(&own);
                let of_trim = family.as_ref().is_some_and(|family| *family == own && family != key);
                // `MX-5 Miata` is not a version: another row of the same car has that name.
                let is_twin = self.twins(make, first).any(|(_, twin)| twin.slug.replace('-', "") == key);
                // A rule for a family accepts any rest, so the part behind `320d` must be
                // understood by itself.
                let is_whole_word = |short: &usize| !words.is_glued(*short);
                let of_same_family = |short: &usize| import::family(&make_key, words.join(from, *short)) == family;
                let shortest = || (from + 1..to).filter(is_whole_word).find(of_same_family);
                let to = if called_count == 0 && of_trim { shortest().unwrap_or(to) } else { to };
                return Beginning { models: in_year, to, is_version: (is_longer || of_trim) && !is_twin };
            }
        }
        Beginning { models: Vec::new(), to: from, is_version: false }
    }
}

/// The models that the beginning of a name stands for.
struct Beginning<'a> {
    models: Vec<(&'a Make, &'a Model)>,
    /// The first atom behind the beginning.
    to: usize,
    /// True if the beginning names a version of the model: `C 300` of the C-Class, `Golf GTI` of
    /// the Golf.
    is_version: bool,
}

/// Makes suggestions of models: each model once, and at most as many as an answer carries. Models
/// of the requested year come first, and rows that name no vehicle come last.
fn suggestions<'a>(models: impl IntoIterator<Item = (&'a Make, &'a Model)>, year: Option<u16>) -> Vec<Suggestion> {
    let mut models: Vec<(&Make, &Model)> = models.into_iter().collect();
    models.sort_by_key(|(make, model)| {
        (year.is_some_and(|year| !model.years().contains(year)), is_nameless(make, model))
    });
    let mut seen = std::collections::HashSet::new();
    models.retain(|(make, model)| seen.insert((make.id, model.slug.as_str())));
    models.into_iter().take(SUGGESTIONS_MAX).map(|(make, model)| Suggestion::model(make, model, year)).collect()
}

/// Sort key of a model: the commonest first, and models of unknown popularity last.
fn rank(model: &Model) -> u8 {
    if model.popularity == 0 { u8::MAX } else { model.popularity }
}

/// Similarity of two names, 1 for the same name. A name that contains the other counts as close
/// however long it is.
fn likeness(asked: &str, name: &str) -> f64 {
    let alike = strsim::jaro_winkler(asked, name);
    let contains = asked.len() >= 2 && name.contains(asked) || name.len() >= 3 && asked.contains(name);
    if contains { alike.max(0.9) } else { alike }
}

/// Formats ascending years as ranges, such as `1990 to 1998, 2004, 2010 to 2012`.
pub fn ranges(years: &[u16]) -> String {
    let mut runs: Vec<(u16, u16)> = Vec::new();
    for year in years {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *year => *last = *year,
            _ => runs.push((*year, *year)),
        }
    }
    let run = |(from, to): &(u16, u16)| if from == to { from.to_string() } else { format!("{from} to {to}") };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

fn shortened(asked: &str) -> String {
    asked.chars().take(60).collect()
}

#[cfg(test)]
mod tests;
