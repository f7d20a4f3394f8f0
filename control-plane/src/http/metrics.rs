//! `GET /metrics` for Prometheus: the metrics of this process, and the
//! state of the farm from the database.
//!
//! The farm's metrics are read from the database at each scrape and written with a recorder that
//! lives for one scrape, so that an empty lane, a node that left, or an unreachable database leaves
//! no stale metric behind. Every process of a farm exports the same numbers for the farm: alert
//! rules take the maximum. No token is needed, because scrapers have none.

use super::node::jobs::receipt;
use crate::app::App;
use crate::money::usd_from;
use crate::renders::{Budget, FarmOverview, Node, NodeStatus};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use cyclorama_core::wire::FailureKind;
use metrics::{counter, gauge};
use metrics_exporter_prometheus::PrometheusBuilder;

/// The states of a node in metrics. The node status (locked, quarantined) and the loss of
/// heartbeats come before the state that the node reports of itself. All states are exported, also
/// with 0, so that a rule sees the step from 0 when the first node is lost.
const NODE_STATES: [&str; 7] = ["ready", "busy", "draining", "unhealthy", "locked", "quarantined", "lost"];

struct FarmMetrics {
    queued: i64,
    leased: i64,
    overview: FarmOverview,
    nodes: Vec<Node>,
    budget: Budget,
}

pub async fn get(State(app): State<App>) -> impl IntoResponse {
    gauge!("cyclorama_requests_in_flight").set(app.in_flight.count() as f64);
    gauge!("cyclorama_meter_waiting_entries").set(app.meter.waiting() as f64);
    gauge!("cyclorama_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    name_counters();
    let farm = match look(&app).await {
        Ok(farm) => Some(farm),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "the metrics of the farm could not be read");
            None
        }
    };
    gauge!("cyclorama_database_up").set(if farm.is_some() { 1.0 } else { 0.0 });
    let mut text = app.metrics.render();
    if let Some(farm) = &farm {
        text.push_str(&told(farm));
    }
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}

/// Exports counters of events that should never happen before the first event:
/// a rate needs to have seen the 0.
fn name_counters() {
    for dependency in ["database", "store", "credentials"] {
        counter!("cyclorama_dependency_failures_total", "dependency" => dependency).increment(0);
    }
    for kind in FailureKind::ALL {
        counter!("cyclorama_render_failures_total", "kind" => kind.as_str()).increment(0);
    }
    for light in receipt::lights() {
        counter!("cyclorama_renders_total", "light" => light).increment(0);
    }
    for name in [
        "cyclorama_gate_refusals_total",
        "cyclorama_meter_refused_entries_total",
        "cyclorama_meter_unknown_commits_total",
        "cyclorama_credits_taken_total",
        "cyclorama_payment_alerts_total",
    ] {
        counter!(name).increment(0);
    }
}

async fn look(app: &App) -> Result<FarmMetrics, sqlx::Error> {
    let backlog = app.renders.backlog().await?;
    Ok(FarmMetrics {
        queued: backlog.queued,
        leased: backlog.leased,
        overview: app.renders.overview().await?,
        nodes: app.renders.nodes().await?,
        budget: app.renders.budget().await?,
    })
}

fn told(farm: &FarmMetrics) -> String {
    let recorder = PrometheusBuilder::new().build_recorder();
    metrics::with_local_recorder(&recorder, || tell(farm));
    recorder.handle().render()
}

fn tell(farm: &FarmMetrics) {
    gauge!("cyclorama_jobs", "state" => "queued").set(farm.queued as f64);
    gauge!("cyclorama_jobs", "state" => "leased").set(farm.leased as f64);
    for lane in &farm.overview.lanes {
        let (name, kind) = (lane.lane.as_str(), lane.kind.clone());
        gauge!("cyclorama_queue_jobs", "lane" => name, "kind" => kind.clone()).set(lane.jobs as f64);
        gauge!("cyclorama_queue_oldest_seconds", "lane" => name, "kind" => kind)
            .set(lane.oldest_age_ms.max(0) as f64 / 1e3);
    }
    let alive = farm.nodes.iter().filter(|node| node.alive).count();
    gauge!("cyclorama_nodes_alive").set(alive as f64);
    for state in NODE_STATES {
        let nodes = farm.nodes.iter().filter(|node| state_of(node) == state).count();
        gauge!("cyclorama_nodes", "state" => state).set(nodes as f64);
    }
    for node in &farm.nodes {
        // People choose the names of nodes, so names may repeat.
        let labels = [("node_id", node.id.clone()), ("node", node.name.clone())];
        gauge!("cyclorama_node_jobs", &labels).set(node.jobs_leased as f64);
        gauge!("cyclorama_node_slots", &labels).set(node.slots as f64);
        let load = node.device_metrics.read();
        // Exported only where the operating system or the driver reports the value.
        for (megabytes, name) in [
            (load.process_memory_mb, "cyclorama_node_memory_bytes"),
            (load.card.gpu_memory_used_mb, "cyclorama_node_gpu_memory_used_bytes"),
            (load.card.gpu_memory_total_mb, "cyclorama_node_gpu_memory_total_bytes"),
        ] {
            if let Some(megabytes) = megabytes {
                gauge!(name, &labels).set(megabytes as f64 * 1024.0 * 1024.0);
            }
        }
        if let Some(ratio) = load.card.gpu_utilisation {
            gauge!("cyclorama_node_gpu_utilisation_ratio", &labels).set(ratio);
        }
    }
    gauge!("cyclorama_budget_usd").set(usd_from(farm.budget.microusd_per_day));
    gauge!("cyclorama_budget_reserved_usd").set(usd_from(farm.budget.reserved_microusd));
    gauge!("cyclorama_budget_settled_usd").set(usd_from(farm.budget.settled_microusd));
}

fn state_of(node: &Node) -> &str {
    match (node.state, node.alive) {
        (NodeStatus::Quarantined, _) => "quarantined",
        (_, false) => "lost",
        (NodeStatus::Locked, true) => "locked",
        (NodeStatus::Draining, true) => "draining",
        (_, true) => &node.reported_state,
    }
}
