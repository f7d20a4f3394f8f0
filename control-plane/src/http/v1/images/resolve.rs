//! `POST /api/v1/images/resolve`: words, or an identification number, to the parameters of one picture. Free. A number is neither logged
//! nor kept.

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
/// Free text to the exact parameters of one picture: year, body, color, view, size and format are read out of it, the
/// rest is looked up in the catalog. The same words always come to the same. `confidence` is `high` when every word
/// is accounted for, the names are written out and one vehicle fits; `medium` when there is a typing mistake, a
/// beginning of a name, a trim, a year the model was not built in, a word for a kind of thing without a make
/// (`tractor`), or another vehicle that fits as well; `low` when words are left over or only a piece of a name was
/// there. `vin` in the place of `query` is a vehicle identification number or its beginning, with its `year` where
/// that is known: the parameters are those of the vehicle that it says, and the number is neither logged nor kept.
/// Free.
#[utoipa::path(
    post, path = "/api/v1/images/resolve", tag = "Catalog", operation_id = "resolveImage",
    security(("bearer" = ["account:read"]), ("apiKey" = ["account:read"])),
    request_body(content = ResolveRequest, content_type = "application/json", description = "At most 4 KiB."),
    responses(
        (status = 200, description = "The picture that is meant.", body = ResolveResponse),
        (status = 400), (status = 401), (status = 403),
        (status = 404, description = "No vehicle was recognised; `makes` names the makes that were."),
        (status = 413),
        (status = 422, description = "A character of `vin` is wrong; `suggestion` has the likely number where there is one."),
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
