//! `cyclorama simulate`

use super::numbers::real;
use super::print;
use crate::db::Database;
use crate::objects::ObjectStore;
use crate::simulation::{self, Outcome, Scenario};
use anyhow::Context;
use std::io::Write;

/// A farm in numbers before there is one: the queue of this program with simulated clients and nodes
#[derive(Debug, clap::Args)]
pub struct Simulate {
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    nodes: u32,
    /// Jobs a node works on at once
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    slots: u32,
    /// Pictures asked for
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    jobs: u64,
    /// How long a node is at a render, on average
    // Leases are not renewed here.
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS", allow_hyphen_values = true, value_parser = real(0.01..=15.0))]
    render_seconds: f64,
    /// What is asked for, as a share of what the nodes can do
    #[arg(long, default_value_t = 0.8, allow_hyphen_values = true, value_parser = real(0.001..=100.0))]
    load: f64,
    /// Accounts that ask; a tenth of them for half of everything
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    accounts: u32,
    /// Share of first loads of signed addresses
    #[arg(long, default_value_t = 0.5, allow_hyphen_values = true, value_parser = real(0.0..=1.0))]
    first_loads: f64,
    /// Prewarming takes what is left
    #[arg(long)]
    prewarm: bool,
    /// Share of renders that fail
    #[arg(long, default_value_t = 0.005, allow_hyphen_values = true, value_parser = real(0.0..=1.0))]
    failing: f64,
    /// How often a node is lost with all that it holds, in an hour
    #[arg(long, default_value_t = 0.5, allow_hyphen_values = true, value_parser = real(0.0..=1000.0))]
    losses: f64,
    /// The same seed asks for the same
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
            first_load_share: self.first_loads,
            prewarms: self.prewarm,
            failing_share: self.failing,
            losses_per_node_hour: self.losses,
            seed: self.seed,
        };
        // Removed when it is dropped.
        let folder = tempfile::tempdir().context("a folder for the simulated farm cannot be made")?;
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

fn tell(outcome: &Outcome, output: &mut dyn Write) -> std::io::Result<()> {
    writeln!(
        output,
        "{:.0} s simulated. Asked for {}, refused {}; done {}, failed {}, given up {}; leases lost {}, results too late {}.",
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
        "Slots were busy {:.1} % of the time; an ideal queue would have them busy {:.1} %.\n",
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
