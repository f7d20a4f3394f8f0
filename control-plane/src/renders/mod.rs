//! Which pictures exist, what people think of them, and the work that makes them: variants, layers, the job queue, leases and nodes.
//!
//! What a picture costs is `delivery`'s and `ledger`'s affair; how a node draws is the node's. The invariants (one live lease per
//! vehicle and view, a stale fence changes nothing, a row never names an object that was not fully written) hold for any number of
//! processes on one database.
//!
//! The rooms import each other one way only: `operator` may use `review`, `review` `results`, `results` `queue`, `queue` `staging` and
//! `budget`. What several of them share stands beside this file and uses none of them; `upkeep` stands above them.

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
mod signals;
mod staging;
mod state;
#[cfg(test)]
mod tests;
mod upkeep;
mod watched;

pub use budget::Budget;
pub use lane::{Asker, Lane, PREWARM_EVERY};
pub use operator::{Hour, Inspection, Node, Overview};
pub use pace::Pace;
pub use picture::{Picture, RenderError};
pub use queue::{Existing, JoinError, NodeError, Progress};
pub use results::ResultError;
pub use review::{Flagged, Judged, Opinion, ReviewError, Verdict};
pub use rules::{AtLimit, Rules, Share};
pub use staging::UploadError;
pub use state::{Standing, colours_of, print_colours};

use crate::clock::{Clock, UnixMs};
use crate::db::Database;
use crate::objects::ObjectStore;
use cyclorama_core::Variant;
use receiving::{Polls, Receiving};
use signals::Signals;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use watched::Watched;

/// A lease is renewed for no longer than this in all: a node whose engine hangs while its heart beats would keep a job for ever.
const LEASE_MS_MAX: i64 = 15 * 60_000;

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
    signals: Arc<Signals>,
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
