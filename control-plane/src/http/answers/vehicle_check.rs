//! Checks which vehicles of a list are in the catalog.

use super::decoded_vin::{DecodedVin, latest_year};
use super::vehicle::{StoredView, stored_views};
use crate::app::App;
use crate::catalog::resolve::{self, Confidence};
use crate::catalog::vin::{self, Decoders};
use crate::catalog::{AskedName, AskedVehicle, AskedYear, Catalog, Found, Missing, NotFound};
use crate::delivery::request::{NAME_CHARS_MAX, body, vehicle_id, year};
use crate::http::error::Problem;
use crate::http::json;
use crate::http::openapi::requests;
use crate::http::openapi::requests::QUERY_CHARS_MAX;
use cyclorama_core::{BodyClass, named_enum};
use cyclorama_drawings::likeness;
use cyclorama_vin::VinParts;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Maximum number of rows of one request.
pub const ROWS_MAX: usize = 100;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VehicleCheckBody {
    vehicles: Vec<Value>,
}

/// A row: names with a year, an id with a year, a vehicle identification number (VIN), or free
/// text. The first of `vehicle`, names with a year, `vin` and `query` is used. `vehicle` together
/// with `make` or `model` is invalid.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckRow {
    /// Name or slug.
    #[schema(max_length = 120)]
    make: Option<String>,
    #[schema(max_length = 120)]
    model: Option<String>,
    /// A model year, or `latest`.
    #[schema(value_type = Option<Value>)]
    year: Option<Value>,
    #[schema(max_length = 30)]
    body: Option<String>,
    /// A vehicle identification number (VIN), or the beginning of one. It is neither logged nor
    /// stored.
    #[schema(max_length = 40)]
    vin: Option<String>,
    /// A permanent id.
    #[schema(max_length = 40)]
    vehicle: Option<String>,
    /// The vehicle in any words.
    #[schema(max_length = 200)]
    query: Option<String>,
}

/// Characters of a VIN as people copy it, which may be one too few or too many.
const VIN_LENGTHS: std::ops::RangeInclusive<usize> = 16..=18;

impl CheckRow {
    /// Reads a line as a person types it: a VIN, with the model year behind it where it is known,
    /// or the vehicle in any words.
    pub fn of_line(line: &str) -> Self {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_year = |word: &str| word.len() == 4 && word.bytes().all(|digit| digit.is_ascii_digit());
        match words[..] {
            [vin] if is_like_vin(vin) => CheckRow { vin: Some(vin.to_owned()), ..CheckRow::default() },
            [vin, year] if is_like_vin(vin) && is_year(year) => {
                CheckRow { vin: Some(vin.to_owned()), year: Some(year.into()), ..CheckRow::default() }
            }
            _ => CheckRow { query: Some(line.to_owned()), ..CheckRow::default() },
        }
    }
}

/// Returns true for a word that is built like a VIN: letters and digits, a number at its end, and a
/// digit long before it, which words that were typed without a space do not have.
fn is_like_vin(word: &str) -> bool {
    let digits = |part: &[u8]| part.iter().filter(|byte| byte.is_ascii_digit()).count();
    VIN_LENGTHS.contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && digits(&word.as_bytes()[..11]) >= 1
        && digits(&word.as_bytes()[word.len() - 4..]) == 4
}

named_enum! {
    /// The result of checking a row against the catalog.
    pub enum CheckStatus {
        /// The catalog has exactly this vehicle.
        Match = "match",
        /// The catalog does not have this vehicle. The response has
        /// the nearest one, and the reason.
        Suggestion = "suggestion",
        /// The catalog has nothing near.
        Miss = "miss",
        /// The row does not say enough, or contradicts itself.
        Invalid = "invalid",
    }
}

/// The result for a row.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct CheckedVehicle {
    /// The row's place in the request, from 0.
    index: usize,
    #[schema(pattern = "^(match|suggestion|miss|invalid)$")]
    pub status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = requests::vehicle_id)]
    pub vehicle_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub make: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = requests::body)]
    pub body: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = requests::likeness)]
    likeness: Option<&'static str>,
    /// The reason why the row is not a match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Views and preset paints whose images are stored and are delivered at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<Vec<StoredView>>,
    /// For a row with `vin`: the decoded VIN, with the confidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    decoded: Option<DecodedVin>,
    /// For a row whose `vin` has a wrong character: the VIN that was probably meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vin_suggestion: Option<String>,
}

/// The results for the rows, in their order.
#[derive(Debug, Serialize, ToSchema)]
pub struct CheckedVehicles {
    vehicles: Vec<CheckedVehicle>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CheckResponse {
    data: CheckedVehicles,
    request_id: String,
}

/// Checks the rows in the members of a body.
pub async fn answer(app: &App, members: Map<String, Value>, request_id: String) -> Result<CheckResponse, Problem> {
    let vehicles = check(app, &read_rows(members)?).await?;
    Ok(CheckResponse { data: CheckedVehicles { vehicles }, request_id })
}

/// Checks at most [`ROWS_MAX`] rows.
pub async fn check(app: &App, rows: &[CheckRow]) -> Result<Vec<CheckedVehicle>, Problem> {
    let verdicts: Vec<RowResult> = {
        let catalog = app.catalog.now();
        let checker = Checker { catalog: &catalog, decoders: &app.vins, latest: latest_year(app) };
        rows.iter().map(|row| checker.check(row)).collect()
    };
    let mut vehicles = Vec::with_capacity(verdicts.len());
    for (index, verdict) in verdicts.into_iter().enumerate() {
        vehicles.push(shown(app, index, verdict).await?);
    }
    Ok(vehicles)
}

fn read_rows(members: Map<String, Value>) -> Result<Vec<CheckRow>, Problem> {
    let body: VehicleCheckBody = json::fit(members, "")?;
    let count = body.vehicles.len();
    if count == 0 || count > ROWS_MAX {
        let detail = format!("`vehicles` must have 1 to {ROWS_MAX} rows, not {count}.");
        return Err(Problem::bad_parameter("vehicles", detail));
    }
    // A row that cannot be read does not fail the request: its own result is `invalid`.
    Ok(body.vehicles.into_iter().map(|row| serde_json::from_value(row).unwrap_or_default()).collect())
}

/// The result for a row, before its stored images are looked up.
enum RowOutcome {
    Match(Found),
    Suggestion(Found, String),
    Miss(String),
    Invalid(String),
}

/// The result for a row, with the parts that were decoded from its number.
struct RowResult {
    outcome: RowOutcome,
    decoded: Option<DecodedVin>,
    vin_suggestion: Option<String>,
}

impl From<RowOutcome> for RowResult {
    fn from(outcome: RowOutcome) -> Self {
        RowResult { outcome, decoded: None, vin_suggestion: None }
    }
}

struct Checker<'a> {
    catalog: &'a Catalog,
    decoders: &'a Decoders,
    /// The last possible model year.
    latest: u16,
}

impl Checker<'_> {
    fn check(&self, row: &CheckRow) -> RowResult {
        self.read(row).unwrap_or_else(|reason| RowOutcome::Invalid(reason).into())
    }

    /// Checks a row. The error is the reason why the row says too little.
    fn read(&self, row: &CheckRow) -> Result<RowResult, String> {
        let year = row.year.as_ref().filter(|year| !year.is_null()).map(year_of).transpose()?;
        let body = row.body.as_deref().map(body).transpose().map_err(|wrong| wrong.detail)?;
        if let Some(id) = &row.vehicle {
            if row.make.is_some() || row.model.is_some() {
                return Err("`vehicle` cannot be used with `make` or `model`".to_owned());
            }
            let name = AskedName::Id(vehicle_id(id).map_err(|wrong| wrong.detail)?);
            let year = year.ok_or("`year` is required with `vehicle`: a model year, or `latest`")?;
            return Ok(self.outcome(&AskedVehicle { name, year, body }).into());
        }
        // Names without a year are ignored if there is a number, which contains the year as well.
        if let (Some(make), Some(model)) = (&row.make, &row.model)
            && (year.is_some() || row.vin.is_none())
        {
            for (key, name) in [("make", make), ("model", model)] {
                if name.trim().is_empty() || name.chars().count() > NAME_CHARS_MAX {
                    return Err(format!("`{key}` must have 1 to {NAME_CHARS_MAX} characters"));
                }
            }
            let name = AskedName::Names { make: make.clone(), model: model.clone() };
            let year = year.ok_or("`year` is required with `make` and `model`: a model year, or `latest`")?;
            return Ok(self.outcome(&AskedVehicle { name, year, body }).into());
        }
        if let Some(vin) = &row.vin {
            return Ok(self.of_vin(vin, year.and_then(AskedYear::number), body));
        }
        match &row.query {
            Some(text) if !text.trim().is_empty() && text.chars().count() <= QUERY_CHARS_MAX => {
                Ok(self.of_text(text, year, row.make.as_deref()).into())
            }
            Some(_) => Err(format!("`query` must have 1 to {QUERY_CHARS_MAX} characters")),
            None => Err("send `make`, `model` and `year`, or `vehicle` and `year`, `vin`, or `query`".to_owned()),
        }
    }

    fn outcome(&self, asked: &AskedVehicle) -> RowOutcome {
        match self.catalog.find_asked(asked) {
            Ok(found) => RowOutcome::Match(found),
            Err(missing) if missing.missing == Missing::BodyOfId => RowOutcome::Invalid(missing.detail),
            Err(missing) => self.nearest(asked, missing),
        }
    }

    /// Finds the nearest vehicle to a missing one: with its usual body, in its nearest year, or the
    /// first of the similar names.
    fn nearest(&self, asked: &AskedVehicle, missing: NotFound) -> RowOutcome {
        if missing.missing == Missing::Body {
            let usual = AskedVehicle { body: None, ..asked.clone() };
            if let Ok(found) = self.catalog.find_asked(&usual) {
                return RowOutcome::Suggestion(found, missing.detail);
            }
        }
        let near = missing.suggestions.iter().find_map(|one| {
            let model = one.model_slug.as_deref()?;
            let wanted = match asked.year {
                AskedYear::Year(year) => year,
                AskedYear::Latest => *one.years.last()?,
            };
            let year = *one.years.iter().min_by_key(|year| (year.abs_diff(wanted), std::cmp::Reverse(**year)))?;
            self.catalog.of_slugs(&one.make_slug, model, year)
        });
        match near {
            Some(found) => RowOutcome::Suggestion(found, missing.detail),
            None => RowOutcome::Miss(missing.detail),
        }
    }

    fn of_text(&self, text: &str, year: Option<AskedYear>, make: Option<&str>) -> RowOutcome {
        let year = year.and_then(AskedYear::number);
        let request = resolve::Request { query: text, year, make, model: None };
        let Ok(resolved) = resolve::resolve(self.catalog, &request) else {
            return RowOutcome::Miss("no vehicle of the catalog was recognised in `query`".to_owned());
        };
        let (make, model) = (&resolved.make.slug, &resolved.model.slug);
        let found = self.catalog.of_parts(make, model, resolved.chosen_body, resolved.year);
        let Some(found) = found else { return RowOutcome::Miss("the catalog has no such vehicle".to_owned()) };
        match resolved.confidence {
            Confidence::High if year.or(resolved.extracted.year).is_some() => RowOutcome::Match(found),
            Confidence::High => {
                RowOutcome::Suggestion(found, "`query` names no year: this vehicle is of the newest one".to_owned())
            }
            confidence => RowOutcome::Suggestion(found, format!("`query` was understood with {confidence} confidence")),
        }
    }

    fn of_vin(&self, number: &str, hint: Option<u16>, body: Option<BodyClass>) -> RowResult {
        let decoded = match self.decoders.decode(number, hint, self.latest) {
            Ok(decoded) => decoded,
            Err(error) => {
                let vin_suggestion = vin::suggestion(&error).map(str::to_owned);
                return RowResult { vin_suggestion, ..RowOutcome::Invalid(error.to_string()).into() };
            }
        };
        let found = vin::in_catalog(self.catalog, &decoded);
        let outcome = match (&found, body) {
            (Some(found), None) => RowOutcome::Match(found.clone()),
            _ => self.of_decoded(&decoded, body),
        };
        RowResult { outcome, decoded: Some(DecodedVin::new(decoded, found.as_ref())), vin_suggestion: None }
    }

    /// Looks a decoded vehicle up with the row's body in place of the decoded one. Results in a
    /// suggestion if the catalog lacks the vehicle.
    fn of_decoded(&self, decoded: &VinParts, body: Option<BodyClass>) -> RowOutcome {
        let Some((model, year)) = decoded.model.as_ref().zip(decoded.year) else {
            return RowOutcome::Miss(format!("the number names the make {} but no model or year", decoded.make));
        };
        self.outcome(&AskedVehicle { body, ..AskedVehicle::named(&decoded.make, model, year) })
    }
}

fn year_of(value: &Value) -> Result<AskedYear, String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(_) => {
            crate::delivery::request::whole(value).map_or_else(|| value.to_string(), |year| year.to_string())
        }
        _ => return Err("`year` must be a whole number or `latest`".to_owned()),
    };
    year(&text).map_err(|wrong| wrong.detail)
}

async fn shown(app: &App, index: usize, verdict: RowResult) -> Result<CheckedVehicle, Problem> {
    let RowResult { outcome, decoded, vin_suggestion } = verdict;
    let (status, found, reason) = match outcome {
        RowOutcome::Match(found) => (CheckStatus::Match, Some(found), None),
        RowOutcome::Suggestion(found, reason) => (CheckStatus::Suggestion, Some(found), Some(reason)),
        RowOutcome::Miss(reason) => (CheckStatus::Miss, None, Some(reason)),
        RowOutcome::Invalid(reason) => (CheckStatus::Invalid, None, Some(reason)),
    };
    let status = status.as_str();
    let row = CheckedVehicle { index, status, reason, decoded, vin_suggestion, ..CheckedVehicle::default() };
    let Some(found) = found else { return Ok(row) };
    let stored = stored_views(app, &found.vehicle).await?;
    Ok(CheckedVehicle {
        vehicle_id: Some(found.id().to_string()),
        year: Some(found.year),
        body: Some(found.vehicle.body.as_str()),
        likeness: Some(likeness(&found.vehicle).as_str()),
        stored: Some(stored),
        make: Some(found.make),
        model: Some(found.model),
        ..row
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_vins_or_words() {
        let read = |line| {
            let CheckRow { vin, year, query, .. } = CheckRow::of_line(line);
            (vin, year, query)
        };
        let text = |text: &str| Some(text.to_owned());
        for vin in ["WVWZZZ1KZAW123456", "wvwzzz1kzaw123456", "1HGCM82633A00435", "1HGCM82633A0043522"] {
            assert_eq!(read(vin), (text(vin), None, None), "{vin}");
        }
        let with_year = read("WVWZZZ1KZAW123456 2010");
        assert_eq!(with_year, (text("WVWZZZ1KZAW123456"), Some("2010".into()), None));
        for words in ["VW Golf 2018", "volkswagengolf2018", "mercedesbenzc2200", "2018", "", "WVWZZZ1KZAW123456 estate"]
        {
            assert_eq!(read(words), (None, None, text(words)), "{words}");
        }
    }
}
