//! A trial of a farm on one machine with simulated failures: three control planes, four nodes,
//! PostgreSQL and a bucket, each on a separate host (a network namespace). It has three acts: an
//! `upgrade` under load, which nobody may notice; `troubles`, in which hosts are killed, cut off
//! and slowed down while clients request images; and `prewarming`, which is killed repeatedly. At
//! the end the `books` are checked.
//!
//! Run it by `scripts/farm-trial.sh --pictures 10000`, as root. Its other parts are `hosts` (the
//! network), `programs` (the programs on them), `balancer` (before the control planes) and
//! `clients`.

#![allow(
    clippy::disallowed_methods,
    reason = "stands outside of the programs, in the time and the environment of whoever runs it"
)]

mod balancer;
mod books;
mod clients;
mod fake_node;
mod hosts;
mod prewarming;
mod programs;
mod troubles;
mod upgrade;

use anyhow::{Context, Result, ensure};
use std::time::{Duration, Instant};

/// The cost of a render. The nodes report no price for an hour, so each render is counted at this.
const USD_PER_RENDER: f64 = 0.002;
/// The ratio of the images at which the day's budget ends. The budget is raised when that is seen.
const BUDGET_RATIO: f64 = 0.9;
const CUSTOMERS: usize = 4;
/// More than clients request while everything is replaced.
const UPGRADE_PICTURES_MAX: usize = 3_000;
/// Maximum time at the end until leases have expired and every hold is settled.
const REST_MAX: Duration = Duration::from_secs(180);

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Runtime::new()?;
    match words.as_slice() {
        // These subcommands are started by the trial itself on its hosts.
        ["fake-node", url, token, name, journal] => runtime.block_on(fake_node::serve(url, token, name, journal)),
        ["bucket", address, folder] => runtime.block_on(programs::serve_bucket(address, folder)),
        [] => runtime.block_on(trial(10_000)),
        ["--pictures", number] => runtime.block_on(trial(number.parse().context("--pictures takes a number")?)),
        _ => anyhow::bail!("usage: cyclorama-farm-trial [--pictures NUMBER]"),
    }
}

async fn trial(pictures: usize) -> Result<()> {
    ensure!(rustix::process::geteuid().is_root(), "hosts are network namespaces, which only root can make");
    let began = Instant::now();
    let folder = tempfile::Builder::new().prefix("cyclorama-farm-").tempdir()?;
    println!("{pictures} pictures; logs in {}", folder.path().display());
    let hosts = hosts::Hosts::make()?;
    let mut farm = programs::Farm::start(&hosts, folder.path()).await?;
    farm.start_nodes()?;
    let mut findings = Vec::new();

    let granted = (UPGRADE_PICTURES_MAX + pictures) as u64 * 2;
    let mut customers = Vec::new();
    for _ in 0..CUSTOMERS {
        customers.push(farm.customer(granted)?);
    }
    let mut variants = farm.variants(UPGRADE_PICTURES_MAX + pictures)?;
    let in_trouble = variants.split_off(UPGRADE_PICTURES_MAX);

    let asked = clients::RequestList::new(variants, clients::Pace::Steady);
    let load = tokio::spawn(clients::ask(programs::base_url(), customers.clone(), asked.clone()));
    upgrade::make(&mut farm, &asked).await?;
    asked.end();
    let mut tallies = load.await??;
    findings.extend(books::unnoticed(&farm, &tallies).await?);

    farm.allow(pictures as f64 * BUDGET_RATIO * USD_PER_RENDER)?;
    let asked = clients::RequestList::new(in_trouble, clients::Pace::Flat);
    let load = tokio::spawn(clients::ask(programs::base_url(), customers.clone(), asked.clone()));
    let watch = tokio::spawn(books::watch_budget(farm.database_url(), asked.clone()));
    troubles::make(&hosts, &mut farm, &asked).await?;
    for (tally, more) in tallies.iter_mut().zip(load.await??) {
        tally.add(more);
    }
    asked.end();
    let seen = watch.await??;
    findings.extend(seen.findings);

    prewarming::make(&mut farm, pictures / 5, &mut findings).await?;
    findings.extend(books::at_rest(&farm, REST_MAX).await?);
    let figures = books::read(&farm, &customers, &tallies, granted, &mut findings).await?;
    println!(
        "{} s; {} looks at the budget, at most {:.3} of it in use",
        began.elapsed().as_secs(),
        seen.looks,
        seen.most
    );
    println!("{figures}");
    if findings.is_empty() {
        println!("nothing was lost");
        return Ok(());
    }
    let kept = folder.keep();
    for finding in &findings {
        println!("FOUND: {finding}");
    }
    anyhow::bail!("{} findings; logs are kept in {}", findings.len(), kept.display())
}
