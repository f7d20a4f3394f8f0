//! `GET /api/v1/account/statement`: every entry of the account, as JSON or CSV. Free. The operator
//! reads the same pages.

use crate::accounts::Scope;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::http::answers::statement::{StatementQuery, StatementResponse, page};
use crate::http::key_window::counted;
use crate::http::request_id::RequestId;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;

/// Get the statement
///
/// Returns every charge and every credit with its reason, oldest first, as JSON or CSV. Credits
/// that are on hold for an image are entered when the image is delivered. Free.
#[utoipa::path(
    get, path = "/api/v1/account/statement", tag = "Account", operation_id = "getStatement",
    security(("bearer" = ["account:read"]), ("apiKey" = ["account:read"])),
    params(StatementQuery),
    responses(
        (status = 200, description = "A page of the statement.", content((StatementResponse = "application/json"), (String = "text/csv")),
         headers(("X-Next-After" = Option<String>, description = "The value of `after` for the next page."))),
        (status = 400), (status = 401), (status = 403), (status = 404, description = "The account has no such entry."),
        (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn get(
    State(app): State<App>,
    caller: Caller,
    request_id: RequestId,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    counted(&app, &caller, async {
        caller.require(Scope::AccountRead)?;
        let asked = StatementQuery::read(query.as_deref(), &headers)?;
        page(&app, &caller.account_id, asked, request_id).await
    })
    .await
}
