//! A farm on one machine, in trouble: three control planes, four nodes, PostgreSQL and a bucket, each on a host of its own (a network
//! namespace). In three acts: an `upgrade` under load, which nobody may notice; `troubles`, in which hosts are killed, cut off and slowed
//! down while clients ask for pictures; and `prewarming`, killed again and again. At the end the `books` are read.
//!
//! `scripts/farm-trial.sh --pictures 10000`, as root. What it is made of besides: `hosts` (the network), `programs` (what runs on them),
//! `balancer` (what stands before the control planes) and `clients`.

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

/// What an hour of a node would cost is not said: a render is counted at this.
const USD_PER_RENDER: f64 = 0.002;
/// The day's budget ends at this share of the pictures, and is raised when that is seen.
const BUDGET_SHARE: f64 = 0.9;
const CUSTOMERS: usize = 4;
/// More than clients ask for while everything is replaced.
const UPGRADE_PICTURES_MAX: usize = 3_000;
/// At the end: until leases have run out and every hold is settled.
const REST_MAX: Duration = Duration::from_secs(180);

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Runtime::new()?;
    match words.as_slice() {
        // What the trial itself starts on its hosts.
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

    let asked = clients::Asked::new(variants, clients::Pace::Steady);
    let load = tokio::spawn(clients::ask(programs::base_url(), customers.clone(), asked.clone()));
    upgrade::make(&mut farm, &asked).await?;
    asked.end();
    let mut tallies = load.await??;
    findings.extend(books::unnoticed(&farm, &tallies).await?);

    farm.allow(pictures as f64 * BUDGET_SHARE * USD_PER_RENDER)?;
    let asked = clients::Asked::new(in_trouble, clients::Pace::Flat);
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
