//! Sends one request with its repetitions: which bytes are sent, when they are sent again, and how
//! an answer is read. It knows no operation.
//!
//! Why: `docs/decisions/clients-and-cli.md` (Which requests the clients repeat).

use crate::error::Error;
use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Method, Response, StatusCode};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt;
use url::Url;

const FIRST_WAIT_SECONDS: f64 = 0.5;
const LONGEST_WAIT_SECONDS: f64 = 20.0;
/// Maximum number of redirects. A URL that is not in its canonical form is redirected to that; more
/// redirects are a loop.
const REDIRECTS_MAX: usize = 2;
/// Maximum size of an answer, in bytes. The service's answers are much smaller: an image has a few
/// megabytes at most.
const BODY_BYTES_MAX: usize = 64 << 20;

/// When a request is sent again: after 429, 503 and a lost connection, never after 402. A request
/// that spends credits and has no idempotency key is sent again only if the service itself has
/// refused it, or if nothing has reached the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// Maximum number of attempts after the first; 0 for none.
    pub attempts: u32,
    /// A longer `Retry-After` than this is returned to the caller as an error.
    pub longest_retry_after_seconds: u64,
}

impl Default for Retries {
    fn default() -> Self {
        Retries { attempts: 4, longest_retry_after_seconds: 60 }
    }
}

/// A function that waits before a request is sent again.
pub type Pause = Arc<dyn Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync>;

pub(crate) struct Request {
    method: Method,
    path: String,
    query: Vec<(String, String)>,
    headers: HeaderMap,
    /// JSON.
    body: Option<Bytes>,
    /// True if the request may be sent again when it is unknown whether it was done: it spends
    /// nothing, or has an Idempotency-Key.
    repeatable: bool,
    /// The media type of the service's answer, or `image/*` for any image. A proxy in between may
    /// answer 200 with a page of its own.
    media_type: Option<&'static str>,
    /// True if refusals have the form of RFC 6749 instead of a problem document.
    is_device_poll: bool,
}

impl Request {
    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path.into(), true)
    }

    pub fn head(path: impl Into<String>) -> Self {
        Self::new(Method::HEAD, path.into(), true)
    }

    pub fn post(path: impl Into<String>) -> Self {
        Self::new(Method::POST, path.into(), false)
    }

    fn new(method: Method, path: String, repeatable: bool) -> Self {
        Request {
            method,
            path,
            query: Vec::new(),
            headers: HeaderMap::new(),
            body: None,
            repeatable,
            media_type: None,
            is_device_poll: false,
        }
    }

    /// Adds the members of a flat struct as parameters.
    pub fn query(mut self, members: &impl Serialize) -> Result<Self, Error> {
        if let Value::Object(members) = json(members)? {
            self.query.extend(members.into_iter().filter_map(|(name, value)| match value {
                Value::Null => None,
                Value::String(text) => Some((name, text)),
                other => Some((name, other.to_string())),
            }));
        }
        Ok(self)
    }

    pub fn parameter(mut self, name: &str, value: &str) -> Self {
        self.query.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn body(mut self, body: &impl Serialize) -> Result<Self, Error> {
        self.body = Some(json(body)?.to_string().into());
        self.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(self)
    }

    pub fn header(mut self, name: HeaderName, value: Option<&str>) -> Result<Self, Error> {
        if let Some(value) = value {
            let wrong = |_| Error::setup(format!("`{value}` cannot be sent as {name}"));
            self.headers.insert(&name, HeaderValue::from_str(value).map_err(wrong)?);
        }
        Ok(self)
    }

    pub fn repeatable(mut self, repeatable: bool) -> Self {
        self.repeatable = repeatable;
        self
    }

    pub fn device_poll(mut self) -> Self {
        self.is_device_poll = true;
        self
    }

    /// Makes a 2xx answer with another Content-Type an error. `image/*` is any image.
    pub fn expect_media_type(mut self, media_type: &'static str) -> Self {
        self.media_type = Some(media_type);
        self
    }
}

fn json(value: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(value).map_err(|cause| Error::setup(format!("The request cannot be written as JSON: {cause}")))
}

/// A 2xx or 304 answer, read to its last byte.
pub(crate) struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Empty if the body went into a file.
    pub body: Bytes,
}

pub(crate) struct Transport {
    pub http: reqwest::Client,
    pub url: Url,
    pub authorization: Option<HeaderValue>,
    pub retries: Retries,
    pub pause: Pause,
}

impl Transport {
    /// Sends the request as often as necessary and returns the answer. With `file`, the body is
    /// written there, complete or not at all.
    pub async fn send(&self, request: &Request, file: Option<&Path>) -> Result<Answer, Error> {
        // Created before anything is spent, so that an unusable folder is noticed now.
        let mut file = file.map(Partial::create).transpose()?;
        let mut attempt = 0;
        loop {
            let error = match self.follow(request, file.as_mut()).await {
                Ok(answer) => {
                    if let Some(file) = file.filter(|_| answer.status != StatusCode::NOT_MODIFIED) {
                        file.keep()?;
                    }
                    return Ok(answer);
                }
                Err(error) if attempt >= self.retries.attempts || !self.may_pass(&error, request) => return Err(error),
                Err(error) => error,
            };
            // Full jitter, so that clients that failed together do not return together.
            let longest = LONGEST_WAIT_SECONDS.min(FIRST_WAIT_SECONDS * f64::from(2u32.saturating_pow(attempt)));
            let wait = rand::random_range(0.0..=longest) + error.retry_after_seconds().unwrap_or(0) as f64;
            (self.pause)(Duration::from_secs_f64(wait)).await;
            attempt += 1;
        }
    }

    fn may_pass(&self, error: &Error, request: &Request) -> bool {
        if error.retry_after_seconds().is_some_and(|seconds| seconds > self.retries.longest_retry_after_seconds) {
            return false;
        }
        match error.status() {
            None => error.code() == "connection_failed" && (request.repeatable || error.is_unsent()),
            // The first attempt of this very request is still being processed.
            Some(_) if error.code() == "idempotency_key_in_use" => true,
            // A gateway has answered, so it is unknown whether the service has done the request.
            Some(_) if error.code() == "unexpected_answer" && !request.repeatable => false,
            // A device that polls too fast must slow down, and the caller controls how often it
            // polls.
            Some(status) => matches!(status, 429 | 503) && error.code() != "slow_down",
        }
    }

    async fn follow(&self, request: &Request, file: Option<&mut Partial>) -> Result<Answer, Error> {
        let mut target = self.url.clone();
        target.set_path(&format!("{}{}", self.url.path().trim_end_matches('/'), request.path));
        if !request.query.is_empty() {
            target.query_pairs_mut().extend_pairs(&request.query);
        }
        for _ in 0..=REDIRECTS_MAX {
            let answer = self.once(request, target.clone()).await?;
            if answer.status() != StatusCode::PERMANENT_REDIRECT {
                return read(request, answer, file).await;
            }
            let location = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
            match target.join(location) {
                // The key is sent to no other origin.
                Ok(next) if next.origin() == target.origin() => target = next,
                _ => break,
            }
        }
        Err(Error::unexpected(308, "The response redirects elsewhere."))
    }

    async fn once(&self, request: &Request, target: Url) -> Result<Response, Error> {
        let mut sent = self.http.request(request.method.clone(), target).headers(request.headers.clone());
        if let Some(authorization) = &self.authorization {
            sent = sent.header(AUTHORIZATION, authorization.clone());
        }
        if let Some(body) = &request.body {
            sent = sent.body(body.clone());
        }
        sent.send().await.map_err(Error::connection_failed)
    }
}

async fn read(request: &Request, mut answer: Response, file: Option<&mut Partial>) -> Result<Answer, Error> {
    let (status, headers) = (answer.status(), answer.headers().clone());
    if !status.is_success() && status != StatusCode::NOT_MODIFIED {
        let body = content(&mut answer).await?;
        let document = serde_json::from_slice(&body).unwrap_or_default();
        return Err(Error::from_answer(status.as_u16(), &headers, document, request.is_device_poll));
    }
    if let Some(expected) = request.media_type.filter(|_| status != StatusCode::NOT_MODIFIED) {
        let told = headers.get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes())).unwrap_or_default();
        if !is_of_type(&told, expected) {
            return Err(Error::unexpected(
                status.as_u16(),
                format!("The response is not from the service: its Content-Type is `{told}`, not `{expected}`."),
            ));
        }
    }
    let body = match file {
        Some(file) if status != StatusCode::NOT_MODIFIED => file.fill(&mut answer).await.map(|()| Bytes::new())?,
        _ if request.method == Method::HEAD => Bytes::new(),
        _ => content(&mut answer).await?,
    };
    Ok(Answer { status, headers, body })
}

/// True if a Content-Type is the expected media type, or an image for `image/*`. Its parameters and
/// its case do not matter.
fn is_of_type(content_type: &str, expected: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match expected.strip_suffix('*') {
        Some(start) => media_type.starts_with(start),
        None => media_type == expected,
    }
}

async fn content(answer: &mut Response) -> Result<Bytes, Error> {
    let mut content = BytesMut::new();
    while let Some(chunk) = answer.chunk().await.map_err(Error::connection_failed)? {
        if content.len() + chunk.len() > BODY_BYTES_MAX {
            return Err(Error::unexpected(
                answer.status().as_u16(),
                "The response is too long to be from the service.",
            ));
        }
        content.extend_from_slice(&chunk);
    }
    Ok(content.freeze())
}

/// A file that is written beside its destination and then renamed, so that it appears complete or
/// not at all.
struct Partial {
    path: PathBuf,
    beside: NamedTempFile,
}

impl Partial {
    fn create(path: &Path) -> Result<Self, Error> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut beside = tempfile::Builder::new();
        beside.prefix(".").suffix(".part");
        // Permissions of an ordinary file of its owner; `tempfile` would keep it private.
        #[cfg(unix)]
        beside.permissions(<std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666));
        let is_folder = || std::io::Error::from(std::io::ErrorKind::IsADirectory);
        let made = if path.is_dir() { Err(is_folder()) } else { beside.tempfile_in(folder) };
        let beside = made.map_err(|cause| Error::file(path, cause))?;
        Ok(Partial { path: path.to_owned(), beside })
    }

    async fn fill(&mut self, answer: &mut Response) -> Result<(), Error> {
        let failed = |cause| Error::file(&self.path, cause);
        let mut file = tokio::fs::File::from_std(self.beside.reopen().map_err(failed)?);
        // Discards the bytes of an earlier attempt.
        file.set_len(0).await.map_err(failed)?;
        while let Some(chunk) = answer.chunk().await.map_err(Error::connection_failed)? {
            file.write_all(&chunk).await.map_err(failed)?;
        }
        file.sync_all().await.map_err(failed)
    }

    fn keep(self) -> Result<(), Error> {
        let path = self.path;
        self.beside.persist(&path).map(drop).map_err(|error| Error::file(&path, error.error))
    }
}
