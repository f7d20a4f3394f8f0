//! `POST /api/v1/images/resolve`: words to the parameters of one picture. Free.

use crate::accounts::Scope;
use crate::app::App;
use crate::catalog::Make;
use crate::catalog::resolve::{self, Candidate, Extracted, Resolved, Unresolved};
use crate::delivery::request::{YEARS, whole};
use crate::http::error::Problem;
use crate::http::extract::{Caller, RequestId, read_any_body};
use crate::http::json;
use crate::http::openapi::requests::{self, ResolveRequest};
use crate::http::rate_limit::counted;
use crate::http::v1::vehicles::get::CatalogMake;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use cyclorama_core::BodyClass;
use cyclorama_drawings::likeness;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::form_urlencoded;
use utoipa::ToSchema;

pub const BODY_BYTES_MAX: usize = 4 * 1024;
pub const QUERY_CHARS_MAX: usize = 200;
pub const NAME_CHARS_MAX: usize = 60;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    query: String,
    year: Option<Value>,
    make: Option<String>,
    model: Option<String>,
}

/// Parameters of a picture, in slugs; what the words do not say has its default, or is left out.
#[derive(Debug, Serialize, ToSchema)]
struct ResolvedParams {
    make: String,
    model: String,
    year: u16,
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
    /// png, webp or jpg.
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
}

/// The names people know.
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
    /// Ascending.
    years: Vec<u16>,
    #[schema(pattern = "^(exact|prefix|token|contains|fuzzy)$")]
    match_kind: &'static str,
}

/// What was recognised in the words; null where they say nothing.
#[derive(Debug, Serialize, ToSchema)]
struct ExtractedWords {
    year: Option<u16>,
    color: Option<&'static str>,
    view: Option<&'static str>,
    size: Option<&'static str>,
    width: Option<u32>,
    format: Option<&'static str>,
    /// Words that were not understood.
    unread: Vec<String>,
}

/// The picture that is meant.
#[derive(Debug, Serialize, ToSchema)]
struct ResolvedPicture {
    params: ResolvedParams,
    display: DisplayNames,
    /// The best first, at most eight; the first is the one in `params`.
    candidates: Vec<ResolveCandidate>,
    /// `high`: use `image_path`. `medium` or `low`: show the candidates to somebody.
    #[schema(pattern = "^(high|medium|low)$")]
    confidence: &'static str,
    /// Ready to be requested.
    image_path: String,
    /// How like the real vehicle the picture will be.
    #[schema(schema_with = requests::likeness)]
    likeness: &'static str,
    extracted: ExtractedWords,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ResolveResponse {
    data: ResolvedPicture,
    request_id: String,
}

/// Resolve a description
///
/// Free text to the exact parameters of one picture: year, color, view, size and format are read out of it, the rest is
/// looked up in the catalog. The same words always come to the same. `confidence` is `high` when every word is accounted
/// for, the names are written out and one vehicle fits; `medium` when there is a typing mistake, a beginning of a name, a
/// trim, a year the model was not built in, a word for a kind of thing without a make (`tractor`), or another vehicle that fits as well; `low` when words are left over or only a piece of a
/// name was there. Free.
#[utoipa::path(
    post, path = "/api/v1/images/resolve", tag = "Catalog", operation_id = "resolveImage",
    security(("bearer" = ["account:read"]), ("apiKey" = ["account:read"])),
    request_body(content = ResolveRequest, content_type = "application/json", description = "At most 4 KiB."),
    responses(
        (status = 200, description = "The picture that is meant.", body = ResolveResponse),
        (status = 400), (status = 401), (status = 403),
        (status = 404, description = "No vehicle was recognised; `makes` names the makes that were."),
        (status = 413), (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn post(State(app): State<App>, caller: Caller, request_id: RequestId, request: Request) -> Response {
    counted(&app, &caller, async {
        caller.require(Scope::AccountRead)?;
        let members = json::members(&read_any_body(request, &app).await?, &[])?;
        let answer = answer(&app, members, request_id.0)?;
        Ok(([(CACHE_CONTROL, "private, no-store")], Json(answer)).into_response())
    })
    .await
}

/// The picture that the members of a body mean.
pub fn answer(app: &App, members: Map<String, Value>, request_id: String) -> Result<ResolveResponse, Problem> {
    let (body, year) = understand(members)?;
    let asked = resolve::Request {
        query: &body.query,
        year,
        make: body.make.as_deref().filter(|name| !name.trim().is_empty()),
        model: body.model.as_deref().filter(|name| !name.trim().is_empty()),
    };
    let catalog = app.catalog.now();
    let resolved = resolve::resolve(&catalog, &asked).map_err(not_found)?;
    Ok(ResolveResponse { data: shown(&resolved), request_id })
}

fn understand(members: Map<String, Value>) -> Result<(Body, Option<u16>), Problem> {
    let body: Body = json::fit(members, "")?;
    let characters = body.query.chars().count();
    if body.query.trim().is_empty() || characters > QUERY_CHARS_MAX {
        return Err(Problem::bad_parameter("query", format!("`query` is 1 to {QUERY_CHARS_MAX} characters of text.")));
    }
    for (name, value) in [("make", &body.make), ("model", &body.model)] {
        if value.as_ref().is_some_and(|value| value.chars().count() > NAME_CHARS_MAX) {
            return Err(Problem::bad_parameter(name, format!("`{name}` is at most {NAME_CHARS_MAX} characters.")));
        }
    }
    let (first, last) = (*YEARS.start(), *YEARS.end());
    let wrong = || Problem::bad_parameter("year", format!("`year` is a whole number from {first} to {last}."));
    let year = match &body.year {
        Some(year) => {
            let year = whole(year).and_then(|year| u16::try_from(year).ok()).filter(|year| YEARS.contains(year));
            Some(year.ok_or_else(wrong)?)
        }
        None => None,
    };
    Ok((body, year))
}

fn not_found(unresolved: Unresolved<'_>) -> Problem {
    let Unresolved { makes, extracted } = unresolved;
    if makes.is_empty() {
        return Problem::not_found("vehicle_not_found", "No vehicle of the catalog was recognised in `query`.").advise(
            "",
            "search_vehicles with `q` finds makes and models by a part of their name, with `year` it lists the makes of a year.",
        );
    }
    let names: Vec<&str> = makes.iter().map(|make| make.name.as_str()).collect();
    let left = match extracted.unread.is_empty() {
        true => "Name a model".to_owned(),
        false => format!("`{}` is not one of its models", extracted.unread.join(" ")),
    };
    let detail = format!("Only a make was recognised: {}. {left}.", names.join(", "));
    let slug = makes.first().map_or("", |make| make.slug.as_str());
    let api = format!("GET /api/v1/vehicles?make={slug} lists them.");
    let tool = format!("search_vehicles with `make`: `{slug}` lists them.");
    let makes: Vec<CatalogMake> = makes.into_iter().map(|make: &Make| CatalogMake::from(make)).collect();
    let makes = serde_json::to_value(makes).unwrap_or_default();
    Problem::not_found("vehicle_not_found", detail).with("makes", makes).advise(api, tool)
}

fn shown(resolved: &Resolved<'_>) -> ResolvedPicture {
    let Extracted { year, colour, view, size, width_px, format, unread, .. } = &resolved.extracted;
    let params = ResolvedParams {
        make: resolved.make.slug.clone(),
        model: resolved.model.slug.clone(),
        year: resolved.year,
        view: view.unwrap_or_default().as_str(),
        color: colour.unwrap_or_default().as_str(),
        size: size.map(|size| size.as_str()),
        width: *width_px,
        format: format.map(|format| format.as_str()),
    };
    let image_path = image_path(&params, resolved.chosen_body);
    ResolvedPicture {
        params,
        display: DisplayNames { make_name: resolved.make.name.clone(), model_name: resolved.model.name.clone() },
        candidates: resolved.candidates.iter().map(candidate).collect(),
        confidence: resolved.confidence.as_str(),
        image_path,
        likeness: likeness(&resolved.vehicle).as_str(),
        extracted: ExtractedWords {
            year: *year,
            color: colour.map(|colour| colour.as_str()),
            view: view.map(|view| view.as_str()),
            size: size.map(|size| size.as_str()),
            width: *width_px,
            format: format.map(|format| format.as_str()),
            unread: unread.clone(),
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

fn image_path(params: &ResolvedParams, body: Option<BodyClass>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("make", &params.make).append_pair("model", &params.model);
    query.append_pair("year", &params.year.to_string());
    if let Some(body) = body {
        query.append_pair("body", body.as_str());
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
