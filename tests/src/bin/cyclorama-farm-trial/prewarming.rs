//! Starts an operator's prewarm batch and kills everything five times meanwhile: each row must be
//! made exactly once.

use crate::programs::{FAKE_NODES, Farm, PLANES};
use anyhow::{Context, Result, ensure};
use std::time::{Duration, Instant};

const KILLS: i64 = 5;
const TAKES_MAX: Duration = Duration::from_secs(900);

/// Returns the number of rows. `rows` is the size of the batch.
pub async fn make(farm: &mut Farm, rows: usize, findings: &mut Vec<String>) -> Result<()> {
    let list = farm.prewarm_list(rows)?;
    let started = farm.operator(&["prewarm", "start", "--budget-percent", "100", "--list", &list])?;
    let batch_id = started["batch_id"].as_str().context("no batch")?.to_owned();
    let began = Instant::now();
    let mut kills = 0;
    loop {
        ensure!(began.elapsed() < TAKES_MAX, "the batch is not done after {} s", TAKES_MAX.as_secs());
        tokio::time::sleep(Duration::from_millis(500)).await;
        let batch = farm.operator(&["prewarm", "status", &batch_id])?;
        let number = |member: &str| batch[member].as_i64().unwrap_or_default();
        if batch["state"] == "done" {
            println!(
                "{} of {} rows are done, {} have failed; killed {kills} times",
                number("done"),
                number("rows"),
                number("failed")
            );
            if number("done") != number("rows") || number("rows") != rows as i64 || kills != KILLS {
                findings.push(format!("a batch of {rows} rows ended after {kills} kills as {batch}"));
            }
            return Ok(());
        }
        if kills < KILLS && number("done") >= (kills + 1) * rows as i64 / (KILLS + 1) {
            kills += 1;
            println!("{:4} rows  all control planes and nodes are killed", number("done"));
            let everything = PLANES.iter().map(|(plane, _)| *plane).chain(FAKE_NODES);
            everything.clone().try_for_each(|host| farm.kill(host))?;
            for (plane, _) in PLANES {
                farm.start_plane(plane)?;
                farm.until_ready(plane).await?;
            }
            FAKE_NODES.iter().try_for_each(|node| farm.start_fake_node(node))?;
        }
    }
}
