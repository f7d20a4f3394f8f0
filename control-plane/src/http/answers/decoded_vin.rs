//! What an identification number says. A number is neither logged nor kept.

use crate::app::App;
use crate::catalog::{Found, vin};
use crate::http::error::Problem;
use crate::http::openapi::requests;
use axum::http::StatusCode;
use cyclorama_vin::{Confidence, Coverage, Decoded, VinError};
use serde::Serialize;
use utoipa::ToSchema;

/// What was read beside make, model, year and body.
#[derive(Debug, Serialize, ToSchema)]
struct DecodedParts {
    /// Names of the parts that were read: make, model, year, body, series, trim, plant_country.
    parts: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trim: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plant_country: Option<String>,
    /// The other year that the number may mean, thirty away, where nothing tells which.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_year: Option<u16>,
}

/// What a number says, and the vehicle of the catalog that it is.
#[derive(Debug, Serialize, ToSchema)]
pub struct DecodedVin {
    /// The slug of the catalog where the vehicle was found there, else as the tables write it.
    make: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    make_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    year: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = requests::body)]
    body: Option<&'static str>,
    /// Absent where the catalog does not have the vehicle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = requests::vehicle_id)]
    vehicle_id: Option<String>,
    #[schema(pattern = "^(high|medium|low)$")]
    confidence: &'static str,
    /// `full`, or `make-and-year` where the tables have no more of this maker.
    #[schema(pattern = "^(full|make-and-year)$")]
    coverage: &'static str,
    decoded: DecodedParts,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct VinResponse {
    pub data: DecodedVin,
    pub request_id: String,
}

/// What a number says, or the problem that whoever sent it is told.
pub fn decode(app: &App, number: &str, hint: Option<u16>) -> Result<Decoded, Problem> {
    app.vins.decode(number, hint, latest_year(app)).map_err(refusal)
}

/// The last model year that can be: next year's.
pub fn latest_year(app: &App) -> u16 {
    app.clock.now().utc_year().saturating_add(1)
}

pub fn confidence(decoded: &Decoded) -> &'static str {
    match decoded.confidence {
        Confidence::High => "high",
        Confidence::Medium => "medium",
        Confidence::Low => "low",
    }
}

impl DecodedVin {
    /// `found`: the vehicle of the catalog that it is.
    pub fn new(decoded: Decoded, found: Option<&Found>) -> Self {
        let (parts, confidence) = (decoded.parts(), confidence(&decoded));
        let coverage = match decoded.coverage {
            Coverage::Scheme => "full",
            Coverage::MakeAndYear => "make-and-year",
        };
        let Decoded { make, model, year, body, other_year, series, trim, plant_country, .. } = decoded;
        DecodedVin {
            body: found.map(|found| found.vehicle.body.as_str()).or(body),
            make_name: found.map_or_else(|| make.clone(), |found| found.make_name.clone()),
            model_name: found.map(|found| found.model_name.clone()).or_else(|| model.clone()),
            make: found.map_or(make, |found| found.make.clone()),
            model: found.map(|found| found.model.clone()).or(model),
            year,
            vehicle_id: found.map(|found| found.id().to_string()),
            confidence,
            coverage,
            decoded: DecodedParts { parts, series, trim, plant_country, other_year },
        }
    }
}

fn refusal(error: VinError) -> Problem {
    let detail = format!("{error}.");
    match error {
        VinError::CheckDigit { .. } | VinError::Letter { .. } => {
            let problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "wrong_vin", detail);
            match vin::suggestion(&error) {
                Some(suggestion) => problem.with("suggestion", suggestion),
                None => problem,
            }
        }
        VinError::UnknownMaker { .. } | VinError::SeveralMakes { .. } => Problem::not_found("unknown_vin", detail),
        VinError::TooShort { .. } | VinError::TooLong { .. } | VinError::Character { .. } => {
            Problem::bad_parameter("vin", detail)
        }
        VinError::Data { .. } => Problem::internal(),
    }
}
