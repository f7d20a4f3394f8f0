//! Decodes vehicle identification numbers for responses. A number is neither logged nor kept.

use crate::app::App;
use crate::catalog::{Found, vin};
use crate::http::error::Problem;
use crate::http::openapi::requests;
use axum::http::StatusCode;
use cyclorama_vin::{Confidence, Coverage, VinError, VinParts};
use serde::Serialize;
use utoipa::ToSchema;

/// Parts that were decoded beside make, model, year and body.
#[derive(Debug, Serialize, ToSchema)]
struct DecodedParts {
    /// Names of the decoded parts: make, model, year, body, series, trim, plant_country.
    parts: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trim: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plant_country: Option<String>,
    /// The other possible model year, thirty years away, if the VIN does not decide between the
    /// two.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_year: Option<u16>,
}

/// The content of a vehicle identification number (VIN), and the vehicle of the catalog that it
/// stands for.
#[derive(Debug, Serialize, ToSchema)]
pub struct DecodedVin {
    /// The slug of the catalog if the vehicle was found there, otherwise the name in the VIN
    /// tables.
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
    /// Absent if the catalog does not have the vehicle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = requests::vehicle_id)]
    vehicle_id: Option<String>,
    #[schema(pattern = "^(high|medium|low)$")]
    confidence: &'static str,
    /// `full`, or `make-and-year` if the tables have no more of this maker: then mostly only the
    /// make is known, and the year if the maker encodes it.
    #[schema(pattern = "^(full|make-and-year)$")]
    coverage: &'static str,
    decoded: DecodedParts,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct VinResponse {
    pub data: DecodedVin,
    pub request_id: String,
}

/// Decodes `number`; `hint` is the model year if the client knows it. Returns 400 for a text that
/// is no such number, 422 for one with a wrong character, and 404 for an unknown maker.
pub fn decode(app: &App, number: &str, hint: Option<u16>) -> Result<VinParts, Problem> {
    app.vins.decode(number, hint, latest_year(app)).map_err(refusal)
}

/// Returns the last possible model year, which is the year after the present one.
pub fn latest_year(app: &App) -> u16 {
    app.clock.now().utc_year().saturating_add(1)
}

pub fn confidence(decoded: &VinParts) -> &'static str {
    match decoded.confidence {
        Confidence::High => "high",
        Confidence::Medium => "medium",
        Confidence::Low => "low",
    }
}

impl DecodedVin {
    /// `found` is the vehicle of the catalog that the number stands for.
    pub fn new(decoded: VinParts, found: Option<&Found>) -> Self {
        let (parts, confidence) = (decoded.parts(), confidence(&decoded));
        let coverage = match decoded.coverage {
            Coverage::Scheme => "full",
            Coverage::MakeAndYear => "make-and-year",
        };
        let VinParts { make, model, year, body, other_year, series, trim, plant_country, .. } = decoded;
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
