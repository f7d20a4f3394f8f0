//! `POST /api/v1/vehicles/check`: checks if the vehicles of a list are in the catalog. Free. A
//! missing vehicle is never replaced silently.

use crate::accounts::Scope;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::http::answers::vehicle_check::{CheckResponse, answer};
use crate::http::body::read_any_body;
use crate::http::json;
use crate::http::key_window::counted;
use crate::http::openapi::requests;
use crate::http::request_id::RequestId;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};

pub const BODY_BYTES_MAX: usize = 64 * 1024;

/// Check a list of vehicles
///
/// Takes one to a hundred rows: make, model and year (and `body`), a permanent id and a year, a
/// vehicle identification number (VIN), or free text. Each is a `match`, a `suggestion`, a `miss`,
/// or `invalid`. Only a `match` is the vehicle of the row. A `suggestion` names another vehicle and
/// the reason: show it to a person. Free.
#[utoipa::path(
    post, path = "/api/v1/vehicles/check", tag = "Catalog", operation_id = "checkVehicles",
    security(("bearer" = ["account:read"]), ("apiKey" = ["account:read"])),
    request_body(content = requests::CheckRequest, content_type = "application/json", description = "At most 64 KiB."),
    responses(
        (status = 200, description = "The result for each row.", body = CheckResponse),
        (status = 400), (status = 401), (status = 403), (status = 413), (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn post(State(app): State<App>, caller: Caller, request_id: RequestId, request: Request) -> Response {
    counted(&app, &caller, async {
        caller.require(Scope::AccountRead)?;
        let members = json::members(&read_any_body(request, &app).await?, &[])?;
        let answer = answer(&app, members, request_id.0).await?;
        Ok(([(CACHE_CONTROL, "private, no-store")], Json(answer)).into_response())
    })
    .await
}
