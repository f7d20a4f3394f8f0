//! The embedded node: one `cyclorama-node` process beside the service, which is
//! restarted when it ends.
//!
//! It uses the same protocol as a node elsewhere, so that a crash of its driver costs a render,
//! never the service. It holds the other end of a pipe and ends when the pipe closes, so that it
//! cannot outlive the service, however the service ends.

use super::program;
use crate::accounts::token::PlainKey;
use crate::accounts::{node_token, private_file};
use crate::clock::Clock;
use crate::config::farm::FarmSettings;
use crate::db::Database;
use crate::renders::Renders;
use cyclorama_supervisor::{Child, Event, Settings, StopBy, Supervisor};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const SETTINGS: Settings = Settings {
    pause_min: Duration::from_secs(1),
    // A broken driver is tried once a minute: often enough to recover by itself,
    // too rarely to disturb.
    pause_max: Duration::from_secs(60),
    // There is only one node, so its starts cannot coincide with those of others.
    random: || 1.0,
    good_start: Duration::from_secs(60),
    // The node gets this time to sign off. It cannot finish its render, which no request waits
    // for any more.
    stop_by: StopBy::Signal { kill_after: Duration::from_secs(3) },
};
/// Maximum length of a forwarded log line, in bytes; the rest becomes the next line.
const LINE_BYTES_MAX: u64 = 8 * 1024;

/// Number of the node's last log lines that are logged with its end, and their maximum length in
/// characters. The reason for its end is in the last lines.
const LAST_LINES: usize = 5;
const LAST_LINE_CHARS_MAX: usize = 400;

#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    #[error("the embedded node's token cannot be kept in the data folder")]
    File(#[from] private_file::PrivateFileError),
    #[error("the embedded node's token cannot be stored")]
    Database(#[from] sqlx::Error),
}

/// The settings and services with which the node is started.
pub struct EmbeddedNode {
    pub farm: FarmSettings,
    /// Folder in which its token is stored.
    pub data_dir: PathBuf,
    /// URL to which it sends its traces.
    pub traces: Option<String>,
    pub db: Database,
    pub renders: Renders,
    pub clock: Clock,
    /// Address at which it reaches this service.
    pub public: SocketAddr,
}

impl EmbeddedNode {
    /// Starts the node and keeps it running until `stop` is cancelled. The returned task ends
    /// when the node has ended.
    pub async fn start(self, stop: CancellationToken) -> Result<tokio::task::JoinHandle<()>, EmbeddedError> {
        let (token_id, token) = self.establish_token().await?;
        // Release what a node of an earlier run still held: that process ended
        // together with its service.
        self.renders.disconnected(&token_id).await?;
        self.renders.local_node(&token_id, format!("http://{}", self.public));
        Ok(tokio::spawn(self.supervise(token_id, token, stop)))
    }

    /// Returns the token of an earlier run, so that its leases are known to be over. Creates a new
    /// one at the first start or with a new database.
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
        let mut supervisor = Supervisor::new(SETTINGS, stop.clone(), || self.spawn(&token));
        let mut last_lines = LastLines::default();
        while let Some(event) = supervisor.next().await {
            match event {
                Event::Started { log, .. } => {
                    last_lines = LastLines::default();
                    if let Err(error) = log.pass_on(LINE_BYTES_MAX, passed_on(last_lines.clone())) {
                        tracing::warn!(
                            error = &error as &dyn std::error::Error,
                            "the log of the embedded render node could not be read"
                        );
                    }
                }
                Event::NotStarted(error) => tracing::error!(
                    program = %program::path(&self.farm).display(),
                    error = &error as &dyn std::error::Error,
                    "the embedded render node could not be started; build it, or set CYCLORAMA_NODE_BINARY, or CYCLORAMA_NODE=none"
                ),
                Event::StartedWell => {}
                Event::NotAsked(error) => tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the embedded render node could not be asked to leave"
                ),
                Event::Ended { status, .. } => self.ended(&token_id, &status, &last_lines, &stop).await,
            }
        }
    }

    async fn ended(&self, token_id: &str, status: &str, last_lines: &LastLines, stop: &CancellationToken) {
        if let Err(error) = self.renders.disconnected(token_id).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the jobs of an ended render node wait until their leases expire"
            );
        }
        if stop.is_cancelled() {
            return;
        }
        metrics::counter!("cyclorama_embedded_node_ends_total").increment(1);
        tracing::warn!(
            status,
            said = last_lines.take().join(" | "),
            "the embedded render node ended; stored images are still delivered"
        );
    }

    fn spawn(&self, token: &PlainKey) -> std::io::Result<Child> {
        let mut command = program::command(&self.farm);
        if let Some(collector) = &self.traces {
            command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector);
        }
        command
            .args(["run", "--embedded"])
            .env("CYCLORAMA_NODE_URL", format!("http://{}", self.public))
            // Only its own user can read the environment of a process; everyone
            // can read its arguments.
            .env("CYCLORAMA_NODE_TOKEN", token.reveal())
            .env("CYCLORAMA_NODE_NAME", "embedded")
            // Its lines go to our log, which has its own format.
            .env("NO_COLOR", "1")
            .stdout(Stdio::null())
            // Ctrl-C in a terminal goes to the whole process group, and requests in flight would
            // lose the node that works for them.
            .process_group(0);
        Child::spawn(&mut command)
    }
}

/// The last log lines of one node.
#[derive(Clone, Default)]
struct LastLines(Arc<Mutex<VecDeque<String>>>);

impl LastLines {
    fn push(&self, line: &str) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == LAST_LINES {
            kept.pop_front();
        }
        kept.push_back(line.chars().take(LAST_LINE_CHARS_MAX).collect());
    }

    /// Removes all lines and returns them in order.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into()
    }
}

/// Writes each line of the node to our log, and keeps the last ones.
fn passed_on(last_lines: LastLines) -> impl FnMut(&str) {
    move |line| {
        if !line.is_empty() {
            tracing::info!(target: "cyclorama_node", "{line}");
            last_lines.push(line);
        }
    }
}
