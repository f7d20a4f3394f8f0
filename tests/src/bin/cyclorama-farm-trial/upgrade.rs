//! Replaces control planes and nodes one after the other while clients send requests. Clients may
//! notice nothing, and no lease may be lost.

use crate::clients::RequestList;
use crate::programs::{FAKE_NODES, Farm, PLANES, REAL_NODE};
use anyhow::{Context, Result, ensure};
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_secs(2);
/// Maximum time until a node has drained. A render takes a third of a second on these nodes.
const DRAIN_MAX: Duration = Duration::from_secs(20);

/// Replaces everything twice, or until all images have been requested.
pub async fn make(farm: &mut Farm, asked: &RequestList) -> Result<()> {
    for _ in 0..2 {
        for (plane, _) in PLANES {
            step(asked, &format!("{plane} is replaced"));
            farm.terminate(plane).await?;
            farm.start_plane(plane)?;
            farm.until_ready(plane).await?;
            tokio::time::sleep(PAUSE).await;
        }
        for node in FAKE_NODES {
            step(asked, &format!("{node} is drained and replaced"));
            drain(farm, node).await?;
            farm.kill(node)?;
            farm.start_fake_node(node)?;
            tokio::time::sleep(PAUSE).await;
        }
        step(asked, &format!("{REAL_NODE} is replaced"));
        farm.terminate(REAL_NODE).await?;
        farm.start_real_node()?;
    }
    ensure!(asked.ratio() < 1.0, "clients had asked for everything before the last replacement");
    Ok(())
}

async fn drain(farm: &Farm, name: &str) -> Result<()> {
    let began = Instant::now();
    loop {
        let listed = farm.operator(&["node", "list"])?;
        let node = listed["nodes"].as_array().and_then(|nodes| {
            nodes.iter().rfind(|node| node["name"] == name && node["alive"] == true && node["state"] != "left")
        });
        let node = node.with_context(|| format!("{name} is not listed: {listed}"))?;
        if node["state"] != "draining" {
            farm.operator(&["node", "drain", node["node_id"].as_str().context("no id")?])?;
        } else if node["jobs_leased"] == 0 {
            return Ok(());
        }
        ensure!(began.elapsed() < DRAIN_MAX, "{name} still holds jobs: {node}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

fn step(asked: &RequestList, what: &str) {
    println!("{:4.0} %  {what}", asked.ratio() * 100.0);
}
