//! Heartbeats, from a thread and a runtime of their own, so that a node that is busy on its last
//! core still keeps its leases.

use crate::gpu::Meter;
use crate::resident_memory::resident_mb;
use crate::service::control_plane::{CallError, ControlPlane};
use crate::service::held_jobs::HeldJobs;
use cyclorama_core::wire::{HeartbeatRequest, MachineLoad, NodeOrder, NodeState, Unparsed};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Membership of one control plane, from one join to the next.
#[derive(Debug, Clone)]
pub struct Membership {
    pub node_id: String,
    pub heartbeat: Duration,
}

/// State that the heartbeat shares with the rest of the node.
#[derive(Clone)]
pub struct Heartbeat {
    /// Set by the agent when it has joined. Cleared here when the control plane does not know the
    /// node any more, which makes the agent join again.
    pub membership: watch::Sender<Option<Membership>>,
    /// The control plane's order to this node.
    pub order: watch::Sender<NodeOrder>,
    /// Set by the agent when the process is about to end.
    pub leaving: watch::Sender<bool>,
    pub jobs: HeldJobs,
    /// False while the engine cannot render.
    well: watch::Receiver<bool>,
    meter: Arc<Meter>,
}

impl Heartbeat {
    pub fn new(jobs: HeldJobs, well: watch::Receiver<bool>, meter: Arc<Meter>) -> Self {
        Self {
            membership: watch::Sender::new(None),
            order: watch::Sender::new(NodeOrder::Active),
            leaving: watch::Sender::new(false),
            jobs,
            well,
            meter,
        }
    }

    /// Starts the thread. It sends heartbeats while there is a membership, until the process ends.
    pub fn start(&self, control_plane: ControlPlane) -> std::io::Result<()> {
        let heart = self.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let beat = move || runtime.block_on(heart.beat(&control_plane));
        std::thread::Builder::new().name("heart".to_owned()).spawn(beat).map(drop)
    }

    async fn beat(&self, control_plane: &ControlPlane) {
        let mut membership = self.membership.subscribe();
        let mut silent = false;
        loop {
            let member = membership.borrow_and_update().clone();
            let Some(member) = member else {
                if membership.changed().await.is_err() {
                    return;
                }
                continue;
            };
            match control_plane.heartbeat(&member.node_id, &self.report(), member.heartbeat).await {
                Ok(answer) => {
                    if std::mem::take(&mut silent) {
                        tracing::info!("the control plane answers again");
                    }
                    self.jobs.cancel(&answer.cancel);
                    self.order.send_if_modified(|order| std::mem::replace(order, answer.state) != answer.state);
                }
                Err(CallError::Unknown { detail }) => {
                    tracing::warn!(detail, "the control plane no longer knows this node");
                    // The agent may have joined again while this call was under way.
                    self.membership.send_if_modified(|now| {
                        let same = now.as_ref().is_some_and(|now| now.node_id == member.node_id);
                        if same {
                            *now = None;
                        }
                        same
                    });
                    continue;
                }
                Err(error) => {
                    if !std::mem::replace(&mut silent, true) {
                        tracing::warn!(error = &error as &dyn std::error::Error, "a heartbeat failed");
                    }
                }
            }
            tokio::select! {
                () = tokio::time::sleep(member.heartbeat) => {}
                _ = membership.changed() => {}
            }
        }
    }

    fn report(&self) -> HeartbeatRequest {
        // Read once, because state and jobs must agree.
        let jobs = self.jobs.progress();
        let state = if *self.leaving.borrow() {
            NodeState::Draining
        } else if !*self.well.borrow() {
            NodeState::Unhealthy
        } else if jobs.is_empty() {
            NodeState::Ready
        } else {
            NodeState::Busy
        };
        let load = MachineLoad { process_memory_mb: resident_mb(), card: self.meter.read() };
        HeartbeatRequest { state, jobs, device: Unparsed::from(&load) }
    }
}
