//! `GET /api/v1/vehicles/{id}`: one vehicle by its permanent id. Public and free.

use crate::app::App;
use crate::delivery::request::vehicle_id;
use crate::http::answers::vehicle::{VehicleResponse, answer};
use crate::http::error::Problem;
use crate::http::request_id::RequestId;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};

/// The response is cached for a minute only, because the list of stored
/// images changes with every render.
const CACHED_FOR: &str = "public, max-age=60";

/// Get a vehicle by its id
///
/// Returns names, years, bodies, generations and likeness of a vehicle, and which views and preset
/// colors of its newest year are stored and delivered at once. An id stands for make, model and
/// body, never for a year, and stays the same in every release. Public and free.
#[utoipa::path(
    get, path = "/api/v1/vehicles/{id}", tag = "Catalog", operation_id = "getVehicle",
    security(()),
    params(("id" = String, Path, pattern = "^cyv_[0-9a-hjkmnp-tv-z]{13}$", description = "`cyv_` and thirteen letters \
                                                                                          and digits.")),
    responses(
        (status = 200, description = "The vehicle.", body = VehicleResponse),
        (status = 400), (status = 404), (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn get(State(app): State<App>, request_id: RequestId, Path(id): Path<String>) -> Result<Response, Problem> {
    let id =
        vehicle_id(&id).map_err(|wrong| Problem::bad_parameter("id", wrong.detail.replace("`vehicle`", "`id`")))?;
    let answer = answer(&app, id, request_id.0).await?;
    Ok(([(CACHE_CONTROL, CACHED_FOR)], Json(answer)).into_response())
}
