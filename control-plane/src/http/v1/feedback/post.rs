//! `POST /api/v1/feedback`: a client rates an image. Free.

use crate::accounts::Scope;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::http::answers::feedback::{FeedbackResponse, record};
use crate::http::body::read_any_body;
use crate::http::json;
use crate::http::key_window::counted;
use crate::http::openapi::requests::FeedbackRequest;
use crate::http::request_id::RequestId;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

pub const BODY_BYTES_MAX: usize = 8 * 1024;

/// Rate an image
///
/// The image is named by the id of the request that delivered it (or made its URL), or by make,
/// model and year. A later report of the same account replaces its earlier one. Free.
#[utoipa::path(
    post, path = "/api/v1/feedback", tag = "Feedback", operation_id = "rateImage",
    security(("bearer" = ["account:read"]), ("apiKey" = ["account:read"])),
    request_body(content = FeedbackRequest, content_type = "application/json", description = "At most 8 KiB."),
    responses(
        (status = 201, description = "The report was stored.", body = FeedbackResponse),
        (status = 400), (status = 401), (status = 403),
        (status = 404, description = "The request is unknown, the catalog does not have the vehicle, or the image is \
                                      not rendered."),
        (status = 413), (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn post(State(app): State<App>, caller: Caller, request_id: RequestId, request: Request) -> Response {
    counted(&app, &caller, async {
        caller.require(Scope::AccountRead)?;
        let members = json::members(&read_any_body(request, &app).await?, &[])?;
        let answer = record(&app, &caller, members, request_id.0).await?;
        Ok((StatusCode::CREATED, Json(answer)).into_response())
    })
    .await
}
