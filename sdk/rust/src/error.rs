//! What goes wrong: a kind for what programs decide on, a `code` for everything else.

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::{Map, Value};
use std::error::Error as StdError;
use std::time::SystemTime;

/// What programs decide on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// 402: a person has to buy credits or raise a cap. Never tried again by itself.
    InsufficientCredits,
    /// 401: the key is missing, wrong or revoked.
    Unauthorized,
    /// 404: no such vehicle, picture or entry.
    NotFound,
    /// 429, also after the retries.
    RateLimited,
    /// 503 or no whole answer, also after the retries.
    Unavailable,
    /// A file of this machine could not be written.
    File,
    /// A client that cannot work, or a request that cannot be sent: no address, or none that is one.
    Setup,
    /// Any other status; see `code`.
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
    /// Nothing has reached the service.
    unsent: bool,
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Stable, for programs: the problem document's `code` (or the `error` of a device login), `connection_failed` when no whole answer
    /// came, `unexpected_answer` when it was none of the service's.
    pub fn code(&self) -> &str {
        &self.told.code
    }

    /// For people: names what is wrong.
    pub fn detail(&self) -> &str {
        &self.told.detail
    }

    /// `None` when no answer came.
    pub fn status(&self) -> Option<u16> {
        self.told.status
    }

    /// For the operator of the service.
    pub fn request_id(&self) -> Option<&str> {
        self.told.request_id.as_deref()
    }

    /// The whole problem document: `suggestions`, `bodies`, `links` and whatever else it says. Empty when the service sent none.
    pub fn document(&self) -> &Map<String, Value> {
        &self.told.document
    }

    pub fn retry_after_seconds(&self) -> Option<u64> {
        self.told.retry_after_seconds
    }

    /// What was wrong with the request.
    pub fn parameter(&self) -> Option<&str> {
        self.told.document.get("parameter")?.as_str()
    }

    /// Which picture of several was wrong, from 0.
    pub fn index(&self) -> Option<u64> {
        self.told.document.get("index")?.as_u64()
    }

    /// Of 402: the credits that are left.
    pub fn balance(&self) -> Option<i64> {
        self.told.document.get("balance")?.as_i64()
    }

    /// Of 402: the credits that the request needed.
    pub fn required_credits(&self) -> Option<i64> {
        self.told.document.get("required_credits")?.as_i64()
    }

    /// Nothing has reached the service: trying again can do nothing twice.
    pub(crate) fn is_unsent(&self) -> bool {
        self.told.unsent
    }

    /// `document` is the body's JSON, or `Null` when it is none. `is_device_poll`: refusals may have the form of RFC 6749.
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
                format!("The answer has status {status} and is no problem document of the service.")
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
        // The address may be a signed one, which is as good as the picture: it belongs into no log.
        let cause = cause.without_url();
        let detail = match (unsent, cause.is_timeout()) {
            (_, true) => "No whole answer came in time.",
            (true, _) => "Nothing answers at the service's address.",
            _ => "The connection broke off before the whole answer had come.",
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

/// The code of the service's own refusal: a problem document has `code`, `request_id` and the answer's `status`, a refused poll of a device
/// login `error` and `request_id`. `None` for any other document: a gateway may answer with JSON of its own.
fn code_of(status: u16, document: &Value, is_device_poll: bool) -> Option<String> {
    let text = |name: &str| document.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    text("request_id")?;
    let is_problem = document.get("status").and_then(Value::as_u64) == Some(u64::from(status));
    let problem = text("code").filter(|_| is_problem);
    problem.or_else(|| text("error").filter(|_| is_device_poll)).map(str::to_owned)
}

/// Seconds to wait, of both forms that the header has (RFC 9110, 10.2.3): a number of seconds, or a date. A date is read by the answer's own
/// clock where that says its time, so that a client whose clock is wrong waits as long as was meant; one that has passed is no wait.
#[expect(
    clippy::disallowed_methods,
    reason = "a client has no other clock than its machine's where the answer has none"
)]
fn retry_after(text: &str, date: Option<&str>) -> Option<u64> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More than the largest number is for ever.
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
        // By this machine's clock where the answer has none.
        assert!(retry_after("Fri, 01 Jan 2100 00:00:00 GMT", None).is_some_and(|seconds| seconds > 1_000_000));
        assert!(
            retry_after("Fri, 01 Jan 2100 00:00:00 GMT", Some("no date")).is_some_and(|seconds| seconds > 1_000_000)
        );
    }
}
