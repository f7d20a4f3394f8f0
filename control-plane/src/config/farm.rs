//! Settings of rendering: the embedded node, leases and waiting, and
//! the cost of a day of cold renders.

use super::{ConfigError, SettingsSource};
use crate::money::microusd_from;
use crate::renders::{AtLimit, Rules};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeMode {
    /// The service starts and supervises one node as a child process.
    Embedded,
    /// Nodes join from other machines.
    None,
}

/// Maximum budget of a day, in US dollars. A larger one is a typing mistake.
pub const USD_PER_DAY_MAX: f64 = 1e6;

#[derive(Debug, Clone)]
pub struct FarmSettings {
    pub node: NodeMode,
    pub node_binary: Option<PathBuf>,
    pub ort_dylib_path: Option<PathBuf>,
    pub models: Option<PathBuf>,
    pub lease_seconds: u64,
    pub heartbeat_seconds: u64,
    pub render_wait_seconds: u64,
    /// The budget of a day for which the operator has set none, in millionths of a US dollar.
    pub daily_budget_microusd: i64,
    /// The cost that is counted for one cold render, in millionths of a US dollar.
    pub render_cost_microusd: i64,
    /// Maximum price of an hour that a joining node may state, in US dollars.
    pub node_usd_per_hour_max: f64,
    /// Maximum number of nodes of one node token at the same time.
    pub nodes_per_token: i64,
    pub budget_rules: Rules,
}

impl FarmSettings {
    pub fn read(source: &SettingsSource) -> Result<Self, ConfigError> {
        let node = match source.text("node") {
            Some("embedded") => NodeMode::Embedded,
            Some("none") => NodeMode::None,
            _ => return Err(source.refuse("node", "embedded or none")),
        };
        let lease_seconds = source.number("lease_seconds", 2..=600)?;
        let heartbeat_seconds = source.number("heartbeat_seconds", 1..=60)?;
        // A heartbeat as long as the lease would lose the lease. A pause that the operator set is
        // refused then; the default is shortened instead, so that a short lease alone does not
        // stop the start.
        let heartbeat_seconds = if heartbeat_seconds < lease_seconds {
            heartbeat_seconds
        } else if source.is_default("heartbeat_seconds") {
            lease_seconds / 2
        } else {
            return Err(source.rule("heartbeat_seconds", "must be below CYCLORAMA_LEASE_SECONDS"));
        };
        let path = |name: &str| source.text(name).map(PathBuf::from);
        Ok(FarmSettings {
            node,
            node_binary: path("node_binary"),
            ort_dylib_path: path("ort_dylib_path"),
            models: path("models"),
            lease_seconds,
            heartbeat_seconds,
            render_wait_seconds: source.number("render_wait_seconds", 1..=600)?,
            daily_budget_microusd: microusd_from(source.number("daily_budget_usd", 0.0..=USD_PER_DAY_MAX)?),
            render_cost_microusd: microusd_from(source.number("render_cost_usd", 0.0..=100.0)?),
            nodes_per_token: source.number("nodes_per_token", 1..=10_000)?,
            node_usd_per_hour_max: source.number("node_usd_per_hour_max", 0.0..=10_000.0)?,
            budget_rules: budget_rules(source)?,
        })
    }

    pub fn render_wait(&self) -> Duration {
        Duration::from_secs(self.render_wait_seconds)
    }
}

fn budget_rules(source: &SettingsSource) -> Result<Rules, ConfigError> {
    let mut notify_percents = Vec::new();
    for text in source.text("budget_notify_percents").unwrap_or_default().split(',').map(str::trim) {
        match text.parse() {
            Ok(percent @ 1..=100) => notify_percents.push(percent),
            _ if text == "off" => {}
            _ => {
                return Err(
                    source.refuse("budget_notify_percents", "numbers from 1 to 100, such as 50, 80, 100; or off")
                );
            }
        }
    }
    notify_percents.sort_unstable();
    notify_percents.dedup();
    Ok(Rules {
        prewarm_percent: source.number("budget_prewarm_percent", 0..=100)?,
        example_percent: source.number("budget_example_percent", 0..=100)?,
        account_percent: source.number("budget_account_percent", 1..=100)?,
        free_percent: source.number("budget_free_percent", 1..=100)?,
        notify_percents,
        at_limit: match source.text("budget_at_limit") {
            Some("finish") => AtLimit::Finish,
            Some("stop") => AtLimit::Stop,
            _ => return Err(source.refuse("budget_at_limit", "finish or stop")),
        },
    })
}
