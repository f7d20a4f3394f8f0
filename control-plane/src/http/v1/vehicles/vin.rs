//! `GET /api/v1/vehicles/vin/{vin}`: decodes an identification number. Public, free, limited by
//! client network. A number is neither logged nor kept.

use crate::app::App;
use crate::catalog::vin;
use crate::delivery::request::YEARS;
use crate::http::answers::decoded_vin::{DecodedVin, VinResponse, decode};
use crate::http::error::Problem;
use crate::http::request_id::RequestId;
use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use url::form_urlencoded;

/// Decode an identification number
///
/// Returns make, model, year and body of a vehicle identification number (VIN), and the catalog's
/// id of the vehicle. The beginning of a VIN is enough: at least 11 characters, or 8 with `year`.
/// For vehicles that were not made for the United States it is mostly only the make, and the year
/// if the maker encodes it; `coverage` says so. For a VIN with a wrong check digit the response is
/// 422, with `suggestion` if one correction is likely. Public and free. The VIN is neither logged
/// nor stored, but it is a part of the URL, which your own proxy may log: prefer `POST
/// /api/v1/images/resolve` or `POST /api/v1/vehicles/check`.
#[utoipa::path(
    get, path = "/api/v1/vehicles/vin/{vin}", tag = "Catalog", operation_id = "decodeVin",
    security(()),
    params(
        ("vin" = String, Path, description = "The VIN, or its beginning."),
        ("year" = Option<u16>, Query, minimum = 1981, maximum = 2027, description = "The model year, if it is known."),
    ),
    responses(
        (status = 200, description = "The decoded VIN.", body = VinResponse),
        (status = 400, description = "The text is not a vehicle identification number."),
        (status = 404, description = "The first characters belong to no known maker."),
        (status = 422, description = "A character is wrong; `suggestion` is the likely VIN, if there is one."),
        (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn get(
    State(app): State<App>,
    request_id: RequestId,
    Path(number): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let hint = year_hint(query.as_deref().unwrap_or_default())?;
    let decoded = decode(&app, &number, hint)?;
    let found = vin::in_catalog(&app.catalog.now(), &decoded);
    let data = DecodedVin::new(decoded, found.as_ref());
    Ok(([(CACHE_CONTROL, "private, no-store")], Json(VinResponse { data, request_id: request_id.0 })).into_response())
}

fn year_hint(query: &str) -> Result<Option<u16>, Problem> {
    let mut hint = None;
    for (key, value) in form_urlencoded::parse(query.as_bytes()) {
        if key != "year" {
            let shown: String = key.chars().take(40).collect();
            return Err(Problem::bad_parameter(
                &shown,
                format!("`{shown}` is not a parameter of this endpoint, which takes year."),
            ));
        }
        let year = value.parse::<u16>().ok().filter(|year| (1981..=*YEARS.end()).contains(year));
        let wrong =
            || Problem::bad_parameter("year", format!("`year` must be a whole number from 1981 to {}.", YEARS.end()));
        if hint.replace(year.ok_or_else(wrong)?).is_some() {
            return Err(Problem::bad_parameter("year", "`year` is given more than once."));
        }
    }
    Ok(hint)
}
