//! The node's side of the node protocol (`docs/node-protocol.md`): one function per call, typed
//! answers, no retries. `agent` and `publish` decide when to call and when to retry.

use crate::config::Secret;
use bytes::Bytes;
use cyclorama_core::traces::{TRACEPARENT, Trace};
use cyclorama_core::wire::{
    FailureRequest, HeartbeatRequest, HeartbeatResponse, Job, JoinRequest, JoinResponse, LeaseRequest, LeaseResponse,
    ResultRequest, Upload,
};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use std::time::Duration;

/// Timeout of connecting, which either works at once or not at all; a long wait would only delay
/// the next attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout of every call except the long poll; such calls are answered from a database.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);
/// Timeout of a result, which is checked object by object before it is answered.
const RESULT_TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout of an upload. The largest object is some megabytes; a slower upload is not worth holding
/// a lease for.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum size of stored layers, in bytes (see the object store).
const LAYERS_BYTES_MAX: u64 = cyclorama_core::wire::OBJECT_BYTES_MAX;
/// Maximum length of an error's text, which is for an operator's log line.
const DETAIL_CHARS_MAX: usize = 300;

/// A client of one control plane. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ControlPlane {
    http: Client,
    url: String,
    token: Secret,
}

#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// 401 or 404: the node, or its token, is not known (any more).
    #[error("the control plane does not know this node ({detail})")]
    Unknown { detail: String },
    /// 409: another lease of the job is newer.
    #[error("the lease is lost")]
    Stale,
    /// 422: an uploaded object is missing or not the requested one.
    #[error("the control plane rejected {}: {detail}", object.as_deref().unwrap_or("an object"))]
    Rejected { object: Option<String>, detail: String },
    #[error("{what} failed with status {status}: {detail}")]
    Status { what: &'static str, status: StatusCode, detail: String },
    #[error("{what} got no response")]
    Network {
        what: &'static str,
        #[source]
        source: reqwest::Error,
    },
    #[error("{what} returned more than {LAYERS_BYTES_MAX} bytes")]
    TooLarge { what: &'static str },
}

impl CallError {
    /// Returns true if the same call may succeed a little later.
    pub fn is_passing(&self) -> bool {
        match self {
            CallError::Network { .. } => true,
            CallError::Status { status, .. } => {
                status.is_server_error()
                    || matches!(*status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
            }
            CallError::Unknown { .. } | CallError::Stale | CallError::Rejected { .. } | CallError::TooLarge { .. } => {
                false
            }
        }
    }
}

#[derive(serde::Deserialize, Default)]
struct Problem {
    #[serde(default)]
    detail: String,
    object: Option<String>,
}

impl ControlPlane {
    /// Returns an error only if this machine's TLS set-up is unusable.
    pub fn new(url: &str, token: Secret) -> Result<Self, reqwest::Error> {
        let http = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            // A redirect would send the token to a host that nobody configured.
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self { http, url: url.to_owned(), token })
    }

    pub async fn join(&self, request: &JoinRequest) -> Result<JoinResponse, CallError> {
        let call = self.call(Method::POST, "nodes".to_owned()).json(request);
        json("joining", send("joining", call, CALL_TIMEOUT).await?).await
    }

    /// Leases jobs for `free` slots, waiting up to `wait_seconds` for the first.
    pub async fn lease(&self, node_id: &str, free: u32, wait_seconds: u64) -> Result<Vec<Job>, CallError> {
        let what = "the request for jobs";
        let call =
            self.call(Method::POST, format!("nodes/{node_id}/leases")).json(&LeaseRequest { free, wait_seconds });
        let answer = send(what, call, CALL_TIMEOUT + Duration::from_secs(wait_seconds)).await?;
        if answer.status() == StatusCode::NO_CONTENT {
            return Ok(Vec::new());
        }
        Ok(json::<LeaseResponse>(what, answer).await?.jobs)
    }

    /// Sends a heartbeat. `timeout` is the heartbeat's interval: a late answer is worth less than
    /// the next heartbeat.
    pub async fn heartbeat(
        &self,
        node_id: &str,
        report: &HeartbeatRequest,
        timeout: Duration,
    ) -> Result<HeartbeatResponse, CallError> {
        let call = self.call(Method::POST, format!("nodes/{node_id}/heartbeat")).json(report);
        json("the heartbeat", send("the heartbeat", call, timeout).await?).await
    }

    pub async fn result(&self, job_id: &str, request: &ResultRequest) -> Result<(), CallError> {
        let call = self.call(Method::POST, format!("jobs/{job_id}/result")).json(request);
        send("the report of the result", call, RESULT_TIMEOUT).await.map(drop)
    }

    pub async fn failure(&self, job_id: &str, request: &FailureRequest) -> Result<(), CallError> {
        let call = self.call(Method::POST, format!("jobs/{job_id}/failure")).json(request);
        send("the report of the failure", call, CALL_TIMEOUT).await.map(drop)
    }

    pub async fn leave(&self, node_id: &str) -> Result<(), CallError> {
        send("leaving", self.call(Method::DELETE, format!("nodes/{node_id}")), CALL_TIMEOUT).await.map(drop)
    }

    /// Uploads an object to the URL in the lease, with the headers in the lease, because a bucket's
    /// URL is signed together with them. The URL is the permission, and it may be on another host,
    /// so no token is sent.
    pub async fn upload(&self, upload: &Upload, bytes: Bytes) -> Result<(), CallError> {
        let mut call = self.http.put(&upload.url);
        for (name, value) in &upload.headers {
            call = call.header(name, value);
        }
        send_elsewhere("an upload", call.body(bytes), UPLOAD_TIMEOUT).await.map(drop)
    }

    /// Reads the stored layers of a paint job from the URL in the lease. As with uploads, no token
    /// is sent.
    pub async fn layers(&self, url: &str) -> Result<Bytes, CallError> {
        let what = "reading stored layers";
        let mut answer = send_elsewhere(what, self.http.get(url), UPLOAD_TIMEOUT).await?;
        let mut bytes = Vec::with_capacity(answer.content_length().unwrap_or(0).min(LAYERS_BYTES_MAX) as usize);
        while let Some(piece) = answer.chunk().await.map_err(|source| network(what, source))? {
            if (bytes.len() + piece.len()) as u64 > LAYERS_BYTES_MAX {
                return Err(CallError::TooLarge { what });
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes.into())
    }

    fn call(&self, method: Method, path: String) -> RequestBuilder {
        let call = self.http.request(method, format!("{}/node/v1/{path}", self.url)).bearer_auth(self.token.expose());
        match Trace::current().traceparent() {
            Some(name) => call.header(TRACEPARENT, name),
            None => call,
        }
    }
}

async fn send(what: &'static str, call: RequestBuilder, timeout: Duration) -> Result<Response, CallError> {
    let answer = call.timeout(timeout).send().await.map_err(|source| network(what, source))?;
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let text = answer.text().await.unwrap_or_default();
    let problem: Problem = serde_json::from_str(&text).unwrap_or_default();
    let detail: String = if problem.detail.is_empty() { text } else { problem.detail };
    let detail: String = detail.chars().take(DETAIL_CHARS_MAX).collect();
    Err(match status {
        StatusCode::UNAUTHORIZED | StatusCode::NOT_FOUND => CallError::Unknown { detail },
        StatusCode::CONFLICT => CallError::Stale,
        StatusCode::UNPROCESSABLE_ENTITY => CallError::Rejected { object: problem.object, detail },
        _ => CallError::Status { what, status, detail },
    })
}

/// Sends a request to a URL of a lease. The server there may not speak the protocol: its statuses
/// say nothing about this node or its leases, and its texts may repeat the URL, which is a
/// permission.
async fn send_elsewhere(what: &'static str, call: RequestBuilder, timeout: Duration) -> Result<Response, CallError> {
    let answer = call.timeout(timeout).send().await.map_err(|source| network(what, source))?;
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let text = answer.text().await.unwrap_or_default();
    let detail = match serde_json::from_str::<Problem>(&text) {
        Ok(problem) => problem.detail.chars().take(DETAIL_CHARS_MAX).collect(),
        Err(_) => code_of_bucket(&text).unwrap_or("no reason given").to_owned(),
    };
    Err(CallError::Status { what, status, detail })
}

/// Returns the error code, such as `AccessDenied`, from the document with which buckets answer.
fn code_of_bucket(document: &str) -> Option<&str> {
    let (code, _) = document.split_once("<Code>")?.1.split_once("</Code>")?;
    (code.len() <= 80 && code.bytes().all(|b| b.is_ascii_alphanumeric())).then_some(code)
}

async fn json<T: serde::de::DeserializeOwned>(what: &'static str, answer: Response) -> Result<T, CallError> {
    answer.json().await.map_err(|source| network(what, source))
}

/// Returns the error of a failed request. URLs of uploads and layers are permissions, so they are
/// removed from errors.
fn network(what: &'static str, source: reqwest::Error) -> CallError {
    CallError::Network { what, source: source.without_url() }
}
