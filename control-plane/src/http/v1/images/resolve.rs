//! `POST /api/v1/images/resolve`: resolves words, or an identification number, to the parameters of
//! one image. Free. A number is neither logged nor kept.

use crate::accounts::Scope;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::http::answers::resolution::{ResolveResponse, answer};
use crate::http::body::read_any_body;
use crate::http::json;
use crate::http::key_window::counted;
use crate::http::openapi::requests::ResolveRequest;
use crate::http::request_id::RequestId;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};

pub const BODY_BYTES_MAX: usize = 4 * 1024;

/// Resolve a description
///
/// Turns free text into the exact parameters of one image: year, body, color, view, size and format
/// are read from the text, the rest is looked up in the catalog. The same words always give the
/// same result. `confidence` is `high` if every word is accounted for, the names are written out
/// and one vehicle fits. It is `medium` for a typing mistake, the beginning of a name, a trim, a
/// year in which the model was not built, a word for a kind of vehicle without a make (`tractor`),
/// or if another vehicle fits as well. It is `low` if words are left over or only a part of a name
/// was given. `vin` in place of `query` is a vehicle identification number (VIN) or its beginning,
/// with its `year` if that is known: the parameters are those of the decoded vehicle. If the
/// catalog lacks the decoded body, they are those of the model's usual body: compare
/// `extracted.body` with `params.body`. The VIN is neither logged nor stored. Free.
#[utoipa::path(
    post, path = "/api/v1/images/resolve", tag = "Catalog", operation_id = "resolveImage",
    security(("bearer" = ["account:read"]), ("apiKey" = ["account:read"])),
    request_body(content = ResolveRequest, content_type = "application/json", description = "At most 4 KiB."),
    responses(
        (status = 200, description = "The image that is meant.", body = ResolveResponse),
        (status = 400), (status = 401), (status = 403),
        (status = 404, description = "No vehicle was recognised; `makes` lists the makes that were."),
        (status = 413),
        (status = 422, description = "A character of `vin` is wrong; `suggestion` is the likely VIN, if there is \
                                      one."),
        (status = 429), (status = 500), (status = 503),
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
