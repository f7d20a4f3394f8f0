//! `GET /metrics`, for Prometheus: what this process has counted, and what the database knows of the farm.
//!
//! The farm's figures are asked at each scrape and written by a recorder of that scrape alone, so that a lane that is empty, a node that
//! left and a database that is away leave no old figure behind. Every process of a farm tells the same of it: rules take the maximum.
//! No token: scrapers have none.

use super::node::jobs::receipt;
use crate::app::App;
use crate::money::usd_from;
use crate::renders::{Budget, Node, Overview, Standing};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use cyclorama_core::wire::FailureKind;
use metrics::{counter, gauge};
use metrics_exporter_prometheus::PrometheusBuilder;

/// A node's state here: what the service lets it do, then whether it is heard of, then what it says of itself. All are told, with 0 too,
/// so that a rule sees the first node that is lost.
const NODE_STATES: [&str; 7] = ["ready", "busy", "draining", "unhealthy", "locked", "quarantined", "lost"];

struct Farm {
    queued: i64,
    leased: i64,
    overview: Overview,
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
            tracing::warn!(error = &error as &dyn std::error::Error, "the farm could not be measured");
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

/// Counters of what should never happen are told before it does: a rate needs to have seen the 0.
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

async fn look(app: &App) -> Result<Farm, sqlx::Error> {
    let backlog = app.renders.backlog().await?;
    Ok(Farm {
        queued: backlog.queued,
        leased: backlog.leased,
        overview: app.renders.overview().await?,
        nodes: app.renders.nodes().await?,
        budget: app.renders.budget().await?,
    })
}

fn told(farm: &Farm) -> String {
    let recorder = PrometheusBuilder::new().build_recorder();
    metrics::with_local_recorder(&recorder, || tell(farm));
    recorder.handle().render()
}

fn tell(farm: &Farm) {
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
        // Names are given by people and may repeat.
        let labels = [("node_id", node.id.clone()), ("node", node.name.clone())];
        gauge!("cyclorama_node_jobs", &labels).set(node.jobs_leased as f64);
        gauge!("cyclorama_node_slots", &labels).set(node.slots as f64);
        let load = node.device_metrics.read();
        // Where the system or the driver tells.
        for (megabytes, name) in [
            (load.process_memory_mb, "cyclorama_node_memory_bytes"),
            (load.card.gpu_memory_used_mb, "cyclorama_node_gpu_memory_used_bytes"),
            (load.card.gpu_memory_total_mb, "cyclorama_node_gpu_memory_total_bytes"),
        ] {
            if let Some(megabytes) = megabytes {
                gauge!(name, &labels).set(megabytes as f64 * 1024.0 * 1024.0);
            }
        }
        if let Some(share) = load.card.gpu_utilisation {
            gauge!("cyclorama_node_gpu_utilisation_ratio", &labels).set(share);
        }
    }
    gauge!("cyclorama_budget_usd").set(usd_from(farm.budget.microusd_per_day));
    gauge!("cyclorama_budget_reserved_usd").set(usd_from(farm.budget.reserved_microusd));
    gauge!("cyclorama_budget_settled_usd").set(usd_from(farm.budget.settled_microusd));
}

fn state_of(node: &Node) -> &str {
    match (node.state, node.alive) {
        (Standing::Quarantined, _) => "quarantined",
        (_, false) => "lost",
        (Standing::Locked, true) => "locked",
        (Standing::Draining, true) => "draining",
        (_, true) => &node.reported_state,
    }
}
