//! `GET /api/v1/images/options`: everything that can be asked for, and what it costs. Public and free.

use crate::app::App;
use crate::http::answers::image_options::{ImageOptionsResponse, options};
use crate::http::request_id::RequestId;
use crate::http::v1::cacheable::{self, HOUR};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

/// List the options
///
/// Views, colors and paints, sizes, frames, formats, prices, limits and the catalog's figures. Public and free; cacheable for an hour.
#[utoipa::path(
    get, path = "/api/v1/images/options", tag = "Catalog", operation_id = "getImageOptions",
    security(()),
    params(("If-None-Match" = Option<String>, Header, description = "Validators of answers at hand.")),
    responses(
        (status = 200, description = "The options.", body = ImageOptionsResponse,
         headers(("ETag" = String, description = "Changes with the options."), ("Cache-Control" = String, description = "`public`, an hour."))),
        (status = 304, description = "The client has this answer."),
        (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn get(State(app): State<App>, request_id: RequestId, headers: HeaderMap) -> Response {
    cacheable::answer(options(&app), HOUR, &request_id, &headers)
}
