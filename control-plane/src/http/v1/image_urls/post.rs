//! `POST /api/v1/image-urls`: makes signed URLs for one image or up to
//! fifty, with one debit for the call.

use crate::accounts::Scope;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::http::answers::image_urls::{ImageUrlsOutcome, ImageUrlsResponse, make, understand};
use crate::http::body::read_any_body;
use crate::http::error::Problem;
use crate::http::json;
use crate::http::key_window::refuse;
use crate::http::named_request::{REPLAYED, key_of};
use crate::http::openapi::requests::ImageUrlsRequest;
use crate::http::request_id::RequestId;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

pub const BODY_BYTES_MAX: usize = 64 * 1024;

/// Create signed URLs
///
/// Creates signed URLs for one image, or for up to fifty. They contain no key, so they are safe in
/// pages and emails. Each costs one credit, charged by this call in one debit, and is free to load
/// until it expires. An image is rendered when its URL is first loaded. All images are checked
/// before anything is charged; if one of a batch is wrong, none is charged, and `index` says which.
/// A URL whose first load fails is closed and its credit given back: create another one with a new
/// `Idempotency-Key`.
#[utoipa::path(
    post, path = "/api/v1/image-urls", tag = "Images", operation_id = "createImageUrls",
    security(("bearer" = ["images:read"]), ("apiKey" = ["images:read"])),
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]([ -~]*[!-~])?$",
            description = "A key for this request. The same request with the same key within 24 hours gets the same \
                           answer, free. Two requests are the same if they mean the same, however they are \
                           written.")),
    request_body(content = ImageUrlsRequest, content_type = "application/json",
                 description = "One image, or a batch with its terms. At most 64 KiB."),
    responses(
        (status = 201, description = "The signed URLs.", body = ImageUrlsResponse,
         headers(("Idempotent-Replayed" = Option<String>, description = "`true` if this repeats an earlier answer."))),
        (status = 400), (status = 401), (status = 402), (status = 403), (status = 404),
        (status = 409, description = "A request with this `Idempotency-Key` is in progress."),
        (status = 413),
        (status = 422, description = "The `Idempotency-Key` was used for another request."),
        (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn post(State(app): State<App>, caller: Caller, request_id: RequestId, request: Request) -> Response {
    let headers = request.headers().clone();
    let read = async {
        caller.require(Scope::ImagesRead)?;
        let body = read_any_body(request, &app).await?;
        Ok::<_, Problem>((json::value(&body)?, body))
    };
    let (parsed, body) = match read.await {
        Ok(read) => read,
        Err(refusal) => return refuse(&app, &caller, refusal).await,
    };
    let (understood, key) = match key_of(&headers) {
        Ok(key) => (understand(&app, &parsed), key),
        Err(bad) => (understand(&app, &parsed).and(Err(bad)), None),
    };
    match make(&app, &caller, request_id.0, understood, key.as_deref(), &body).await {
        Ok(ImageUrlsOutcome { answer, replayed: false }) => (StatusCode::CREATED, Json(answer)).into_response(),
        Ok(ImageUrlsOutcome { answer, replayed: true }) => {
            ([(REPLAYED, "true")], (StatusCode::CREATED, Json(answer))).into_response()
        }
        Err(problem) => problem.into_response(),
    }
}
