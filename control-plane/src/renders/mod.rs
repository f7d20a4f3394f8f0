//! Which pictures exist, what people think of them, and the work that makes them: variants, layers, the job queue, leases and nodes.
//!
//! What a picture costs is `delivery`'s and `ledger`'s affair; how a node draws is the node's. The invariants (one live lease per
//! vehicle and view, a stale fence changes nothing, a row never names an object that was not fully written) hold for any number of
//! processes on one database. Only `queue` knows which database it is.

mod abandoned;
mod ahead;
mod budget;
mod candidate;
mod cost;
mod fault;
mod feedback;
mod inspect;
mod joining;
mod lane;
mod layers;
mod lease;
mod looks;
mod nodes;
mod order;
mod overview;
mod pace;
mod paints;
mod publish;
mod queue;
mod receiving;
mod result;
mod review;
mod signals;
pub mod simulation;
mod staging;
mod state;
#[cfg(test)]
mod tests;
mod thresholds;
mod uploads;
mod wait;

pub use ahead::{Existing, Progress};
pub use budget::{Budget, Rules, Share};
pub use cost::AtLimit;
pub use feedback::{Judged, Opinion, Verdict};
pub use inspect::Inspection;
pub use joining::JoinError;
pub use lane::{Asker, Lane};
pub use nodes::{Node, NodeError};
pub use overview::{Hour, Overview};
pub use pace::Pace;
pub use result::ResultError;
pub use review::{Flagged, ReviewError};
pub use state::{RenderState, Standing, colours_of, print_colours};
pub use uploads::UploadError;

use crate::clock::{self, Clock, UnixMs};
use crate::db::Database;
use crate::objects::ObjectStore;
use cyclorama_core::Variant;
use receiving::{Polls, Receiving};
use signals::Signals;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use wait::Watched;

/// Attempts at a job before its waiters are told that it failed.
const ATTEMPTS_MAX: i64 = 3;

/// Leases of a job in all, with those that ended because the service itself was restarted and so count as no attempt: a job that takes
/// the service down with it ends as well.
const LEASES_MAX: i64 = 12;

/// The usual bound of the queue. A node needs seconds for a job and a request waits two minutes: what is queued behind this many
/// would hardly live to see its picture.
pub const QUEUE_MAX: i64 = 500;

/// The usual pause between two looks of somebody who waits.
pub const LOOK_AGAIN: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
pub struct Settings {
    pub lease_seconds: u64,
    pub heartbeat_seconds: u64,
    /// How long a request waits for its picture.
    pub render_wait: Duration,
    /// The day's budget unless an operator has set one.
    pub daily_budget_microusd: i64,
    /// What a cold render is counted as on a node without a price.
    pub render_cost_microusd: i64,
    /// What the hour of a node may cost that joins, in US dollars.
    pub node_usd_per_hour_max: f64,
    /// Nodes of one token that may be at work at once, and of which a row is kept.
    pub nodes_per_token: i64,
    /// Their requests for work that may wait at once in a process.
    pub polls_per_token: usize,
    pub rules: Rules,
    /// In front of upload addresses; no slash at the end. The embedded node has its own, see [`Renders::local_node`].
    pub base_url: String,
    /// Jobs that may wait at once.
    pub queue_max: i64,
    /// How often whoever waits looks by himself, should a signal have been lost.
    pub look_again: Duration,
}

/// A picture that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    pub render_id: String,
    pub revision: i64,
    pub master_sha256: String,
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum RenderError {
    #[error("the render failed ({kind}): {detail}")]
    Failed { kind: String, detail: String },
    #[error("no picture within the time a request waits")]
    TooLate,
    /// The queue is full, or would take longer than the request may wait. Then it makes sense to come back.
    #[error("too many renders are waiting")]
    AtCapacity { retry_after_seconds: u64 },
    #[error("the day's render budget is spent")]
    BudgetSpent {
        reset_at_ms: i64,
        /// What of it is spent.
        share: Share,
    },
    #[error("the database does not answer")]
    Database(#[source] Arc<sqlx::Error>),
}

impl From<sqlx::Error> for RenderError {
    fn from(error: sqlx::Error) -> Self {
        RenderError::Database(Arc::new(error))
    }
}

/// Handle of everything above; cheap to clone.
#[derive(Debug, Clone)]
pub struct Renders(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    database: Database,
    clock: Clock,
    began_at: UnixMs,
    store: ObjectStore,
    settings: Settings,
    /// Token and address of the node beside this process.
    local_node: OnceLock<(String, String)>,
    signals: Signals,
    /// Measured by the sweeper.
    pace: Mutex<Option<Pace>>,
    mean_cost_microusd: Mutex<Option<i64>>,
    given: Mutex<pace::Given>,
    /// Jobs handed out by this process since the last one of prewarming.
    since_prewarm: AtomicU64,
    receiving: Receiving,
    polls: Polls,
    /// Leases whose result is being accepted here, by job and fence: their upload addresses take nothing meanwhile.
    accepting: Mutex<HashSet<(String, i64)>>,
    /// One task per variant and asker that requests of this process wait for.
    watched: Mutex<HashMap<(Variant, Asker), Watched>>,
}

impl Renders {
    pub fn new(database: Database, clock: Clock, store: ObjectStore, settings: Settings) -> Self {
        let polls = Polls::of_one_token(settings.polls_per_token);
        Renders(Arc::new(Shared {
            database,
            began_at: clock.now(),
            clock,
            store,
            settings,
            local_node: OnceLock::new(),
            signals: Signals::new(),
            pace: Mutex::default(),
            mean_cost_microusd: Mutex::default(),
            given: Mutex::default(),
            since_prewarm: AtomicU64::new(0),
            receiving: Receiving::default(),
            polls,
            accepting: Mutex::default(),
            watched: Mutex::default(),
        }))
    }

    /// Takes back lost leases and drops jobs nobody waits for, once a second, and measures the farm's pace and costs, until the task is
    /// aborted. A job that waits a second longer after thirty seconds of silence is no loss.
    /// All that is done beside requests, until it is aborted. `custom_paints_kept`: pictures in paints that no preset names.
    pub fn start_sweepers(&self, custom_paints_kept: i64) -> [tokio::task::JoinHandle<()>; 3] {
        [self.start_sweeper(), self.start_staging_sweeper(), self.start_paint_sweeper(custom_paints_kept)]
    }

    fn start_sweeper(&self) -> tokio::task::JoinHandle<()> {
        let renders = self.clone();
        tokio::spawn(async move {
            let mut ticks = clock::ticks(Duration::from_secs(1));
            let mut measured: Option<Instant> = None;
            loop {
                ticks.tick().await;
                if measured.is_none_or(|at| at.elapsed() >= pace::MEASURED_EVERY) {
                    for measured in [renders.measure_pace().await, renders.measure_cost().await] {
                        if let Err(error) = measured {
                            tracing::warn!(
                                error = &error as &dyn std::error::Error,
                                "the farm's pace could not be measured"
                            );
                        }
                    }
                    if let Err(error) = renders.forget_lapsed().await {
                        tracing::warn!(error = &error as &dyn std::error::Error, "lapsed jobs could not be forgotten");
                    }
                    measured = Some(Instant::now());
                }
                if let Err(error) = renders.sweep().await {
                    tracing::warn!(error = &error as &dyn std::error::Error, "the render queue could not be swept");
                }
            }
        })
    }

    /// Nodes with this token run beside this process and upload to `base_url`, the address it listens on: the public one may lead
    /// through a proxy or a network that is not reachable from here. Set once.
    pub fn local_node(&self, token_id: &str, base_url: String) {
        let _ = self.0.local_node.set((token_id.to_owned(), base_url));
    }

    /// What upload addresses for a node with this token begin with.
    fn base_url_for(&self, token_id: &str) -> &str {
        match self.0.local_node.get() {
            Some((local, base_url)) if local == token_id => base_url,
            _ => &self.settings().base_url,
        }
    }

    fn settings(&self) -> &Settings {
        &self.0.settings
    }
}

/// The fence named in a report is not the job's live lease: nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the lease is over: the job was given to another node, or has ended")]
pub struct Stale;

/// The noise a vehicle's renders start from: the same for every view, another for every revision.
///
/// 53 bits, so that the number survives JSON readers that know only floating point.
fn seed(vehicle_key: &str, revision: i64) -> i64 {
    use sha2::{Digest, Sha256};
    let digest =
        Sha256::new().chain_update(vehicle_key).chain_update(b"\0").chain_update(revision.to_be_bytes()).finalize();
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    (u64::from_be_bytes(bytes) >> 11) as i64
}
