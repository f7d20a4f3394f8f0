//! `GET /api/v1/account`: balance, prices, the last thirty days and the
//! key that made the request. Free.

use crate::accounts::Scope;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::http::answers::account::{AccountResponse, answer};
use crate::http::key_window::counted;
use crate::http::request_id::RequestId;
use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};

/// Get the account
///
/// Returns the balance, the prices, the usage of the last thirty days, and the
/// key that made the request. Free.
#[utoipa::path(
    get, path = "/api/v1/account", tag = "Account", operation_id = "getAccount",
    security(("bearer" = ["account:read"]), ("apiKey" = ["account:read"])),
    responses(
        (status = 200, description = "The account.", body = AccountResponse),
        (status = 401), (status = 403), (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn get(State(app): State<App>, caller: Caller, request_id: RequestId) -> Response {
    counted(&app, &caller, async {
        caller.require(Scope::AccountRead)?;
        let answer = answer(&app, &caller, request_id.0).await?;
        Ok(([(CACHE_CONTROL, "private, no-store")], Json(answer)).into_response())
    })
    .await
}
