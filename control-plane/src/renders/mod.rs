//! The images that exist, what users think of them, and the work that makes them: variants, layers,
//! the job queue, leases and nodes.
//!
//! Charges for images belong to `delivery` and `ledger`; drawing belongs to the node. The
//! invariants (one live lease per vehicle and view, a stale fence changes nothing, a row never
//! names an object that was not fully written) hold for any number of processes on one database.
//!
//! The folders import each other in one direction only: `operator` may use `review`, `review` may
//! use `results`, `results` may use `queue`, and `queue` may use `staging` and `budget`. Modules
//! that several of them share stand beside this file and use none of the folders; `upkeep` stands
//! above them.

mod budget;
mod lane;
mod layers;
mod operator;
mod pace;
mod picture;
mod queue;
mod receiving;
mod results;
mod review;
mod revision;
mod rules;
mod shared_wait;
mod signals;
mod staging;
mod state;
#[cfg(test)]
mod tests;
mod upkeep;

pub use budget::Budget;
pub use lane::{Lane, PREWARM_EVERY, Requester};
pub use operator::{FarmOverview, Hour, Inspection, Node};
pub use pace::Pace;
pub use picture::{RenderError, RenderedImage};
pub use queue::{Existing, JoinError, NodeError, PaintProgress};
pub use results::ResultError;
pub use review::{FlaggedRevision, Opinion, RatedImage, ReviewError, Verdict};
pub use rules::{AtLimit, BudgetScope, Rules};
pub use staging::UploadError;
pub use state::{NodeStatus, colours_of, print_colours};

use crate::clock::{Clock, UnixMs};
use crate::db::Database;
use crate::objects::ObjectStore;
use cyclorama_core::Variant;
use receiving::{Polls, Receiving};
use shared_wait::SharedWait;
use signals::Signals;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// Maximum total duration of a lease, in milliseconds, however often it is renewed: a node whose
/// engine hangs while its heartbeats go on would otherwise keep a job for ever.
const LEASE_MS_MAX: i64 = 15 * 60_000;

/// Default maximum length of the queue, in jobs. A node needs seconds for a job and a request waits
/// two minutes: the request of a job behind this many others would hardly live to get its image.
pub const QUEUE_MAX: i64 = 500;

/// Default pause between two polls of a request that waits.
pub const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Settings of the queue, its nodes and its budget.
#[derive(Debug, Clone)]
pub struct RenderSettings {
    pub lease_seconds: u64,
    pub heartbeat_seconds: u64,
    /// The longest time that a request waits for its image.
    pub render_wait: Duration,
    /// The day's budget unless an operator has set one.
    pub daily_budget_microusd: i64,
    /// The cost that is booked for a cold render on a node without a price.
    pub render_cost_microusd: i64,
    /// The highest price per hour that a joining node may name, in US dollars.
    pub node_usd_per_hour_max: f64,
    /// Maximum number of nodes of one token that may work at once, and of which a row is kept.
    pub nodes_per_token: i64,
    /// Maximum number of requests for work of one token's nodes that may wait at once in a process.
    pub polls_per_token: usize,
    pub rules: Rules,
    /// The beginning of upload addresses, without a slash at the end. The embedded node has its
    /// own, see [`Renders::local_node`].
    pub base_url: String,
    /// Jobs that may wait at once.
    pub queue_max: i64,
    /// Pause between two polls of a request that waits, in case a signal was lost.
    pub look_again: Duration,
}

/// Handle of the image store, the queue and the nodes; cheap to clone.
#[derive(Debug, Clone)]
pub struct Renders(Arc<RendersInner>);

#[derive(Debug)]
struct RendersInner {
    database: Database,
    clock: Clock,
    began_at: UnixMs,
    store: ObjectStore,
    settings: RenderSettings,
    /// Token and base address of the node beside this process.
    local_node: OnceLock<(String, String)>,
    signals: Arc<Signals>,
    /// Measured by the upkeep tasks.
    pace: Mutex<Option<Pace>>,
    mean_cost_microusd: Mutex<Option<i64>>,
    given: Mutex<pace::LaneRates>,
    /// Jobs that this process handed out since the last job of the prewarm lane.
    since_prewarm: AtomicU64,
    receiving: Receiving,
    polls: Polls,
    /// Leases whose result this process is accepting, by job and fence. Their upload addresses
    /// accept nothing meanwhile.
    accepting: Mutex<HashSet<(String, i64)>>,
    /// One task per variant and requester that requests of this process wait for.
    watched: Mutex<HashMap<(Variant, Requester), SharedWait>>,
}

impl Renders {
    pub fn new(database: Database, clock: Clock, store: ObjectStore, settings: RenderSettings) -> Self {
        let polls = Polls::of_one_token(settings.polls_per_token);
        Renders(Arc::new(RendersInner {
            database,
            began_at: clock.now(),
            clock,
            store,
            settings,
            local_node: OnceLock::new(),
            signals: Arc::new(Signals::new()),
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

    /// Sets the token and the base address of nodes beside this process. Such nodes upload to
    /// `base_url`, the address that this process listens on: the public one may lead through a
    /// proxy or a network that is not reachable from here. Only the first call has an effect.
    pub fn local_node(&self, token_id: &str, base_url: String) {
        let _ = self.0.local_node.set((token_id.to_owned(), base_url));
    }

    /// Returns the beginning of upload addresses for a node with this token.
    fn base_url_for(&self, token_id: &str) -> &str {
        match self.0.local_node.get() {
            Some((local, base_url)) if local == token_id => base_url,
            _ => &self.settings().base_url,
        }
    }

    fn settings(&self) -> &RenderSettings {
        &self.0.settings
    }
}

/// The fence named in a report is not that of the job's live lease, so nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the lease is over: the job was given to another node, or has ended")]
pub struct Stale;
