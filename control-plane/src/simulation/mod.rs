//! A simulation of a farm, for planning one: the real queue (admission, lanes, `turn`s, leases,
//! failures, sweeps) on a database of its own, where clients and nodes are events of a simulated
//! clock.
//!
//! The time that a call of the queue takes on this machine also passes on the simulated clock, one
//! call after the other: as if all processes of the service shared one writer, which is so with
//! SQLite and not with PostgreSQL. No image is made or stored.
//!
//!
//! Why: `docs/decisions/render-queue.md` (What the simulation compares a lane's wait with).

mod ideal;

use self::ideal::Ideal;
use crate::clock::{Clock, UnixMs};
use crate::db::Database;
use crate::objects::ObjectStore;
use crate::renders::{
    AtLimit, JoinError, LOOK_AGAIN, Lane, NodeError, QUEUE_MAX, RenderError, RenderSettings, Renders, Requester,
    ResultError, Rules,
};
use cyclorama_core::wire::{
    Device, FailureKind, HeartbeatRequest, JoinRequest, MachineLoad, NodeState, Pipeline, Unparsed,
};
use cyclorama_core::{BodyClass, Colour, Dimensions, Variant, Vehicle, VehicleKey, VehicleType, View};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

const SECOND_US: i64 = 1_000_000;
const TOKEN: &str = "simulated";

/// Time for which a lost node stays away, in microseconds.
const AWAY_US: i64 = 90 * SECOND_US;

/// Interval at which prewarming fills its part of the queue, as the feeder of batches does, in
/// microseconds.
const AHEAD_EVERY_US: i64 = SECOND_US;

/// A farm and its load.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Scenario {
    pub nodes: usize,
    pub slots_per_node: u32,
    /// Number of requested images, without prewarming.
    pub jobs: u64,
    /// Mean time of a render, in seconds; a single one takes between half and one and a half of it.
    pub render_seconds: f64,
    /// The requested work, as a ratio of the farm's capacity.
    pub load: f64,
    pub accounts: u32,
    /// The ratio of first loads of signed URLs among the requests.
    pub first_load_ratio: f64,
    /// True if a batch of prewarming uses the capacity that is left.
    pub prewarms: bool,
    /// The ratio of renders that fail.
    pub failing_ratio: f64,
    /// How often a node is lost with all its jobs, per hour.
    pub losses_per_node_hour: f64,
    pub seed: u64,
}

/// The result of a simulation. Times of the lanes are simulated, those of calls are this machine's.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SimulationOutcome {
    pub simulated_seconds: f64,
    /// The ratio of busy slots among those of nodes that were present, from the first to the last
    /// arrival.
    pub utilisation: f64,
    /// The utilisation of an ideal queue with the same jobs.
    pub ideal_utilisation: f64,
    pub asked: u64,
    /// Requests answered with 503 at once: the wait would have been too long, or the queue was
    /// full.
    pub refused: u64,
    pub done: u64,
    pub failed: u64,
    /// Jobs that expired because no request waited any more.
    pub lapsed: u64,
    pub leases_lost: u64,
    /// Results whose lease had been lost: another node had the job by then.
    pub done_twice: u64,
    pub waits: BTreeMap<&'static str, Waits>,
    pub calls: BTreeMap<&'static str, Calls>,
}

/// Waits from being queued to being leased, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Waits {
    pub jobs: usize,
    pub median: f64,
    pub p99: f64,
    /// The 99th percentile in an ideal queue with the same rules and jobs, which decides in no
    /// time.
    pub ideal_p99: f64,
}

/// Times of one kind of call of the queue, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Calls {
    pub calls: usize,
    pub median_us: f64,
    pub p99_us: f64,
}

#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    #[error("the queue failed")]
    Render(#[from] RenderError),
    #[error("a node's call failed")]
    Node(#[from] NodeError),
    #[error("a node could not join")]
    Join(#[from] JoinError),
    #[error("a result was not taken")]
    Result(#[from] ResultError),
    #[error("the database failed")]
    Database(#[from] sqlx::Error),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum SimulationEvent {
    Arrival,
    Ahead,
    Done { node: usize, life: u32, job_id: String, fence: i64 },
    Lost { node: usize },
    Back { node: usize },
    Beat,
    Sweep,
}

struct SimulatedNode {
    id: String,
    /// Incremented whenever the node is lost: jobs of an earlier life are lost.
    life: u32,
    is_there: bool,
    free: u32,
}

/// A job as the simulation knows it.
struct SimulatedJob {
    requester: Requester,
    queued_us: i64,
    leased_us: Option<i64>,
    service_us: i64,
}

struct Simulation {
    scenario: Scenario,
    renders: Renders,
    now_ms: &'static AtomicI64,
    random: StdRng,
    events: BinaryHeap<Reverse<(i64, u64, SimulationEvent)>>,
    sequence: u64,
    /// The time at which the one writer is free again, in microseconds.
    writer_free_us: i64,
    nodes: Vec<SimulatedNode>,
    /// Nodes with a free slot, those first that have waited longest.
    idle: VecDeque<usize>,
    /// Jobs by the vehicle's model, which is unique.
    known: HashMap<String, SimulatedJob>,
    models: u64,
    ahead_waiting: i64,
    calls: BTreeMap<&'static str, Vec<f64>>,
    busy_us: i64,
    slots_us: i64,
    counted_to_us: i64,
    busy_slots: i64,
    asked: u64,
    refused: u64,
    done: u64,
    done_twice: u64,
    leases_lost: u64,
    /// The times at which nodes were lost, in microseconds.
    losses_us: Vec<i64>,
}

/// Runs a scenario on an empty database.
pub async fn run(
    database: Database,
    store: ObjectStore,
    scenario: Scenario,
) -> Result<SimulationOutcome, SimulationError> {
    let start = UnixMs(1_800_000_000_000);
    let (clock, now_ms) = Clock::simulated(start);
    let settings = RenderSettings {
        lease_seconds: 30,
        heartbeat_seconds: 5,
        render_wait: Duration::from_secs(120),
        daily_budget_microusd: i64::MAX / 1_000_000,
        render_cost_microusd: 2_000,
        node_usd_per_hour_max: 100.0,
        nodes_per_token: i64::MAX,
        polls_per_token: usize::MAX >> 3,
        rules: Rules {
            prewarm_percent: 100,
            example_percent: 100,
            account_percent: 100,
            free_percent: 100,
            notify_percents: Vec::new(),
            at_limit: AtLimit::Finish,
        },
        base_url: "http://simulated".to_owned(),
        queue_max: QUEUE_MAX,
        look_again: LOOK_AGAIN,
    };
    let mut simulation = Simulation {
        renders: Renders::new(database, clock, store, settings),
        now_ms,
        random: StdRng::seed_from_u64(scenario.seed),
        events: BinaryHeap::new(),
        sequence: 0,
        writer_free_us: 0,
        nodes: Vec::new(),
        idle: VecDeque::new(),
        known: HashMap::new(),
        models: 0,
        ahead_waiting: 0,
        calls: BTreeMap::new(),
        busy_us: 0,
        slots_us: 0,
        counted_to_us: 0,
        busy_slots: 0,
        asked: 0,
        refused: 0,
        done: 0,
        done_twice: 0,
        leases_lost: 0,
        losses_us: Vec::new(),
        scenario,
    };
    simulation.begin().await?;
    simulation.go_on(start).await?;
    simulation.outcome().await
}

impl Simulation {
    async fn begin(&mut self) -> Result<(), SimulationError> {
        for node in 0..self.scenario.nodes {
            let id = self.join().await?;
            self.nodes.push(SimulatedNode { id, life: 0, is_there: true, free: self.scenario.slots_per_node });
            self.idle.push_back(node);
            self.plan_loss(node, 0);
        }
        self.plan(0, SimulationEvent::Arrival);
        self.plan(0, SimulationEvent::Beat);
        self.plan(0, SimulationEvent::Sweep);
        if self.scenario.prewarms {
            self.plan(0, SimulationEvent::Ahead);
        }
        Ok(())
    }

    /// Processes events until all requested jobs have ended.
    async fn go_on(&mut self, start: UnixMs) -> Result<(), SimulationError> {
        let mut live = i64::MAX;
        while let Some(Reverse((at_us, _, event))) = self.events.pop() {
            let at_us = at_us.max(self.writer_free_us);
            self.now_ms.store(start.0 + at_us / 1000, Ordering::Relaxed);
            let all_came = self.asked >= self.scenario.jobs;
            match event {
                SimulationEvent::Arrival if all_came => {}
                SimulationEvent::Arrival => self.arrive(at_us).await?,
                SimulationEvent::Ahead if all_came => {}
                SimulationEvent::Ahead => self.ahead(at_us).await?,
                SimulationEvent::Done { node, life, job_id, fence } => {
                    self.end(at_us, node, life, &job_id, fence).await?
                }
                SimulationEvent::Lost { node } => self.lose(at_us, node).await?,
                SimulationEvent::Back { node } => self.come_back(at_us, node).await?,
                SimulationEvent::Beat => {
                    self.beat().await?;
                    self.renders.measure_pace().await?;
                    self.plan(at_us + 5 * SECOND_US, SimulationEvent::Beat);
                }
                SimulationEvent::Sweep => {
                    self.renders.sweep().await?;
                    // Jobs that were taken back go to idle nodes.
                    self.wake(at_us, usize::MAX).await?;
                    if all_came {
                        let backlog = self.renders.backlog().await?;
                        live = backlog.queued + backlog.leased;
                    }
                    self.plan(at_us + SECOND_US, SimulationEvent::Sweep);
                }
            }
            if all_came && live == 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn arrive(&mut self, at_us: i64) -> Result<(), SimulationError> {
        let lane = match self.random.random_bool(self.scenario.first_load_ratio) {
            true => Lane::FirstLoad,
            false => Lane::Interactive,
        };
        // A tenth of the accounts sends half of the requests.
        let accounts = self.scenario.accounts.max(1);
        let many = accounts.div_ceil(10);
        let account = if self.random.random_bool(0.5) {
            self.random.random_range(0..many)
        } else {
            self.random.random_range(0..accounts)
        };
        self.asked += 1;
        let requester = Requester::account(lane, &account.to_string());
        if self.want(at_us, &requester, 120).await? {
            self.wake(self.writer_free_us.max(at_us), 1).await?;
        } else {
            self.refused += 1;
        }
        let slots = self.scenario.nodes as f64 * f64::from(self.scenario.slots_per_node);
        let rate = slots / self.scenario.render_seconds * self.scenario.load;
        let gap_seconds = -(1.0 - self.random.random::<f64>()).ln() / rate;
        self.plan(at_us + (gap_seconds * SECOND_US as f64) as i64, SimulationEvent::Arrival);
        Ok(())
    }

    async fn ahead(&mut self, at_us: i64) -> Result<(), SimulationError> {
        while self.ahead_waiting < self.renders.ahead_max() {
            if !self.want(self.writer_free_us.max(at_us), &Requester::without_account(Lane::Prewarm), 3600).await? {
                break;
            }
            self.ahead_waiting += 1;
            self.wake(self.writer_free_us, 1).await?;
        }
        self.plan(at_us + AHEAD_EVERY_US, SimulationEvent::Ahead);
        Ok(())
    }

    /// Enqueues a new image, and returns true if it was queued.
    async fn want(&mut self, at_us: i64, requester: &Requester, seconds: i64) -> Result<bool, SimulationError> {
        self.models += 1;
        let vehicle = Vehicle {
            make: "simulated".to_owned(),
            model: format!("m{}", self.models),
            year: 2026,
            vehicle_type: VehicleType::ALL[0],
            body: BodyClass::Sedan,
            dimensions: Dimensions {
                length_mm: 4500,
                width_mm: 1800,
                height_mm: 1450,
                wheelbase_mm: 2700,
                front_track_mm: 1550,
            },
        };
        let key =
            VehicleKey { make: vehicle.make.clone(), model: vehicle.model.clone(), body: None, year: vehicle.year };
        let variant = Variant::new(key, View::Side, Colour::Red.into());
        let deadline_ms = self.now_ms.load(Ordering::Relaxed) + seconds * 1000;
        let began = Instant::now();
        let wanted = self.renders.request(&vehicle, &variant, requester, deadline_ms).await;
        self.took("ask", at_us, began);
        match wanted {
            Ok(_) => {}
            Err(RenderError::AtCapacity { .. }) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let service_us = (self.scenario.render_seconds * self.random.random_range(0.5..1.5) * SECOND_US as f64) as i64;
        let known = SimulatedJob { requester: requester.clone(), queued_us: at_us, leased_us: None, service_us };
        self.known.insert(vehicle.model, known);
        Ok(true)
    }

    /// Lets up to `most` idle nodes request work.
    async fn wake(&mut self, at_us: i64, most: usize) -> Result<(), SimulationError> {
        for _ in 0..most.min(self.idle.len()) {
            let Some(node) = self.idle.pop_front() else { break };
            // The node may have been given jobs since it began to wait.
            if !self.nodes[node].is_there || self.nodes[node].free == 0 {
                continue;
            }
            if !self.ask_for_work(self.writer_free_us.max(at_us), node).await? {
                self.idle.push_back(node);
                // There is no job for this node, and as a rule none for the others.
                break;
            }
            if self.nodes[node].free > 0 {
                self.idle.push_front(node);
            }
        }
        Ok(())
    }

    /// Lets a node request work, and returns true if it got some.
    async fn ask_for_work(&mut self, at_us: i64, node: usize) -> Result<bool, SimulationError> {
        let began = Instant::now();
        let jobs = self.renders.work(TOKEN, &self.nodes[node].id, 1, 0, std::future::pending()).await?;
        self.took("lease", at_us, began);
        let now_us = self.writer_free_us;
        self.count_to(now_us);
        for job in &jobs {
            self.nodes[node].free -= 1;
            self.busy_slots += 1;
            let Some(known) = self.known.get_mut(&job.vehicle.model) else { continue };
            if known.leased_us.is_none() && known.requester.lane == Lane::Prewarm {
                self.ahead_waiting -= 1;
            }
            known.leased_us.get_or_insert(now_us);
            let (life, at_us) = (self.nodes[node].life, now_us + known.service_us);
            self.plan(at_us, SimulationEvent::Done { node, life, job_id: job.job_id.clone(), fence: job.fence });
        }
        Ok(!jobs.is_empty())
    }

    async fn end(
        &mut self,
        at_us: i64,
        node: usize,
        life: u32,
        job_id: &str,
        fence: i64,
    ) -> Result<(), SimulationError> {
        if self.nodes[node].life != life {
            return Ok(());
        }
        let fails = self.random.random_bool(self.scenario.failing_ratio);
        let began = Instant::now();
        if fails {
            let _ = self.renders.fail(TOKEN, job_id, fence, FailureKind::Internal, "simulated").await?;
        } else if let Err(error) = self.renders.accept_without_objects(TOKEN, job_id, fence).await {
            // The lease was lost meanwhile, because the node was away too long.
            match error {
                ResultError::Stale(_) => self.done_twice += 1,
                other => return Err(other.into()),
            }
        } else {
            self.done += 1;
        }
        self.took("result", at_us, began);
        self.count_to(self.writer_free_us);
        self.busy_slots -= 1;
        self.nodes[node].free += 1;
        if !self.ask_for_work(self.writer_free_us, node).await? {
            self.idle.push_back(node);
        }
        Ok(())
    }

    /// Sends the heartbeats of all present nodes. They renew no lease: a render takes less time
    /// than one.
    async fn beat(&self) -> Result<(), SimulationError> {
        for node in self.nodes.iter().filter(|node| node.is_there) {
            let report = HeartbeatRequest {
                state: NodeState::Ready,
                jobs: Vec::new(),
                device: Unparsed::from(&MachineLoad::default()),
            };
            self.renders.heartbeat(TOKEN, &node.id, &report).await?;
        }
        Ok(())
    }

    async fn lose(&mut self, at_us: i64, node: usize) -> Result<(), SimulationError> {
        self.count_to(at_us);
        let lost = &mut self.nodes[node];
        let held = i64::from(self.scenario.slots_per_node - lost.free);
        (lost.is_there, lost.life, lost.free) = (false, lost.life + 1, self.scenario.slots_per_node);
        self.busy_slots -= held;
        self.leases_lost += held as u64;
        self.losses_us.push(at_us);
        self.plan(at_us + AWAY_US, SimulationEvent::Back { node });
        Ok(())
    }

    async fn come_back(&mut self, at_us: i64, node: usize) -> Result<(), SimulationError> {
        self.count_to(at_us);
        self.nodes[node].id = self.join().await?;
        self.nodes[node].is_there = true;
        self.plan_loss(node, at_us);
        self.idle.retain(|idle| *idle != node);
        self.idle.push_front(node);
        self.wake(at_us, 1).await
    }

    async fn join(&mut self) -> Result<String, SimulationError> {
        let request = JoinRequest {
            name: "simulated".to_owned(),
            version: String::new(),
            slots: self.scenario.slots_per_node,
            batch_max: 1,
            pipelines: vec![Pipeline { id: "simulated".to_owned(), digest: String::new() }],
            paints: Vec::new(),
            device: Device::default(),
            usd_per_hour: None,
        };
        Ok(self.renders.join(TOKEN, &request).await?)
    }

    fn plan(&mut self, at_us: i64, event: SimulationEvent) {
        self.sequence += 1;
        self.events.push(Reverse((at_us, self.sequence, event)));
    }

    fn plan_loss(&mut self, node: usize, at_us: i64) {
        if self.scenario.losses_per_node_hour > 0.0 {
            let hours = -(1.0 - self.random.random::<f64>()).ln() / self.scenario.losses_per_node_hour;
            self.plan(at_us + (hours * 3600.0 * SECOND_US as f64) as i64, SimulationEvent::Lost { node });
        }
    }

    /// Books the time that a call took on this machine. The writer was busy with the call from
    /// `at_us` on.
    fn took(&mut self, call: &'static str, at_us: i64, began: Instant) {
        let took_us = began.elapsed().as_secs_f64() * 1e6;
        self.calls.entry(call).or_default().push(took_us);
        self.writer_free_us = self.writer_free_us.max(at_us) + took_us as i64;
    }

    /// Adds up how busy the slots were, until the last arrival.
    fn count_to(&mut self, at_us: i64) {
        let passed_us = (at_us - self.counted_to_us).max(0);
        self.counted_to_us = self.counted_to_us.max(at_us);
        if self.asked < self.scenario.jobs {
            let there = self.nodes.iter().filter(|node| node.is_there).count() as i64;
            self.busy_us += self.busy_slots * passed_us;
            self.slots_us += there * i64::from(self.scenario.slots_per_node) * passed_us;
        }
    }

    async fn outcome(self) -> Result<SimulationOutcome, SimulationError> {
        let mut failed = 0;
        let mut lapsed = 0;
        for (state, jobs) in self.renders.jobs_by_state().await? {
            match state.as_str() {
                "failed" => failed = jobs,
                "lapsed" => lapsed = jobs,
                _ => {}
            }
        }
        let slots = self.scenario.nodes * self.scenario.slots_per_node as usize;
        let lost = self.losses_us.iter().flat_map(|at_us| {
            let slot = Ideal { requester: None, queued_us: *at_us, service_us: AWAY_US };
            std::iter::repeat_n(slot, self.scenario.slots_per_node as usize)
        });
        let given = self.known.values().filter(|job| job.leased_us.is_some()).map(|job| Ideal {
            requester: Some(job.requester.clone()),
            queued_us: job.queued_us,
            service_us: job.service_us,
        });
        let ideal = ideal::waits(given.chain(lost).collect(), slots);
        let mut waits = BTreeMap::new();
        for lane in Lane::ALL {
            let mut seconds: Vec<f64> = self
                .known
                .values()
                .filter(|job| job.requester.lane == lane)
                .filter_map(|job| job.leased_us.map(|leased_us| (leased_us - job.queued_us) as f64 / 1e6))
                .collect();
            if seconds.is_empty() {
                continue;
            }
            let ideal_p99 = ideal.get(&lane).map_or(0.0, |seconds| quantile(&mut seconds.clone(), 0.99));
            let (median, p99) = (quantile(&mut seconds, 0.5), quantile(&mut seconds, 0.99));
            waits.insert(lane.as_str(), Waits { jobs: seconds.len(), median, p99, ideal_p99 });
        }
        let calls = self.calls.into_iter().map(|(call, mut times)| {
            let (median_us, p99_us) = (quantile(&mut times, 0.5), quantile(&mut times, 0.99));
            (call, Calls { calls: times.len(), median_us, p99_us })
        });
        Ok(SimulationOutcome {
            simulated_seconds: self.counted_to_us as f64 / 1e6,
            utilisation: self.busy_us as f64 / self.slots_us.max(1) as f64,
            ideal_utilisation: if self.scenario.prewarms { 1.0 } else { self.scenario.load.min(1.0) },
            asked: self.asked,
            refused: self.refused,
            done: self.done,
            failed,
            lapsed,
            leases_lost: self.leases_lost,
            done_twice: self.done_twice,
            waits,
            calls: calls.collect(),
        })
    }
}

/// Returns a quantile of the values, or 0 if there are none.
fn quantile(values: &mut [f64], ratio: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (values.len() as f64 * ratio) as usize;
    values.get(place.min(values.len().saturating_sub(1))).copied().unwrap_or_default()
}
