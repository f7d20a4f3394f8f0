//! `GET /api/v1/vehicles`: the catalog, browsed by year, make and
//! model, or searched. Public and free.

use crate::app::App;
use crate::http::answers::vehicle_list::{VehiclesResponse, list};
use crate::http::answers::vehicles_query::VehiclesQuery;
use crate::http::error::Problem;
use crate::http::request_id::RequestId;
use crate::http::v1::cacheable::{self, DAY};
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;

/// Browse or search the catalog
///
/// The parameters choose the list. Without any: the model years. `year`: the makes of that year.
/// `year` and `makeId`: the models of that make and year. `make`, with `year` if you like: the
/// models of that make. `make` and `model`: the years, bodies and generations of that model. `q`,
/// with `make`, `year` and `limit` if you like: the makes and models that fit a search text. Public
/// and free; cacheable for a day.
#[utoipa::path(
    get, path = "/api/v1/vehicles", tag = "Catalog", operation_id = "getVehicles",
    security(()),
    params(VehiclesQuery, ("If-None-Match" = Option<String>, Header, description = "`ETag`s of answers that the \
                                                                                    client has.")),
    responses(
        (status = 200, description = "The list.", body = VehiclesResponse,
         headers(
            ("ETag" = String, description = "It changes with the list."),
            ("Cache-Control" = String, description = "`public`, for a day."),
         )),
        (status = 304, description = "The client already has this answer."),
        (status = 400), (status = 404), (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn get(
    State(app): State<App>,
    request_id: RequestId,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let data = list(&app.catalog.now(), VehiclesQuery::read(query.as_deref())?)?;
    Ok(cacheable::answer(data, DAY, &request_id, &headers))
}
