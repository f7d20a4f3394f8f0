//! `POST /api/auth/device/token`: a device polls whether its login was approved. Failures have the
//! form of RFC 6749, not the form of problem documents.

use super::body::field;
use crate::accounts::Scope;
use crate::accounts::device_login::{self, PREFIX, PollOutcome};
use crate::accounts::token::PlainKey;
use crate::app::App;
use crate::http::body::read_any_body;
use crate::http::client_ip::ClientIp;
use crate::http::rate_limit::counted_by_address;
use crate::http::request_id::RequestId;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub const BODY_BYTES_MAX: usize = 4 * 1024;

#[derive(Debug, Deserialize, ToSchema)]
pub struct DeviceTokenRequest {
    #[allow(dead_code, reason = "only describes the body, which may also be a form")]
    device_code: String,
}

/// Grant type of a poll (RFC 8628, section 3.4). OAuth clients send it, and our clients leave it
/// out.
const GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:device_code";

#[derive(Serialize, ToSchema)]
pub struct DeviceTokenResponse {
    /// The API key. It is shown here and never again.
    access_token: String,
    #[schema(pattern = "^Bearer$")]
    token_type: &'static str,
    /// Scopes separated by spaces.
    #[schema(example = "images:read account:read billing:write")]
    scope: String,
}

/// The reason why there is no key yet, or why there never will be one.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeviceError {
    error: DeviceErrorCode,
    request_id: String,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceErrorCode {
    /// Nobody has decided yet. Keep polling.
    AuthorizationPending,
    /// The login has expired or was denied, or the key was handed over before. Start again.
    ExpiredToken,
    /// `device_code` is missing or is not a code of this service, or `grant_type` has another
    /// value.
    InvalidRequest,
    /// The poll came too soon. Wait `Retry-After` seconds.
    SlowDown,
}

/// Poll a device login
///
/// Poll every `interval` seconds. The key is returned exactly once. A client address may send 60
/// requests in a minute. `grant_type` may be left out; any value other than
/// `urn:ietf:params:oauth:grant-type:device_code` is answered with `invalid_request`.
///
/// The endpoint differs from RFC 8628 where its clients may notice: `slow_down` has status 429 and
/// `Retry-After` and does not lengthen the interval, and a login that was denied is answered with
/// `expired_token`, like every other login that cannot succeed any more.
#[utoipa::path(
    post, path = "/api/auth/device/token", tag = "Device login", operation_id = "pollDeviceLogin", security(()),
    request_body(
        description = "At most 4 KiB.",
        content((DeviceTokenRequest = "application/json"), (DeviceTokenRequest = "application/x-www-form-urlencoded"))
    ),
    responses(
        (status = 200, description = "The login was approved; this is the key.", body = DeviceTokenResponse),
        (status = 400, description = "`authorization_pending`, `expired_token` or `invalid_request`.", body = DeviceError),
        (status = 413),
        (status = 429, description = "`slow_down`: wait `Retry-After` seconds.", body = DeviceError),
        (status = 500), (status = 503),
    )
)]
pub async fn post(State(app): State<App>, ip: ClientIp, id: RequestId, request: Request) -> Response {
    let limit = app.config.limits.device_token_per_minute;
    let refuse = |status, error| {
        let body = DeviceError { error, request_id: id.0.clone() };
        (status, [(CACHE_CONTROL, "no-store")], Json(body)).into_response()
    };
    let response = counted_by_address(&app, ip, "device token", limit, async {
        let invalid = || refuse(StatusCode::BAD_REQUEST, DeviceErrorCode::InvalidRequest);
        let headers = request.headers().clone();
        let body = read_any_body(request, &app).await?;
        let grant_type = field(&headers, &body, "grant_type");
        if !grant_type.is_ok_and(|given| given.is_none_or(|given| given == GRANT_TYPE)) {
            return Ok(invalid());
        }
        let sent = field(&headers, &body, "device_code").ok().flatten();
        let Some(device_code) = sent.and_then(|sent| PlainKey::parse(PREFIX, &sent)) else { return Ok(invalid()) };
        Ok(match device_login::poll(&app.db, &device_code.hash(), app.clock.now()).await? {
            PollOutcome::Pending => refuse(StatusCode::BAD_REQUEST, DeviceErrorCode::AuthorizationPending),
            PollOutcome::Over => refuse(StatusCode::BAD_REQUEST, DeviceErrorCode::ExpiredToken),
            PollOutcome::TooSoon { retry_after_seconds } => {
                let response = refuse(StatusCode::TOO_MANY_REQUESTS, DeviceErrorCode::SlowDown);
                ([(RETRY_AFTER, retry_after_seconds.to_string())], response).into_response()
            }
            PollOutcome::Key { key, key_id, account_id, scopes } => {
                tracing::info!(account_id, key_id, "key created by device login");
                let answer = DeviceTokenResponse {
                    access_token: key.reveal().to_owned(),
                    token_type: "Bearer",
                    scope: Scope::print_list(&scopes),
                };
                ([(CACHE_CONTROL, "no-store")], Json(answer)).into_response()
            }
        })
    })
    .await;
    match response.extensions().get::<crate::http::error::Problem>() {
        // The client address is over its limit. The response has the form of this endpoint, and
        // keeps `Retry-After` and the rate limit headers.
        Some(problem) if problem.status() == StatusCode::TOO_MANY_REQUESTS => {
            let mut limited = refuse(StatusCode::TOO_MANY_REQUESTS, DeviceErrorCode::SlowDown);
            for (name, value) in response.headers() {
                limited.headers_mut().insert(name, value.clone());
            }
            limited
        }
        _ => response,
    }
}
