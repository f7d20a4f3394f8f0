//! Jobs as a node holds them.

use cyclorama_core::traces::Trace;
use cyclorama_core::wire::{Job, JobKind};
use cyclorama_node::held_jobs::HeldJob;
use cyclorama_node::renderer::Order;
use std::sync::Arc;

/// The job that an order is for.
pub fn held(order: &Order) -> Arc<HeldJob> {
    let job = Job {
        job_id: order.vehicle.key(),
        fence: 1,
        deadline: i64::MAX,
        attempt: 1,
        kind: JobKind::Render,
        vehicle: order.vehicle.clone(),
        view: order.view,
        colours: order.colours.clone(),
        pipeline: order.pipeline.clone(),
        seed: order.seed,
        uploads: Vec::new(),
        layers_url: None,
        layers_sha256: None,
        traceparent: None,
    };
    Arc::new(HeldJob::new(&job, Trace::none()))
}
