//! `POST /api/auth/device/code`: a device starts a login.

use super::body::field;
use crate::accounts::Scope;
use crate::accounts::device_login::{self, CLIENT_NAME_CHARS_MAX, INTERVAL_SECONDS, LIFETIME_SECONDS, SCOPES};
use crate::app::App;
use crate::http::body::read_any_body;
use crate::http::client_ip::ClientIp;
use crate::http::error::Problem;
use crate::http::json;
use crate::http::rate_limit::counted_by_address;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub const BODY_BYTES_MAX: usize = 4 * 1024;

/// Name of the key if the device gave none.
const NAMELESS: &str = "device login";

#[derive(Debug, Deserialize, ToSchema)]
pub struct DeviceCodeRequest {
    /// Name of the key that is made. The person who approves the login sees it. Control characters
    /// are left out.
    #[schema(max_length = 80, nullable = false, example = "Ada's laptop")]
    #[allow(dead_code, reason = "only describes the body, which may also be a form")]
    client_name: Option<String>,
    /// Scopes of the key, as names separated by spaces. A device that asks for fewer than all
    /// scopes gets a key that may do no more.
    #[schema(
        nullable = false,
        pattern = "^[ ,]*((images:read|account:read|billing:write)([ ,]+(images:read|account:read|billing:write))*[ ,]*)?$",
        example = "images:read account:read"
    )]
    #[allow(dead_code, reason = "only describes the body, which may also be a form")]
    scope: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct DeviceCodeResponse {
    /// Secret of the device, with which it polls.
    device_code: String,
    /// Code that the person types or compares.
    #[schema(pattern = "^[A-Z]{4}-[A-Z0-9]{4}$", example = "BDWP-HQPK")]
    user_code: String,
    /// URL of the page that the person opens.
    #[schema(format = Uri)]
    verification_uri: String,
    /// The same URL with the code filled in.
    #[schema(format = Uri)]
    verification_uri_complete: String,
    /// Seconds until the login expires.
    #[schema(minimum = 600, maximum = 600)]
    expires_in: i64,
    /// Seconds between two polls.
    #[schema(minimum = 3, maximum = 3)]
    interval: i64,
}

/// Start a device login
///
/// Show the person `verification_uri` and `user_code`, and poll `/api/auth/device/token` with
/// `device_code`. A client address may send 20 requests in a minute.
///
/// The members and the flow are those of RFC 8628. The status is 201, where the RFC has 200.
#[utoipa::path(
    post, path = "/api/auth/device/code", tag = "Device login", operation_id = "startDeviceLogin", security(()),
    request_body(
        description = "It may be left out. At most 4 KiB.",
        content((DeviceCodeRequest = "application/json"), (DeviceCodeRequest = "application/x-www-form-urlencoded"))
    ),
    responses(
        (status = 201, description = "The login waits for a person.", body = DeviceCodeResponse),
        (status = 400), (status = 413), (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn post(State(app): State<App>, ip: ClientIp, request: Request) -> Response {
    let limit = app.config.limits.device_code_per_minute;
    counted_by_address(&app, ip, "device code", limit, async {
        let headers = request.headers().clone();
        let body = read_any_body(request, &app).await?;
        let name = client_name(field(&headers, &body, "client_name")?)?;
        let scopes = scopes(field(&headers, &body, "scope")?)?;
        let started = device_login::start(&app.db, &name, &scopes, app.clock.now()).await?;
        let verification_uri = format!("{}/device", app.base_url);
        let answer = DeviceCodeResponse {
            device_code: started.device_code.reveal().to_owned(),
            verification_uri_complete: format!("{verification_uri}?user_code={}", started.user_code),
            user_code: started.user_code.to_string(),
            verification_uri,
            expires_in: LIFETIME_SECONDS,
            interval: INTERVAL_SECONDS,
        };
        Ok((StatusCode::CREATED, [(CACHE_CONTROL, "no-store")], Json(answer)).into_response())
    })
    .await
}

/// Returns the scopes that were asked for, or all that a device may have if none were. Fails with
/// `invalid_scope` for an unknown scope.
fn scopes(given: Option<String>) -> Result<Vec<Scope>, Problem> {
    let asked = Scope::parse_list(&given.unwrap_or_default()).map_err(|name| {
        let (name, known) = (json::shortened(&name), Scope::print_list(&SCOPES));
        let detail = format!("`scope`: `{name}` is not one of {known}.");
        Problem::bad_request("invalid_scope", detail).with("parameter", "scope")
    })?;
    Ok(if asked.is_empty() { SCOPES.into() } else { asked })
}

/// Returns the name of the device as one line of text. People who decide about the login see it, so
/// characters that change how others are shown are removed. Fails if the name is too long.
fn client_name(given: Option<String>) -> Result<String, Problem> {
    let name = given.unwrap_or_default();
    if name.chars().count() > CLIENT_NAME_CHARS_MAX {
        let detail = format!("`client_name` must have at most {CLIENT_NAME_CHARS_MAX} characters.");
        return Err(Problem::bad_parameter("client_name", detail));
    }
    let reorders =
        |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let shown: String = name.chars().filter(|c| !c.is_control() && !reorders(*c)).collect();
    match shown.trim() {
        "" => Ok(NAMELESS.to_owned()),
        shown => Ok(shown.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_may_ask_for_less() {
        for (given, expected) in [
            (None, Some("images:read account:read billing:write")),
            (Some(""), Some("images:read account:read billing:write")),
            (Some("images:read"), Some("images:read")),
            (Some("account:read images:read account:read"), Some("account:read images:read")),
            (Some("openid"), None),
            (Some("images:read images:write"), None),
        ] {
            let asked = scopes(given.map(str::to_owned));
            assert_eq!(asked.as_ref().ok().map(|asked| Scope::print_list(asked)).as_deref(), expected, "{given:?}");
            assert!(asked.err().is_none_or(|problem| problem.code() == "invalid_scope"));
        }
    }

    #[test]
    fn names_are_one_line_that_reads_as_it_is() {
        for (given, shown) in [
            (None, Some("device login")),
            (Some(" \n"), Some("device login")),
            (Some(" Ada's\r\n laptop "), Some("Ada's laptop")),
            (Some("safe\u{202e}gpj"), Some("safegpj")),
        ] {
            assert_eq!(client_name(given.map(str::to_owned)).ok().as_deref(), shown, "{given:?}");
        }
        assert!(client_name(Some("x".repeat(80))).is_ok());
        assert!(client_name(Some("x".repeat(81))).is_err());
    }
}
