//! `POST /api/v1/billing/portal`: the page on which a person sees the purchases.

use crate::accounts::Scope;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::http::answers::payment_page::portal;
use crate::http::key_window::counted;
use crate::http::request_id::RequestId;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub struct Portal {
    #[schema(format = Uri)]
    url: String,
}

#[derive(Serialize, ToSchema)]
pub struct PortalResponse {
    data: Portal,
    request_id: String,
}

/// Open the customer portal
///
/// Returns the URL of the page with payments and receipts, for a person who signs in.
#[utoipa::path(
    post, path = "/api/v1/billing/portal", tag = "Account", operation_id = "createPortal",
    security(("bearer" = ["billing:write"]), ("apiKey" = ["billing:write"])),
    responses(
        (status = 201, description = "The URL of the portal.", body = PortalResponse),
        (status = 400, description = "The account has not bought anything yet (`no_purchase`)."),
        (status = 401), (status = 403), (status = 429), (status = 500),
        (status = 502, description = "The payment provider refused."),
        (status = 503),
    )
)]
pub async fn post(State(app): State<App>, caller: Caller, id: RequestId) -> Response {
    counted(&app, &caller, async {
        caller.require(Scope::BillingWrite)?;
        let data = Portal { url: portal(&app, &caller.account_id).await? };
        let answer = PortalResponse { data, request_id: id.0 };
        Ok((StatusCode::CREATED, [(CACHE_CONTROL, "private, no-store")], Json(answer)).into_response())
    })
    .await
}
