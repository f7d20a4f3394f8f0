//! `GET /api/v1/images/options`: all options of images, and their prices. Public and free.

use crate::app::App;
use crate::http::answers::image_options::{ImageOptionsResponse, options};
use crate::http::request_id::RequestId;
use crate::http::v1::cacheable::{self, HOUR};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

/// List the options
///
/// Returns views, colors and paints, sizes, framing, formats, prices, limits and numbers about the
/// catalog. Public and free; cacheable for an hour.
#[utoipa::path(
    get, path = "/api/v1/images/options", tag = "Catalog", operation_id = "getImageOptions",
    security(()),
    params(("If-None-Match" = Option<String>, Header, description = "`ETag`s of answers that the client has.")),
    responses(
        (status = 200, description = "The options.", body = ImageOptionsResponse,
         headers(
            ("ETag" = String, description = "It changes with the options."),
            ("Cache-Control" = String, description = "`public`, for an hour."),
         )),
        (status = 304, description = "The client already has this answer."),
        (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn get(State(app): State<App>, request_id: RequestId, headers: HeaderMap) -> Response {
    cacheable::answer(options(&app), HOUR, &request_id, &headers)
}
