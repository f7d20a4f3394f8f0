//! `cyclorama mcp --stdio`: the MCP tools for hosts that start a program. It passes each message on
//! to `POST /api/mcp` of a running service, and its response back; the service defines the tools.
//!
//! One message per line (the protocol's stdio transport). Several calls may be in progress. A
//! cancelled call is aborted, which the service notices. Notifications that the service sends
//! before a response (that an image is being rendered) come as events, each on a line of its own.

use super::api;
use super::exit::NoKey;
use anyhow::Context;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Maximum number of calls in progress; further messages wait in the
/// pipe. Each call may be a render.
const UNDER_WAY_MAX: usize = 16;

/// Time limit of a response: a cold render takes up to two minutes.
const ANSWER_WITHIN: Duration = Duration::from_secs(180);

#[derive(Debug, clap::Args)]
pub struct Mcp {
    /// Communicate over standard input and output
    #[arg(long, required = true)]
    stdio: bool,
    /// URL of the service
    #[arg(long, env = "CYCLORAMA_URL", default_value = "http://127.0.0.1:8080", value_name = "URL")]
    url: String,
}

impl Mcp {
    pub async fn run(self) -> anyhow::Result<()> {
        let address = api::root_of_host(&self.url)?;
        // The key is not an argument: every user of the machine can see the arguments of programs.
        let Some(key) = api::key_for(&address)? else { return Err(NoKey { address }.into()) };
        let bridge = Arc::new(Bridge::new(&address, key.reveal())?);
        let (answers, told) = mpsc::channel(UNDER_WAY_MAX);
        let mut teller = tokio::spawn(tell(told));
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        let mut under_way = JoinSet::new();
        let mut by_id: HashMap<String, AbortHandle> = HashMap::new();
        loop {
            let line = tokio::select! {
                line = lines.next_line() => line.context("standard input cannot be read")?,
                // The output is closed: nothing more is requested, and
                // calls in progress are aborted.
                ended = &mut teller => return ended?,
            };
            let Some(line) = line else { break };
            // Some systems begin their output with a byte order mark.
            let line = line.trim_start_matches('\u{feff}').trim().to_owned();
            if line.is_empty() {
                continue;
            }
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            if message["method"] == "notifications/cancelled"
                && let Some(cancelled) = by_id.remove(&message["params"]["requestId"].to_string())
            {
                cancelled.abort();
                continue;
            }
            while under_way.len() >= UNDER_WAY_MAX {
                under_way.join_next().await;
            }
            by_id.retain(|_, call| !call.is_finished());
            let id = message["id"].to_string();
            let (bridge, answers) = (bridge.clone(), answers.clone());
            let call = under_way.spawn(async move {
                if let Some(answer) = bridge.pass(line, &message, &answers).await {
                    let _ = answers.send(answer).await;
                }
            });
            by_id.insert(id, call);
        }
        while under_way.join_next().await.is_some() {}
        drop(answers);
        teller.await?
    }
}

/// Writes all lines from one task, so that no two lines mix.
async fn tell(mut told: mpsc::Receiver<String>) -> anyhow::Result<()> {
    let mut output = tokio::io::stdout();
    while let Some(line) = told.recv().await {
        output.write_all(format!("{line}\n").as_bytes()).await.context("standard output cannot be written")?;
        output.flush().await?;
    }
    Ok(())
}

struct Bridge {
    http: reqwest::Client,
    address: String,
    key: String,
    /// The protocol revision on which a handshake agreed.
    agreed: Mutex<Option<String>>,
}

impl Bridge {
    fn new(url: &str, key: &str) -> anyhow::Result<Self> {
        // Fails only when a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().connect_timeout(Duration::from_secs(5)).timeout(ANSWER_WITHIN).build()?;
        let address = format!("{url}/api/mcp");
        Ok(Bridge { http, address, key: key.to_owned(), agreed: Mutex::new(None) })
    }

    /// Passes a message on and returns the line to answer with, or `None` for a notification.
    /// Events before the response are sent to `told`.
    async fn pass(&self, line: String, message: &Value, told: &mpsc::Sender<String>) -> Option<String> {
        let agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let request = self.http.post(&self.address).bearer_auth(&self.key).headers(beside(message, agreed.as_deref()));
        let answered = async {
            let answer = request.body(line).send().await?;
            let status = answer.status();
            let kind = answer.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
            let text = match kind.starts_with(b"text/event-stream") {
                true => last_event(answer, told).await?,
                false => answer.text().await?,
            };
            Ok::<_, reqwest::Error>((status, text))
        };
        let failure = match answered.await {
            Ok((_, text)) if text.is_empty() => return None,
            Ok((status, text)) => match serde_json::from_str::<Value>(&text) {
                Ok(answer) if answer.is_array() || answer["jsonrpc"] == "2.0" => {
                    self.remember(message, &answer);
                    return Some(answer.to_string());
                }
                // Refused before the protocol was spoken, for a wrong key or too many requests.
                Ok(problem) if problem["detail"].is_string() => {
                    json!({ "code": -32000, "message": problem["detail"], "data": problem })
                }
                _ => json!({ "code": -32603, "message": format!("{} returned {status}.", self.address) }),
            },
            Err(error) if error.is_connect() => {
                json!({ "code": -32603, "message": format!("Nothing responds at {}: is CYCLORAMA_URL correct?", self.address) })
            }
            Err(error) if error.is_timeout() => {
                json!({ "code": -32603, "message": format!("{} did not respond in time.", self.address) })
            }
            Err(_) => json!({ "code": -32603, "message": format!("The response of {} was cut off.", self.address) }),
        };
        let is_told_only = message.is_object() && message["id"].is_null();
        (!is_told_only).then(|| json!({ "jsonrpc": "2.0", "id": message["id"], "error": failure }).to_string())
    }

    fn remember(&self, message: &Value, answer: &Value) {
        if message["method"] == "initialize"
            && let Some(version) = answer["result"]["protocolVersion"].as_str()
        {
            *self.agreed.lock().unwrap_or_else(PoisonError::into_inner) = Some(version.to_owned());
        }
    }
}

/// Returns the response at the end of a stream of events. Requests and notifications that the
/// service sends before it are passed on as they come.
async fn last_event(mut answer: reqwest::Response, told: &mpsc::Sender<String>) -> reqwest::Result<String> {
    let (mut unread, mut last) = (Vec::new(), String::new());
    while let Some(chunk) = answer.chunk().await? {
        unread.extend_from_slice(&chunk);
        while let Some(end) = unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = unread.drain(..=end).collect();
            // The service writes the data of an event in one line.
            let Some(data) = line.strip_prefix(b"data:") else { continue };
            match serde_json::from_slice::<Value>(data) {
                Ok(event) if event["method"].is_string() => {
                    let _ = told.send(event.to_string()).await;
                }
                Ok(event) => last = event.to_string(),
                Err(_) => {}
            }
        }
    }
    Ok(last)
}

/// Returns the HTTP headers of a message: the protocol revision, and since
/// revision 2026-07-28 the method and name.
fn beside(message: &Value, agreed: Option<&str>) -> HeaderMap {
    let mut headers = HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (ACCEPT, HeaderValue::from_static("application/json, text/event-stream")),
    ]);
    let params = &message["params"];
    let own = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
    let version = match message["method"].as_str() {
        Some("initialize") => None,
        _ => own.or(agreed),
    };
    let name = params["name"].as_str().or(params["uri"].as_str());
    let is_described = own.is_some();
    for (header, value) in [
        (PROTOCOL_VERSION, version),
        (METHOD, message["method"].as_str().filter(|_| is_described)),
        (NAME, name.filter(|_| is_described)),
    ] {
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
            headers.insert(header, value);
        }
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_described_as_their_revision_wants() {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        for (message, agreed, expected) in [
            (
                json!({ "method": "initialize", "params": { "protocolVersion": "2025-11-25" } }),
                Some("2025-11-25"),
                [None; 3],
            ),
            (json!({ "method": "tools/list" }), None, [None; 3]),
            (
                json!({ "method": "tools/call", "params": { "name": "x" } }),
                Some("2025-11-25"),
                [Some("2025-11-25"), None, None],
            ),
            (
                json!({ "method": "tools/list", "params": { "_meta": meta } }),
                None,
                [Some("2026-07-28"), Some("tools/list"), None],
            ),
            (
                json!({ "method": "tools/call", "params": { "name": "x", "_meta": meta } }),
                Some("2025-11-25"),
                [Some("2026-07-28"), Some("tools/call"), Some("x")],
            ),
        ] {
            let headers = beside(&message, agreed);
            let told = [PROTOCOL_VERSION, METHOD, NAME]
                .map(|name| headers.get(name).map(|value| value.to_str().expect("text")));
            assert_eq!(told, expected, "{message}");
        }
    }
}
