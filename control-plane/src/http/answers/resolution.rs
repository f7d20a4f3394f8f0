//! Resolves words, or a vehicle identification number, to the parameters of one image.

use crate::app::App;
use crate::catalog::resolve::{self, Candidate, Extraction, ResolvedVehicle, UnresolvedText};
use crate::catalog::search::MatchKind;
use crate::catalog::{Catalog, Found, Make, VehicleId, vin};
use crate::delivery::request::{YEARS, whole};
use crate::http::answers::decoded_vin::{confidence, decode};
use crate::http::answers::vehicle_list::CatalogMake;
use crate::http::error::Problem;
use crate::http::json;
use crate::http::openapi::requests::{self, NARROWING_CHARS_MAX, QUERY_CHARS_MAX};
use cyclorama_core::{Colour, View};
use cyclorama_drawings::likeness;
use cyclorama_vin::VinParts;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::form_urlencoded;
use utoipa::ToSchema;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    query: Option<String>,
    vin: Option<String>,
    year: Option<Value>,
    make: Option<String>,
    model: Option<String>,
}

/// Parameters of an image, as slugs. If the words do not mention them, the year is the latest of
/// the model, view and color are the defaults, and size, width and format are left out.
#[derive(Debug, Serialize, ToSchema)]
struct ResolvedParams {
    make: String,
    model: String,
    year: u16,
    /// Present if it is not the model's usual body of that year.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = requests::body)]
    body: Option<&'static str>,
    #[schema(schema_with = requests::view)]
    view: &'static str,
    #[schema(schema_with = requests::preset_color)]
    color: &'static str,
    /// thumb, small, medium or large.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1024)]
    width: Option<u32>,
    /// png, webp or jpg; words never choose avif.
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
}

/// The names for display.
#[derive(Debug, Serialize, ToSchema)]
struct DisplayNames {
    make_name: String,
    model_name: String,
}

/// A vehicle that may be meant.
#[derive(Debug, Serialize, ToSchema)]
struct ResolveCandidate {
    make_name: String,
    make_slug: String,
    model_name: String,
    model_slug: String,
    /// In ascending order.
    years: Vec<u16>,
    #[schema(pattern = "^(exact|prefix|token|contains|fuzzy)$")]
    match_kind: &'static str,
}

/// The parameters that were recognised in the words; null for those that the words do not mention.
#[derive(Debug, Serialize, ToSchema)]
struct ExtractedWords {
    year: Option<u16>,
    body: Option<&'static str>,
    color: Option<&'static str>,
    view: Option<&'static str>,
    size: Option<&'static str>,
    width: Option<u32>,
    format: Option<&'static str>,
    /// Words that were not understood.
    unread: Vec<String>,
}

/// The image that is meant.
#[derive(Debug, Serialize, ToSchema)]
struct ResolvedPicture {
    params: ResolvedParams,
    /// Permanent id of make, model and body.
    #[schema(schema_with = requests::vehicle_id)]
    vehicle_id: String,
    display: DisplayNames,
    /// At most eight candidates, the best first; the first is the one in `params`.
    candidates: Vec<ResolveCandidate>,
    /// With `high`, use `params` or `image_path`. With `medium` or `low`, show the candidates to a
    /// person.
    #[schema(pattern = "^(high|medium|low)$")]
    confidence: &'static str,
    /// The path and query of the image, ready to be requested.
    image_path: String,
    /// How close the image will be to the real vehicle.
    #[schema(schema_with = requests::likeness)]
    likeness: &'static str,
    extracted: ExtractedWords,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ResolveResponse {
    data: ResolvedPicture,
    request_id: String,
}

/// Resolves the members of a body to an image.
pub fn answer(app: &App, members: Map<String, Value>, request_id: String) -> Result<ResolveResponse, Problem> {
    let (body, year) = understand(members)?;
    let make = body.make.as_deref().filter(|name| !name.trim().is_empty());
    let model = body.model.as_deref().filter(|name| !name.trim().is_empty());
    let data = match (&body.query, &body.vin) {
        (Some(_), Some(_)) => {
            return Err(Problem::bad_parameter("vin", "`vin` cannot be used with `query`: send one of the two."));
        }
        (None, None) => return Err(Problem::bad_parameter("query", "`query` or `vin` is required.")),
        (Some(query), None) => {
            let catalog = app.catalog.now();
            let resolved = resolve::resolve(&catalog, &resolve::Request { query, year, make, model });
            shown(&resolved.map_err(not_found)?)
        }
        (None, Some(number)) => {
            for (name, value) in [("make", make), ("model", model)] {
                if value.is_some() {
                    return Err(Problem::bad_parameter(
                        name,
                        format!("`{name}` cannot be used with `vin`, which contains it."),
                    ));
                }
            }
            of_vin(app, number, year)?
        }
    };
    Ok(ResolveResponse { data, request_id })
}

/// Returns the image of the vehicle that an identification number stands for.
fn of_vin(app: &App, number: &str, year: Option<u16>) -> Result<ResolvedPicture, Problem> {
    let decoded = decode(app, number, year)?;
    let catalog = app.catalog.now();
    match vin::in_catalog(&catalog, &decoded) {
        Some(found) => Ok(shown_of_vin(&catalog, &decoded, &found)),
        None => Err(not_in_catalog(&catalog, &decoded)),
    }
}

/// Returns 404 for a number that was decoded but whose vehicle is not in the catalog, with the
/// decoded parts and the make's models.
fn not_in_catalog(catalog: &Catalog, decoded: &VinParts) -> Problem {
    let VinParts { make, model, year, .. } = decoded;
    let parts = [Some(make.clone()), model.clone(), year.map(|year| year.to_string())];
    let said = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let missing = match (model, year) {
        (None, _) => "the tables do not contain its model",
        (Some(_), None) => "the tables do not contain its year: send `year`",
        (Some(_), Some(_)) => "the catalog has no such vehicle",
    };
    let problem = Problem::not_found("vehicle_not_found", format!("The number stands for {said}, but {missing}."));
    match catalog.make(make) {
        Some(make) => {
            let makes = serde_json::to_value([CatalogMake::from(make)]).unwrap_or_default();
            let api = format!("GET /api/v1/vehicles?make={} lists the make's models.", make.slug);
            let tool = format!("search_vehicles with `make`: `{}` lists its models.", make.slug);
            problem.with("makes", makes).advise(api, tool)
        }
        None => problem,
    }
}

fn understand(members: Map<String, Value>) -> Result<(Body, Option<u16>), Problem> {
    let body: Body = json::fit(members, "")?;
    let is_wrong = |query: &String| query.trim().is_empty() || query.chars().count() > QUERY_CHARS_MAX;
    if body.query.as_ref().is_some_and(is_wrong) {
        return Err(Problem::bad_parameter(
            "query",
            format!("`query` must have 1 to {QUERY_CHARS_MAX} characters, not only spaces."),
        ));
    }
    for (name, value) in [("make", &body.make), ("model", &body.model)] {
        if value.as_ref().is_some_and(|value| value.chars().count() > NARROWING_CHARS_MAX) {
            return Err(Problem::bad_parameter(
                name,
                format!("`{name}` must have at most {NARROWING_CHARS_MAX} characters."),
            ));
        }
    }
    let (first, last) = (*YEARS.start(), *YEARS.end());
    let wrong = || Problem::bad_parameter("year", format!("`year` must be a whole number from {first} to {last}."));
    let year = match &body.year {
        Some(year) => {
            let year = whole(year).and_then(|year| u16::try_from(year).ok()).filter(|year| YEARS.contains(year));
            Some(year.ok_or_else(wrong)?)
        }
        None => None,
    };
    Ok((body, year))
}

fn not_found(unresolved: UnresolvedText<'_>) -> Problem {
    let UnresolvedText { makes, extracted } = unresolved;
    if makes.is_empty() {
        return Problem::not_found("vehicle_not_found", "No vehicle of the catalog was recognised in `query`.").advise(
            "",
            "search_vehicles with `q` finds makes and models by a part of their name; with `year` it lists the makes \
             of a year.",
        );
    }
    let names: Vec<&str> = makes.iter().map(|make| make.name.as_str()).collect();
    let left = match extracted.unread.is_empty() {
        true => "Name a model".to_owned(),
        false => format!("`{}` is not one of its models", extracted.unread.join(" ")),
    };
    let detail = format!("Only a make was recognised: {}. {left}.", names.join(", "));
    let slug = makes.first().map_or("", |make| make.slug.as_str());
    let api = format!("GET /api/v1/vehicles?make={slug} lists its models.");
    let tool = format!("search_vehicles with `make`: `{slug}` lists its models.");
    let makes: Vec<CatalogMake> = makes.into_iter().map(|make: &Make| CatalogMake::from(make)).collect();
    let makes = serde_json::to_value(makes).unwrap_or_default();
    Problem::not_found("vehicle_not_found", detail).with("makes", makes).advise(api, tool)
}

fn shown(resolved: &ResolvedVehicle<'_>) -> ResolvedPicture {
    let Extraction { year, body, colour, view, size, width_px, format, unread } = &resolved.extracted;
    let params = ResolvedParams {
        make: resolved.make.slug.clone(),
        model: resolved.model.slug.clone(),
        year: resolved.year,
        body: resolved.chosen_body.map(|body| body.as_str()),
        view: view.unwrap_or_default().as_str(),
        color: colour.unwrap_or_default().as_str(),
        size: size.map(|size| size.as_str()),
        width: *width_px,
        format: format.map(|format| format.as_str()),
    };
    let image_path = image_path(&params);
    ResolvedPicture {
        params,
        vehicle_id: VehicleId::of(&resolved.make.slug, &resolved.model.slug, resolved.vehicle.body).to_string(),
        display: DisplayNames { make_name: resolved.make.name.clone(), model_name: resolved.model.name.clone() },
        candidates: resolved.candidates.iter().map(candidate).collect(),
        confidence: resolved.confidence.as_str(),
        image_path,
        likeness: likeness(&resolved.vehicle).as_str(),
        extracted: ExtractedWords {
            year: *year,
            body: body.map(|body| body.as_str()),
            color: colour.map(|colour| colour.as_str()),
            view: view.map(|view| view.as_str()),
            size: size.map(|size| size.as_str()),
            width: *width_px,
            format: format.map(|format| format.as_str()),
            unread: unread.clone(),
        },
    }
}

/// Returns the decoded vehicle in the default view and paint.
fn shown_of_vin(catalog: &Catalog, decoded: &VinParts, found: &Found) -> ResolvedPicture {
    let params = ResolvedParams {
        make: found.make.clone(),
        model: found.model.clone(),
        year: found.year,
        body: found.chosen_body.map(|body| body.as_str()),
        view: View::default().as_str(),
        color: Colour::default().as_str(),
        size: None,
        width: None,
        format: None,
    };
    let model = catalog.make(&found.make).and_then(|make| make.models.iter().find(|model| model.slug == found.model));
    ResolvedPicture {
        image_path: image_path(&params),
        params,
        vehicle_id: VehicleId::of(&found.make, &found.model, found.vehicle.body).to_string(),
        display: DisplayNames { make_name: found.make_name.clone(), model_name: found.model_name.clone() },
        candidates: vec![ResolveCandidate {
            make_name: found.make_name.clone(),
            make_slug: found.make.clone(),
            model_name: found.model_name.clone(),
            model_slug: found.model.clone(),
            years: model.map_or_else(|| vec![found.year], |model| model.years().iter().collect()),
            match_kind: MatchKind::Exact.as_str(),
        }],
        confidence: confidence(decoded),
        likeness: likeness(&found.vehicle).as_str(),
        extracted: ExtractedWords {
            year: decoded.year,
            body: decoded.body,
            color: None,
            view: None,
            size: None,
            width: None,
            format: None,
            unread: Vec::new(),
        },
    }
}

fn candidate(candidate: &Candidate<'_>) -> ResolveCandidate {
    ResolveCandidate {
        make_name: candidate.make.name.clone(),
        make_slug: candidate.make.slug.clone(),
        model_name: candidate.model.name.clone(),
        model_slug: candidate.model.slug.clone(),
        years: candidate.model.years().iter().collect(),
        match_kind: candidate.kind.as_str(),
    }
}

fn image_path(params: &ResolvedParams) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("make", &params.make).append_pair("model", &params.model);
    query.append_pair("year", &params.year.to_string());
    if let Some(body) = params.body {
        query.append_pair("body", body);
    }
    query.append_pair("view", params.view).append_pair("color", params.color);
    if let Some(width) = params.width {
        query.append_pair("w", &width.to_string());
    }
    for (key, value) in [("size", params.size), ("format", params.format)] {
        if let Some(value) = value {
            query.append_pair(key, value);
        }
    }
    format!("/api/v1/images/car?{}", query.finish())
}
