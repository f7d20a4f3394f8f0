//! The node's side of the node protocol (`docs/node-protocol.md`): one function per call, typed answers, no retries.
//! When to call, and when to try again, is `agent` and `publish`.

use crate::config::Secret;
use bytes::Bytes;
use cyclorama_core::traces::{TRACEPARENT, Trace};
use cyclorama_core::wire::{
    FailureRequest, HeartbeatRequest, HeartbeatResponse, Job, JoinRequest, JoinResponse, LeaseRequest, LeaseResponse,
    ResultRequest, Upload,
};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use std::time::Duration;

/// Connecting either works at once or not at all; a long wait would only delay the next try.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Every call but the long poll is answered from a database.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);
/// A result is checked object by object before it is answered.
const RESULT_TIMEOUT: Duration = Duration::from_secs(60);
/// The largest object is some megabytes; slower than this is not worth holding a lease for.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(60);
/// Stored layers are at most this large (see the object store).
const LAYERS_BYTES_MAX: u64 = cyclorama_core::wire::OBJECT_BYTES_MAX;
/// An error's text is for an operator's log line.
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
    /// 422: an uploaded object is missing or not what was asked for.
    #[error("the control plane rejected {}: {detail}", object.as_deref().unwrap_or("an object"))]
    Rejected { object: Option<String>, detail: String },
    #[error("{what} was answered {status}: {detail}")]
    Status { what: &'static str, status: StatusCode, detail: String },
    #[error("{what} got no answer")]
    Network {
        what: &'static str,
        #[source]
        source: reqwest::Error,
    },
    #[error("{what} was answered with more than {LAYERS_BYTES_MAX} bytes")]
    TooLarge { what: &'static str },
}

impl CallError {
    /// Whether the same call may succeed a little later.
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
    /// `Err` only when this machine's TLS set-up is unusable.
    pub fn new(url: &str, token: Secret) -> Result<Self, reqwest::Error> {
        let http = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            // A redirect would carry the token to a place nobody configured.
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self { http, url: url.to_owned(), token })
    }

    pub async fn join(&self, request: &JoinRequest) -> Result<JoinResponse, CallError> {
        let call = self.call(Method::POST, "nodes".to_owned()).json(request);
        json("joining", send("joining", call, CALL_TIMEOUT).await?).await
    }

    /// Jobs for `free` slots, waiting up to `wait_seconds` for the first.
    pub async fn lease(&self, node_id: &str, free: u32, wait_seconds: u64) -> Result<Vec<Job>, CallError> {
        let what = "asking for work";
        let call =
            self.call(Method::POST, format!("nodes/{node_id}/leases")).json(&LeaseRequest { free, wait_seconds });
        let answer = send(what, call, CALL_TIMEOUT + Duration::from_secs(wait_seconds)).await?;
        if answer.status() == StatusCode::NO_CONTENT {
            return Ok(Vec::new());
        }
        Ok(json::<LeaseResponse>(what, answer).await?.jobs)
    }

    /// `timeout` is the heartbeat's interval: a late answer is worth less than the next heartbeat.
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
        send("the result", call, RESULT_TIMEOUT).await.map(drop)
    }

    pub async fn failure(&self, job_id: &str, request: &FailureRequest) -> Result<(), CallError> {
        let call = self.call(Method::POST, format!("jobs/{job_id}/failure")).json(request);
        send("the failure", call, CALL_TIMEOUT).await.map(drop)
    }

    pub async fn leave(&self, node_id: &str) -> Result<(), CallError> {
        send("leaving", self.call(Method::DELETE, format!("nodes/{node_id}")), CALL_TIMEOUT).await.map(drop)
    }

    /// Puts an object where the lease says, with the headers it says: an address of a bucket is signed together with them. The address is
    /// the permission, and it may be another host's: no token goes with it.
    pub async fn upload(&self, upload: &Upload, bytes: Bytes) -> Result<(), CallError> {
        let mut call = self.http.put(&upload.url);
        for (name, value) in &upload.headers {
            call = call.header(name, value);
        }
        send_elsewhere("an upload", call.body(bytes), UPLOAD_TIMEOUT).await.map(drop)
    }

    /// Stored layers of a paint job, from where the lease says: as with uploads, no token goes there.
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

/// A request to an address of a lease. Whoever answers there does not speak the protocol: its statuses say nothing about this node or its
/// leases, and its texts may repeat the address, which is a permission.
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

/// `AccessDenied` and the like, out of the document that buckets answer with.
fn code_of_bucket(document: &str) -> Option<&str> {
    let (code, _) = document.split_once("<Code>")?.1.split_once("</Code>")?;
    (code.len() <= 80 && code.bytes().all(|b| b.is_ascii_alphanumeric())).then_some(code)
}

async fn json<T: serde::de::DeserializeOwned>(what: &'static str, answer: Response) -> Result<T, CallError> {
    answer.json().await.map_err(|source| network(what, source))
}

/// Addresses of uploads and layers are permissions: they stay out of errors.
fn network(what: &'static str, source: reqwest::Error) -> CallError {
    CallError::Network { what, source: source.without_url() }
}
