//! Simulates failures, each when a given ratio of the images has been answered, so that a trial of
//! any length has all of them.

use crate::clients::RequestList;
use crate::hosts::Hosts;
use crate::programs::Farm;
use anyhow::Result;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Longer than a lease (10 s), so that a host that is cut off loses its leases.
const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_secs(5);

pub async fn make(hosts: &Hosts, farm: &mut Farm, asked: &RequestList) -> Result<()> {
    until(asked, 0.08, "node1 is killed").await;
    farm.kill("node1")?;
    tokio::time::sleep(SHORT).await;
    farm.start_fake_node("node1")?;

    until(asked, 0.16, "node2 is cut off").await;
    hosts.cut("node2")?;
    tokio::time::sleep(LONG).await;
    hosts.join("node2")?;

    until(asked, 0.26, "the bucket is slow").await;
    hosts.slow("store", 1_000)?;
    tokio::time::sleep(LONG).await;
    hosts.quick("store")?;

    until(asked, 0.36, "PostgreSQL is restarted").await;
    farm.postgres("restart", "fast")?;

    until(asked, 0.46, "plane2 is killed").await;
    farm.kill("plane2")?;
    tokio::time::sleep(LONG).await;
    farm.start_plane("plane2")?;
    farm.until_ready("plane2").await?;

    until(asked, 0.56, "plane3 is cut off").await;
    hosts.cut("plane3")?;
    tokio::time::sleep(LONG).await;
    hosts.join("plane3")?;

    until(asked, 0.64, "node1 and node3 are killed").await;
    farm.kill("node1")?;
    farm.kill("node3")?;
    tokio::time::sleep(LONG).await;
    farm.start_fake_node("node1")?;
    farm.start_fake_node("node3")?;

    until(asked, 0.72, "the bucket is cut off").await;
    hosts.cut("store")?;
    tokio::time::sleep(SHORT).await;
    hosts.join("store")?;

    until(asked, 0.80, "PostgreSQL is killed").await;
    farm.postgres("stop", "immediate")?;
    tokio::time::sleep(SHORT).await;
    farm.postgres("start", "fast")?;

    // The budget is spent before all images are made.
    while asked.unaffordable.load(Ordering::Relaxed) == 0 && asked.ratio() < 1.0 {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    println!("{:4.0} %  the budget is spent, and raised", asked.ratio() * 100.0);
    farm.operator(&["budget", "set", "--usd-per-day", "10000"])?;
    Ok(())
}

async fn until(asked: &RequestList, ratio: f64, what: &str) {
    while asked.ratio() < ratio {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    println!("{:4.0} %  {what}", asked.ratio() * 100.0);
}
