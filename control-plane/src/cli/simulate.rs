//! `cyclorama simulate`: simulates a farm.

use super::numbers::real;
use super::print;
use crate::db::Database;
use crate::objects::ObjectStore;
use crate::simulation::{self, Scenario, SimulationOutcome};
use anyhow::Context;
use std::io::Write;

/// Simulate a farm: run the queue of this program with simulated clients and nodes
#[derive(Debug, clap::Args)]
pub struct Simulate {
    /// Number of nodes
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    nodes: u32,
    /// Jobs that a node works on at the same time
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    slots: u32,
    /// Number of image requests
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    jobs: u64,
    /// Average duration of a render on a node
    // At most 15 seconds, because the simulation does not renew leases.
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS", allow_hyphen_values = true, value_parser = real(0.01..=15.0))]
    render_seconds: f64,
    /// Load, as a ratio of the capacity of the nodes: 1 keeps all of them busy
    #[arg(long, default_value_t = 0.8, allow_hyphen_values = true, value_parser = real(0.001..=100.0))]
    load: f64,
    /// Number of accounts; a tenth of them send half of all requests
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    accounts: u32,
    /// Ratio of requests that are first loads of signed URLs, 0 to 1
    #[arg(long, default_value_t = 0.5, allow_hyphen_values = true, value_parser = real(0.0..=1.0))]
    first_loads: f64,
    /// Use the remaining capacity of the nodes for prewarming
    #[arg(long)]
    prewarm: bool,
    /// Ratio of renders that fail, 0 to 1
    #[arg(long, default_value_t = 0.005, allow_hyphen_values = true, value_parser = real(0.0..=1.0))]
    failing: f64,
    /// How often each node is lost with all its jobs, per hour
    #[arg(long, default_value_t = 0.5, allow_hyphen_values = true, value_parser = real(0.0..=1000.0))]
    losses: f64,
    /// Seed; the same seed gives the same requests
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Simulate {
    pub async fn run(self, as_json: bool) -> anyhow::Result<()> {
        let scenario = Scenario {
            nodes: self.nodes as usize,
            slots_per_node: self.slots,
            jobs: self.jobs,
            render_seconds: self.render_seconds,
            load: self.load,
            accounts: self.accounts,
            first_load_ratio: self.first_loads,
            prewarms: self.prewarm,
            failing_ratio: self.failing,
            losses_per_node_hour: self.losses,
            seed: self.seed,
        };
        // The folder is deleted when it is dropped.
        let folder = tempfile::tempdir().context("a folder for the simulated farm cannot be created")?;
        let database = Database::open(&format!("sqlite:{}?mode=rwc", folder.path().join("farm.db").display())).await?;
        let store = ObjectStore::open_files(folder.path().join("objects"))?;
        let outcome = simulation::run(database.clone(), store, scenario).await?;
        database.close().await;
        match as_json {
            true => print::answer(&serde_json::json!({ "scenario": scenario, "outcome": outcome }), true)?,
            false => print::stream(|output| tell(&outcome, output))?,
        }
        Ok(())
    }
}

fn tell(outcome: &SimulationOutcome, output: &mut dyn Write) -> std::io::Result<()> {
    writeln!(
        output,
        "{:.0} s simulated. Requested {}, refused {}; done {}, failed {}, expired {}; leases lost {}, results too late {}.",
        outcome.simulated_seconds,
        outcome.asked,
        outcome.refused,
        outcome.done,
        outcome.failed,
        outcome.lapsed,
        outcome.leases_lost,
        outcome.done_twice,
    )?;
    writeln!(
        output,
        "Slots were busy {:.1} % of the time; with an ideal queue it would be {:.1} %.\n",
        outcome.utilisation * 100.0,
        outcome.ideal_utilisation * 100.0
    )?;
    writeln!(output, "{:<12} {:>9} {:>11} {:>9} {:>11}", "lane", "jobs", "median s", "p99 s", "ideal p99 s")?;
    for (lane, waits) in &outcome.waits {
        writeln!(
            output,
            "{lane:<12} {:>9} {:>11.2} {:>9.2} {:>11.2}",
            waits.jobs, waits.median, waits.p99, waits.ideal_p99
        )?;
    }
    writeln!(output, "\n{:<12} {:>9} {:>11} {:>9}", "call", "calls", "median µs", "p99 µs")?;
    for (call, times) in &outcome.calls {
        writeln!(output, "{call:<12} {:>9} {:>11.0} {:>9.0}", times.calls, times.median_us, times.p99_us)?;
    }
    Ok(())
}
