//! Lists of the catalog, for browsing and searching.

use super::vehicles_query::VehiclesQuery;
use crate::catalog::search::Hit;
use crate::catalog::{Catalog, Generation, Make, Model, NotFound, VehicleId};
use crate::http::delivery_problem::vehicle_not_found;
use crate::http::error::Problem;
use crate::http::openapi::requests;
use cyclorama_core::BodyClass;
use cyclorama_drawings::{Likeness, likeness};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct CatalogMake {
    id: u64,
    name: String,
    slug: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CatalogModel {
    name: String,
    slug: String,
    /// motorcycle, passenger-car, truck, bus, mpv, auto-rickshaw or other.
    vehicle_type: &'static str,
    /// How close the image is to the real vehicle: `generation` (drawn for this generation from
    /// measured proportions), `model` (drawn for the model), `make` (by body class, size and era,
    /// with the face of the make) or `body` (by body class, size and era alone). For the requested
    /// year, otherwise for the best of its years.
    #[schema(schema_with = requests::likeness)]
    likeness: &'static str,
    /// The permanent id of its usual body, in the requested year or otherwise the newest.
    #[schema(schema_with = requests::vehicle_id)]
    vehicle_id: String,
    #[schema(schema_with = requests::body)]
    body: &'static str,
}

/// A body that a model was sold with.
#[derive(Debug, Serialize, ToSchema)]
pub struct OfferedBody {
    #[schema(schema_with = requests::body)]
    body: &'static str,
    #[schema(schema_with = requests::vehicle_id)]
    vehicle_id: String,
    /// In ascending order.
    years: Vec<u16>,
    /// Spans of years in which it looks the same and has one image, in order of time.
    generations: Vec<ShownGeneration>,
}

/// Years in which a model looks the same.
#[derive(Debug, Serialize, ToSchema)]
pub struct ShownGeneration {
    /// The name that makers or people use, if it is known.
    name: Option<String>,
    from: u16,
    to: u16,
    /// True if this is the previous generation with another face.
    facelift: bool,
}

/// Neighbouring years of a model whose images are equally close to the real vehicle.
#[derive(Debug, Serialize, ToSchema)]
pub struct LikenessSpan {
    year_from: u16,
    year_to: u16,
    #[schema(schema_with = requests::likeness)]
    likeness: &'static str,
}

/// A make or a model that fits the search.
#[derive(Debug, Serialize, ToSchema)]
pub struct CatalogSearchHit {
    #[schema(pattern = "^(make|model)$")]
    kind: &'static str,
    make_name: String,
    make_slug: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_slug: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vehicle_type: Option<&'static str>,
    /// For a model: the permanent id of its usual body in its newest year.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = requests::vehicle_id)]
    vehicle_id: Option<String>,
    /// In ascending order.
    years: Vec<u16>,
    /// exact, prefix, token, contains or fuzzy.
    #[schema(pattern = "^(exact|prefix|token|contains|fuzzy)$")]
    match_kind: &'static str,
}

/// The model years of the catalog.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct YearList {
    /// In ascending order.
    years: Vec<u16>,
}

/// The makes of a year.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MakeList {
    year: u16,
    makes: Vec<CatalogMake>,
}

/// The models of a make, which is given by its id, in a year.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelsOfIdList {
    year: u16,
    make_id: u64,
    models: Vec<CatalogModel>,
}

/// The makes and models that were found, the best first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchResults {
    query: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    year: Option<u16>,
    results: Vec<CatalogSearchHit>,
}

/// The models of a make.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelList {
    make: CatalogMake,
    #[serde(skip_serializing_if = "Option::is_none")]
    year: Option<u16>,
    models: Vec<CatalogModel>,
}

/// The years of a model.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelYearList {
    make: CatalogMake,
    model: CatalogModel,
    /// In ascending order.
    years: Vec<u16>,
    /// How close images are to the real vehicle, as spans of years in ascending order. A span may
    /// contain years in which the model was not built.
    likeness: Vec<LikenessSpan>,
    /// Looks of the usual body, in order of time.
    generations: Vec<ShownGeneration>,
    /// Every body that the model was sold with, the usual one of its newest year first.
    bodies: Vec<OfferedBody>,
}

/// One of the six lists.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum VehicleList {
    Years(YearList),
    Makes(MakeList),
    ModelsOfId(ModelsOfIdList),
    Search(SearchResults),
    Models(ModelList),
    ModelYears(ModelYearList),
}

#[derive(Debug, Serialize, ToSchema)]
pub struct VehiclesResponse {
    pub data: VehicleList,
    pub request_id: String,
}

impl From<&Make> for CatalogMake {
    fn from(make: &Make) -> Self {
        CatalogMake { id: make.id, name: make.name.clone(), slug: make.slug.clone() }
    }
}

fn model(catalog: &Catalog, make: &Make, model: &Model, year: Option<u16>) -> CatalogModel {
    let years = likeness_by_year(catalog, make, model);
    let likeness = years.filter(|(each, _)| year.is_none_or(|year| *each == year)).map(|(_, likeness)| likeness).min();
    let body = model.body_in(year.or(model.years().iter().last()).unwrap_or_default());
    CatalogModel {
        vehicle_id: VehicleId::of(&make.slug, &model.slug, body).to_string(),
        body: body.as_str(),
        name: model.name.clone(),
        slug: model.slug.clone(),
        vehicle_type: vehicle_type(model, year),
        likeness: likeness.unwrap_or(Likeness::Body).as_str(),
    }
}

/// Returns every year of a model, in ascending order, with the likeness of its image.
fn likeness_by_year(catalog: &Catalog, make: &Make, model: &Model) -> impl Iterator<Item = (u16, Likeness)> {
    let vehicles = model.years().iter().filter_map(|year| catalog.vehicle(make, model, year));
    vehicles.map(|vehicle| (vehicle.year, likeness(&vehicle)))
}

/// Returns the body that a model usually has in its newest year.
pub fn usual_body(model: &Model) -> BodyClass {
    model.body_in(model.years().iter().last().unwrap_or_default())
}

fn usual_id(make: &Make, model: &Model) -> VehicleId {
    VehicleId::of(&make.slug, &model.slug, usual_body(model))
}

pub fn generations(catalog: &Catalog, make: &Make, model: &Model, body: BodyClass) -> Vec<ShownGeneration> {
    let shown = |Generation { name, from, to, facelift }| ShownGeneration { name, from, to, facelift };
    catalog.generations(make, model, body).into_iter().map(shown).collect()
}

/// Returns every body that a model was sold with in any year, the usual one first.
pub fn offered_bodies(catalog: &Catalog, make: &Make, model: &Model) -> Vec<OfferedBody> {
    let mut years: BTreeMap<BodyClass, Vec<u16>> = BTreeMap::new();
    for year in model.years().iter() {
        for vehicle in catalog.bodies(make, model, year) {
            years.entry(vehicle.body).or_default().push(year);
        }
    }
    let usual = usual_body(model);
    let mut bodies: Vec<(BodyClass, Vec<u16>)> = years.into_iter().collect();
    bodies.sort_by_key(|(body, _)| *body != usual);
    let shown = |(body, years): (BodyClass, Vec<u16>)| OfferedBody {
        body: body.as_str(),
        vehicle_id: VehicleId::of(&make.slug, &model.slug, body).to_string(),
        years,
        generations: generations(catalog, make, model, body),
    };
    bodies.into_iter().map(shown).collect()
}

fn likeness_spans(years: impl Iterator<Item = (u16, Likeness)>) -> Vec<LikenessSpan> {
    let mut spans: Vec<LikenessSpan> = Vec::new();
    for (year, likeness) in years {
        match spans.last_mut() {
            Some(span) if span.likeness == likeness.as_str() => span.year_to = year,
            _ => spans.push(LikenessSpan { year_from: year, year_to: year, likeness: likeness.as_str() }),
        }
    }
    spans
}

/// Returns the vehicle type in that year, otherwise the most common one.
fn vehicle_type(model: &Model, year: Option<u16>) -> &'static str {
    year.and_then(|year| model.vehicle_type_in(year)).unwrap_or_else(|| model.vehicle_type()).as_str()
}

impl CatalogSearchHit {
    fn of(hit: Hit<'_>) -> Self {
        CatalogSearchHit {
            kind: if hit.model.is_some() { "model" } else { "make" },
            make_name: hit.make.name.clone(),
            make_slug: hit.make.slug.clone(),
            model_name: hit.model.map(|model| model.name.clone()),
            model_slug: hit.model.map(|model| model.slug.clone()),
            vehicle_type: hit.model.map(|model| vehicle_type(model, None)),
            vehicle_id: hit.model.map(|model| usual_id(hit.make, model).to_string()),
            years: hit.years,
            match_kind: hit.kind.as_str(),
        }
    }
}

/// Returns the list for a query. Returns 404 if the catalog has no such make, model or year.
pub fn list(catalog: &Catalog, query: VehiclesQuery) -> Result<VehicleList, Problem> {
    let models = |make: &Make, year: Option<u16>| -> Vec<CatalogModel> {
        let in_year = |model: &&Model| year.is_none_or(|year| model.years().contains(year));
        make.models.iter().filter(in_year).map(|each| model(catalog, make, each, year)).collect()
    };
    match query {
        VehiclesQuery::Years => Ok(VehicleList::Years(YearList { years: catalog.years().iter().collect() })),
        VehiclesQuery::Makes { year } => {
            let makes: Vec<CatalogMake> = catalog.makes_in(year).map(CatalogMake::from).collect();
            if makes.is_empty() {
                Err(no_such_year(catalog, year))
            } else {
                Ok(VehicleList::Makes(MakeList { year, makes }))
            }
        }
        VehiclesQuery::ModelsOfId { make_id, year } => {
            let make = catalog.makes().iter().find(|make| make.id == make_id);
            let unknown =
                || Problem::not_found("vehicle_not_found", format!("The catalog has no make with the id {make_id}."));
            let models = models(make.ok_or_else(unknown)?, Some(year));
            match models.is_empty() {
                true => Err(Problem::not_found(
                    "vehicle_not_found",
                    format!("The catalog has no model of this make of {year}."),
                )),
                false => Ok(VehicleList::ModelsOfId(ModelsOfIdList { year, make_id, models })),
            }
        }
        VehiclesQuery::Search { text, year, make, limit } => {
            let make = make.map(|make| catalog.find_make(&make)).transpose().map_err(vehicle_not_found)?;
            let hits = catalog.search_in(&text, year, make, limit);
            let results = hits.into_iter().map(CatalogSearchHit::of).collect();
            Ok(VehicleList::Search(SearchResults { query: text, year, results }))
        }
        VehiclesQuery::Models { make, year } => {
            let make = catalog.find_make(&make).map_err(vehicle_not_found)?;
            let models = models(make, year);
            match (year, models.is_empty()) {
                (Some(year), true) => {
                    let detail = format!("The catalog has no model of {} of {year}.", make.name);
                    Err(Problem::not_found("vehicle_not_found", detail))
                }
                _ => Ok(VehicleList::Models(ModelList { make: make.into(), year, models })),
            }
        }
        VehiclesQuery::ModelYears { make, model: name } => {
            let find = || -> Result<_, NotFound> {
                let make = catalog.find_make(&make)?;
                Ok((make, catalog.find_model(make, &name)?))
            };
            let (make, found) = find().map_err(vehicle_not_found)?;
            Ok(VehicleList::ModelYears(ModelYearList {
                make: make.into(),
                model: model(catalog, make, found, None),
                years: found.years().iter().collect(),
                likeness: likeness_spans(likeness_by_year(catalog, make, found)),
                generations: generations(catalog, make, found, usual_body(found)),
                bodies: offered_bodies(catalog, make, found),
            }))
        }
    }
}

fn no_such_year(catalog: &Catalog, year: u16) -> Problem {
    let counts = catalog.counts();
    let detail = format!("The catalog has no vehicle of {year}; it has {} to {}.", counts.year_from, counts.year_to);
    Problem::not_found("vehicle_not_found", detail)
}
