//! The embedded node: one `cyclorama-node` process beside the service, started again when it ends.
//!
//! It speaks the same protocol as a node elsewhere, so a crash of its driver costs a render, never the service. It holds the
//! other end of a pipe and ends when that closes, so it cannot outlive us, however we die.

use super::program;
use crate::accounts::token::PlainKey;
use crate::accounts::{node_token, private_file};
use crate::clock::Clock;
use crate::config::farm::Farm;
use crate::db::Database;
use crate::renders::Renders;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::Child;
use tokio_util::sync::CancellationToken;

/// First pause before a new start; doubled with each start that did not last.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// A broken driver is tried once a minute: often enough to heal by itself, too rare to disturb.
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// A node that ran for so long had a good start.
const GOOD_START: Duration = Duration::from_secs(60);
/// Time to say good-bye: nobody waits for what it still renders.
const LEAVE: Duration = Duration::from_secs(3);
/// Longest forwarded log line in bytes; the rest becomes the next line.
const LINE_BYTES_MAX: u64 = 8 * 1024;

/// Of what the node said before it ended, the lines that are told with its end: what it died of is in the last ones. And their length.
const LAST_LINES: usize = 5;
const LAST_LINE_CHARS_MAX: usize = 400;

#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    #[error("the embedded node's token cannot be kept in the data folder")]
    File(#[from] private_file::PrivateFileError),
    #[error("the embedded node's token cannot be stored")]
    Database(#[from] sqlx::Error),
}

/// What the node is started with.
pub struct EmbeddedNode {
    pub farm: Farm,
    /// Where its token is kept.
    pub data_dir: PathBuf,
    /// Where it sends its traces.
    pub traces: Option<String>,
    pub db: Database,
    pub renders: Renders,
    pub clock: Clock,
    /// Where it finds this service.
    pub public: SocketAddr,
}

impl EmbeddedNode {
    /// Starts the node and keeps it running until `stop`; the task ends when the node has.
    pub async fn start(self, stop: CancellationToken) -> Result<tokio::task::JoinHandle<()>, EmbeddedError> {
        let (token_id, token) = self.establish_token().await?;
        // Whatever a node of an earlier run still held: that process ended with the service it belonged to.
        self.renders.gone(&token_id).await?;
        self.renders.local_node(&token_id, format!("http://{}", self.public));
        Ok(tokio::spawn(self.supervise(token_id, token, stop)))
    }

    /// The token of an earlier run, so that its leases are known to be over; a new one at first start or on a new database.
    async fn establish_token(&self) -> Result<(String, PlainKey), EmbeddedError> {
        let path = self.data_dir.join("embedded-node.token");
        let kept = private_file::read(&path)?
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .and_then(|text| PlainKey::parse(node_token::PREFIX, text.trim()));
        if let Some(token) = kept
            && let Some(token_id) = node_token::find(&self.db, &token.hash()).await?
        {
            return Ok((token_id, token));
        }
        let token = PlainKey::generate(node_token::PREFIX, &mut rand::rng());
        let mut tx = self.db.begin().await?;
        let token_id = node_token::create(&mut tx, "embedded", &token, self.clock.now()).await?;
        tx.commit().await?;
        private_file::write(&path, token.reveal().as_bytes())?;
        Ok((token_id, token))
    }

    async fn supervise(self, token_id: String, token: PlainKey, stop: CancellationToken) {
        let mut pause = PAUSE_MIN;
        while !stop.is_cancelled() {
            let started = Instant::now();
            match self.spawn(&token) {
                Ok(child) => {
                    let (ended, last_lines) = watch(child, &stop).await;
                    if let Err(error) = self.renders.gone(&token_id).await {
                        tracing::warn!(
                            error = &error as &dyn std::error::Error,
                            "jobs of the ended node wait for their lease to end"
                        );
                    }
                    if stop.is_cancelled() {
                        return;
                    }
                    metrics::counter!("cyclorama_embedded_node_ends_total").increment(1);
                    let status = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
                    tracing::warn!(
                        status,
                        said = last_lines.join(" | "),
                        "the embedded render node ended; cached pictures are still served"
                    );
                }
                Err(error) => tracing::error!(
                    program = %program::path(&self.farm).display(),
                    error = &error as &dyn std::error::Error,
                    "the embedded render node cannot be started; build it, or set CYCLORAMA_NODE_BINARY, or CYCLORAMA_NODE=none"
                ),
            }
            pause = if started.elapsed() >= GOOD_START { PAUSE_MIN } else { pause };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stop.cancelled() => return,
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    fn spawn(&self, token: &PlainKey) -> std::io::Result<Child> {
        let mut command = program::command(&self.farm);
        if let Some(collector) = &self.traces {
            command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector);
        }
        command
            .args(["run", "--embedded"])
            .env("CYCLORAMA_NODE_URL", format!("http://{}", self.public))
            // The environment of a process is readable by its own user only; arguments are readable by everyone.
            .env("CYCLORAMA_NODE_TOKEN", token.reveal())
            .env("CYCLORAMA_NODE_NAME", "embedded")
            // Its lines end in our log, which has its own form.
            .env("NO_COLOR", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // Ctrl-C in a terminal goes to a whole group: requests in flight would lose the node that works for them.
            .process_group(0)
            .spawn()
    }
}

/// Forwards the node's log until it ends. Told to stop, it gets a moment to leave. How it ended, and what it said last.
async fn watch(mut child: Child, stop: &CancellationToken) -> (std::io::Result<ExitStatus>, Vec<String>) {
    // Kept until the end: the node ends when it closes.
    let stdin = child.stdin.take();
    let last_lines = Arc::new(Mutex::new(VecDeque::new()));
    let log = child.stderr.take().map(|stderr| tokio::spawn(forward(stderr, last_lines.clone())));
    let ended = tokio::select! {
        ended = child.wait() => ended,
        () = stop.cancelled() => {
            ask_to_leave(&child);
            match tokio::time::timeout(LEAVE, child.wait()).await {
                Ok(ended) => ended,
                Err(_) => match child.start_kill() {
                    Ok(()) => child.wait().await,
                    Err(error) => Err(error),
                },
            }
        }
    };
    drop(stdin);
    if let Some(log) = log {
        // A grandchild could hold the pipe open; what it says is not waited for.
        let _ = tokio::time::timeout(Duration::from_millis(200), log).await;
    }
    let last_lines = std::mem::take(&mut *last_lines.lock().unwrap_or_else(PoisonError::into_inner));
    (ended, last_lines.into())
}

fn ask_to_leave(child: &Child) {
    let Some(id) = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw) else {
        return;
    };
    // The child has not been waited for, so the id is still its own.
    if let Err(error) = rustix::process::kill_process(id, rustix::process::Signal::TERM) {
        tracing::warn!(error = &error as &dyn std::error::Error, "the embedded node could not be asked to leave");
    }
}

/// Puts each line of the node into our log, and keeps the last ones.
async fn forward(stderr: impl AsyncRead + Unpin, last_lines: Arc<Mutex<VecDeque<String>>>) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let text = String::from_utf8_lossy(&line);
                let text = text.trim_end();
                if !text.is_empty() {
                    tracing::info!(target: "cyclorama_node", "{text}");
                    let mut kept = last_lines.lock().unwrap_or_else(PoisonError::into_inner);
                    if kept.len() == LAST_LINES {
                        kept.pop_front();
                    }
                    kept.push_back(text.chars().take(LAST_LINE_CHARS_MAX).collect());
                }
            }
        }
    }
}
