//! Errors: a kind for the decisions that programs make, and a `code` that tells everything else
//! apart.

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::{Map, Value};
use std::error::Error as StdError;
use std::time::SystemTime;

/// The kind of an error, for the decisions that programs make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// 402: a person must buy credits or raise a cap. The client does not repeat the request.
    InsufficientCredits,
    /// 401: the key is missing, wrong or revoked.
    Unauthorized,
    /// 404: the vehicle, image or entry does not exist.
    NotFound,
    /// 429, after all retries.
    RateLimited,
    /// 503 or no complete answer, after all retries.
    Unavailable,
    /// A local file could not be written.
    File,
    /// The client cannot work, or the request cannot be sent: the URL is missing or not valid, for
    /// example.
    Setup,
    /// Any other error; see [`Error::code`].
    Other,
}

/// A request that was refused or failed.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct Error {
    kind: ErrorKind,
    told: Box<Told>,
    #[source]
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

#[derive(Debug)]
struct Told {
    code: String,
    detail: String,
    status: Option<u16>,
    request_id: Option<String>,
    document: Map<String, Value>,
    retry_after_seconds: Option<u64>,
    /// True if no part of the request has reached the service.
    unsent: bool,
}

impl Error {
    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The stable code for programs: the problem document's `code` (or the `error` of a device
    /// login); `connection_failed` if no complete answer came; `unexpected_answer` if the answer
    /// was not the service's own.
    pub fn code(&self) -> &str {
        &self.told.code
    }

    /// A description of the error for people.
    pub fn detail(&self) -> &str {
        &self.told.detail
    }

    /// The HTTP status; `None` if no answer came.
    pub fn status(&self) -> Option<u16> {
        self.told.status
    }

    /// The id of the request, which the operator of the service needs to find it.
    pub fn request_id(&self) -> Option<&str> {
        self.told.request_id.as_deref()
    }

    /// The whole problem document with `suggestions`, `bodies`, `links` and all other members.
    /// Empty if the service sent none.
    pub fn document(&self) -> &Map<String, Value> {
        &self.told.document
    }

    /// Seconds to wait before the request is sent again, if the answer has `Retry-After`.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        self.told.retry_after_seconds
    }

    /// The name of the parameter that was wrong.
    pub fn parameter(&self) -> Option<&str> {
        self.told.document.get("parameter")?.as_str()
    }

    /// The position, from 0, of the image that was wrong, in a request for several.
    pub fn index(&self) -> Option<u64> {
        self.told.document.get("index")?.as_u64()
    }

    /// With 402: the credits that are left.
    pub fn balance(&self) -> Option<i64> {
        self.told.document.get("balance")?.as_i64()
    }

    /// With 402: the credits that the request needed.
    pub fn required_credits(&self) -> Option<i64> {
        self.told.document.get("required_credits")?.as_i64()
    }

    /// True if no part of the request has reached the service, so that sending it again can do
    /// nothing twice.
    pub(crate) fn is_unsent(&self) -> bool {
        self.told.unsent
    }

    /// Makes an error of an answer. `document` is the body's JSON, or `Null` if the body is not
    /// JSON. With `is_device_poll`, a refusal may have the form of RFC 6749.
    pub(crate) fn from_answer(status: u16, headers: &HeaderMap, document: Value, is_device_poll: bool) -> Self {
        let code = code_of(status, &document, is_device_poll);
        let document = match document {
            Value::Object(members) if code.is_some() => members,
            _ => Map::new(),
        };
        let text = |name: &str| document.get(name).and_then(Value::as_str).map(str::to_owned);
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let detail = text("detail").or_else(|| code.clone());
        let request_id = text("request_id").or_else(|| header("x-request-id").map(str::to_owned));
        let kind = match status {
            401 => ErrorKind::Unauthorized,
            402 => ErrorKind::InsufficientCredits,
            404 => ErrorKind::NotFound,
            429 => ErrorKind::RateLimited,
            503 => ErrorKind::Unavailable,
            _ => ErrorKind::Other,
        };
        let told = Told {
            code: code.unwrap_or_else(|| "unexpected_answer".to_owned()),
            detail: detail.unwrap_or_else(|| {
                format!("The response has status {status} and is not a problem document of the service.")
            }),
            status: Some(status),
            request_id,
            retry_after_seconds: header(RETRY_AFTER.as_str()).and_then(|text| retry_after(text, header(DATE.as_str()))),
            document,
            unsent: false,
        };
        Error { kind, told: Box::new(told), cause: None }
    }

    pub(crate) fn connection_failed(cause: reqwest::Error) -> Self {
        let unsent = cause.is_connect();
        // The URL may be a signed one, which is as good as the image, so it must not get into a
        // log.
        let cause = cause.without_url();
        let detail = match (unsent, cause.is_timeout()) {
            (_, true) => "No complete response arrived in time.",
            (true, _) => "Nothing responds at the URL of the service.",
            _ => "The connection was lost before the response was complete.",
        };
        let mut error = Self::plain(ErrorKind::Unavailable, "connection_failed", detail);
        error.told.unsent = unsent;
        error.cause = Some(Box::new(cause));
        error
    }

    pub(crate) fn unexpected(status: u16, detail: impl Into<String>) -> Self {
        let mut error = Self::plain(ErrorKind::Other, "unexpected_answer", detail);
        error.told.status = Some(status);
        error
    }

    pub(crate) fn file(path: &std::path::Path, cause: std::io::Error) -> Self {
        let mut error = Self::plain(ErrorKind::File, "file", format!("{} cannot be written", path.display()));
        error.cause = Some(Box::new(cause));
        error
    }

    pub(crate) fn setup(detail: impl Into<String>) -> Self {
        Self::plain(ErrorKind::Setup, "setup", detail)
    }

    fn plain(kind: ErrorKind, code: &str, detail: impl Into<String>) -> Self {
        let told = Told {
            code: code.to_owned(),
            detail: detail.into(),
            status: None,
            request_id: None,
            document: Map::new(),
            retry_after_seconds: None,
            unsent: false,
        };
        Error { kind, told: Box::new(told), cause: None }
    }

    fn sentence(&self) -> String {
        match &self.told.request_id {
            Some(request_id) => format!("{} ({}, request {request_id})", self.told.detail, self.told.code),
            None => format!("{} ({})", self.told.detail, self.told.code),
        }
    }
}

/// Returns the code of a refusal by the service itself: a problem document has `code`, `request_id`
/// and the answer's `status`; a refused poll of a device login has `error` and `request_id`. `None`
/// for any other document, because a gateway may answer with JSON of its own.
fn code_of(status: u16, document: &Value, is_device_poll: bool) -> Option<String> {
    let text = |name: &str| document.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    text("request_id")?;
    let is_problem = document.get("status").and_then(Value::as_u64) == Some(u64::from(status));
    let problem = text("code").filter(|_| is_problem);
    problem.or_else(|| text("error").filter(|_| is_device_poll)).map(str::to_owned)
}

/// Returns the seconds to wait, for both forms of the header (RFC 9110, 10.2.3): a number of
/// seconds, or a date. A date is compared with the answer's own `Date` where it has one, so that a
/// client whose clock is wrong waits for the intended time. A date in the past means no wait.
#[expect(
    clippy::disallowed_methods,
    reason = "a client has no other clock than its machine's where the answer has none"
)]
fn retry_after(text: &str, date: Option<&str>) -> Option<u64> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that is too large for the type means forever.
        return Some(text.parse().unwrap_or(u64::MAX));
    }
    let until = httpdate::parse_http_date(text).ok()?;
    let now = date.and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or_else(SystemTime::now);
    Some(until.duration_since(now).map_or(0, |wait| wait.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::retry_after;

    #[test]
    fn retry_after_has_two_forms() {
        let date = Some("Thu, 26 Nov 2026 08:00:00 GMT");
        for (text, date, seconds) in [
            ("0", None, Some(0)),
            (" 17 ", None, Some(17)),
            ("99999999999999999999999", None, Some(u64::MAX)),
            ("Thu, 26 Nov 2026 08:00:15 GMT", date, Some(15)),
            ("Thursday, 26-Nov-26 08:01:00 GMT", date, Some(60)),
            ("Thu Nov 26 09:00:00 2026", date, Some(3600)),
            ("Thu, 26 Nov 2026 07:59:59 GMT", date, Some(0)),
            ("Wed, 01 Jan 2020 00:00:00 GMT", None, Some(0)),
            ("soon", date, None),
            ("-5", date, None),
            ("1.5", date, None),
            ("", date, None),
        ] {
            assert_eq!(retry_after(text, date), seconds, "{text:?}");
        }
        // Without a date in the answer, this machine's clock is used.
        assert!(retry_after("Fri, 01 Jan 2100 00:00:00 GMT", None).is_some_and(|seconds| seconds > 1_000_000));
        assert!(
            retry_after("Fri, 01 Jan 2100 00:00:00 GMT", Some("no date")).is_some_and(|seconds| seconds > 1_000_000)
        );
    }
}
