//! Checks what must hold during a trial and after it: money, budget, single flight, objects.

use crate::clients::{RequestList, Tally};
use crate::programs::Farm;
use anyhow::Result;
use cyclorama_tests::service::Customer;
use sqlx::{AnyPool, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Observations of the budget.
#[derive(Debug, Default)]
pub struct BudgetObservations {
    pub looks: u64,
    /// The largest ratio of the day's budget that was reserved or settled.
    pub most: f64,
    pub findings: Vec<String>,
}

pub async fn watch_budget(database_url: String, asked: Arc<RequestList>) -> Result<BudgetObservations> {
    let mut seen = BudgetObservations::default();
    let pool = AnyPool::connect_lazy(&database_url)?;
    let sql = "select d.reserved_microusd, d.settled_microusd, b.microusd_per_day from budget_days d, budget b";
    while !asked.has_ended() {
        // PostgreSQL is unreachable at times.
        if let Ok(days) = sqlx::query(sql).fetch_all(&pool).await {
            seen.looks += 1;
            for day in days {
                let [reserved, settled, limit]: [i64; 3] = [day.try_get(0)?, day.try_get(1)?, day.try_get(2)?];
                seen.most = seen.most.max((reserved + settled) as f64 / limit as f64);
                if reserved + settled > limit {
                    seen.findings.push(format!("{reserved} reserved and {settled} settled of a budget of {limit}"));
                }
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(seen)
}

/// Checks that clients noticed nothing of an upgrade, and that it cost nothing.
pub async fn unnoticed(farm: &Farm, tallies: &[Tally]) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for Tally { lost, refused, .. } in tallies.iter().filter(|tally| tally.lost > 0 || !tally.refused.is_empty()) {
        findings.push(format!("an upgrade was noticed: {lost} answers lost, {refused:?}"));
    }
    let pool = AnyPool::connect(&farm.database_url()).await?;
    let again: i64 = sqlx::query_scalar("select count(*) from jobs where fence > 1").fetch_one(&pool).await?;
    if again > 0 {
        findings.push(format!("{again} jobs lost a lease in an upgrade"));
    }
    let delivered: u64 = tallies.iter().map(|tally| tally.delivered).sum();
    println!("{delivered} pictures delivered during the upgrade");
    Ok(findings)
}

/// Waits until nothing is held, queued or leased any more. Anything that still is becomes a
/// finding.
pub async fn at_rest(farm: &Farm, patience: Duration) -> Result<Vec<String>> {
    let pool = AnyPool::connect(&farm.database_url()).await?;
    let began = Instant::now();
    loop {
        let mut open = Vec::new();
        for (what, sql) in [
            ("holds are open", "select count(*) from holds where state = 'open'"),
            ("jobs are leased", "select count(*) from jobs where state = 'leased'"),
            ("jobs are queued", "select count(*) from jobs where state = 'queued'"),
        ] {
            let count: i64 = sqlx::query_scalar(sql).fetch_one(&pool).await?;
            if count > 0 {
                open.push(format!("{count} {what}"));
            }
        }
        if open.is_empty() || began.elapsed() > patience {
            return Ok(open);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Reads all records at the end; every violation goes to `findings`.
pub async fn read(
    farm: &Farm,
    customers: &[Customer],
    tallies: &[Tally],
    granted: u64,
    findings: &mut Vec<String>,
) -> Result<String> {
    let mut figures = String::new();
    let verified = farm.operator(&["ledger", "verify"])?;
    if verified["sound"] != true {
        findings.push(format!("the ledger is not sound: {verified}"));
    }
    let mut refused = BTreeMap::<&str, u64>::new();
    for (customer, tally) in customers.iter().zip(tallies) {
        let shown = farm.operator(&["account", "show", &customer.account_id])?;
        let number = |member: &str| shown[member].as_u64().unwrap_or_default();
        let spent = granted - number("credits") - number("held");
        if spent != number("deliveries") {
            findings.push(format!("{spent} credits were taken for {} deliveries", number("deliveries")));
        }
        // If the answer was lost on its way, it is unknown whether it was paid for.
        if !(tally.delivered..=tally.delivered + tally.lost).contains(&spent) {
            let Tally { delivered, lost, .. } = tally;
            findings
                .push(format!("{spent} credits were taken for {delivered} pictures and {lost} lost answers: {shown}"));
        }
        findings.extend(tally.missing.iter().map(|url| format!("nobody got {url}")));
        for (answer, count) in &tally.refused {
            *refused.entry(answer).or_default() += count;
        }
    }
    let (delivered, lost) = tallies.iter().fold((0, 0), |(d, l), tally| (d + tally.delivered, l + tally.lost));
    writeln!(
        figures,
        "{delivered} pictures delivered, {lost} answers lost, without a picture and without a charge: {refused:?}"
    )?;

    let pool = AnyPool::connect(&farm.database_url()).await?;
    single_flight(farm, &pool, findings, &mut figures).await?;
    objects(farm, &pool, findings, &mut figures).await?;
    Ok(figures)
}

/// Checks that a vehicle and view is rendered again only after its lease was lost.
async fn single_flight(farm: &Farm, pool: &AnyPool, findings: &mut Vec<String>, figures: &mut String) -> Result<()> {
    let mut renders = BTreeMap::<String, BTreeSet<(String, String)>>::new();
    let mut lines = 0;
    for journal in farm.journals() {
        for line in std::fs::read_to_string(journal).unwrap_or_default().lines() {
            let [vehicle, view, job, fence] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
            lines += 1;
            if !renders.entry(format!("{vehicle} {view}")).or_default().insert((job.to_owned(), fence.to_owned())) {
                findings.push(format!("one lease rendered {vehicle} {view} twice"));
            }
        }
    }
    let rows = sqlx::query("select vehicle_key, view, state, fence, attempt from jobs where kind = 'render'")
        .fetch_all(pool)
        .await?;
    let mut leases = BTreeMap::<String, (i64, i64)>::new();
    for row in &rows {
        let (vehicle, view, state): (String, String, String) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        let of = leases.entry(format!("{vehicle} {view}")).or_default();
        of.0 += row.try_get::<i64, _>(3)?;
        of.1 += i64::from(state == "done");
    }
    let done_twice: Vec<_> = leases.iter().filter(|(_, (_, done))| *done > 1).map(|(what, _)| what).collect();
    if !done_twice.is_empty() {
        findings.push(format!("rendered and stored twice: {done_twice:?}"));
    }
    let mut again = 0;
    for (what, made) in renders.iter().filter(|(_, made)| made.len() > 1) {
        again += made.len() - 1;
        let leased = leases.get(what).map_or(0, |(leased, _)| *leased);
        if (made.len() as i64) > leased {
            findings.push(format!("{what} was rendered {} times under {leased} leases", made.len()));
        }
    }
    let lost: i64 = leases.values().map(|(leased, done)| leased - done).sum();
    writeln!(
        figures,
        "{} vehicles and views; {lines} renders by nodes without an engine, {again} of them again; {lost} leases were lost or ended without a picture",
        leases.len()
    )?;
    Ok(())
}

/// Checks that every object that a record names exists.
async fn objects(farm: &Farm, pool: &AnyPool, findings: &mut Vec<String>, figures: &mut String) -> Result<()> {
    let rows = sqlx::query("select distinct master_sha256 from renders where state = 'done'").fetch_all(pool).await?;
    let mut looked = 0;
    for row in &rows {
        let Some(sha256) = row.try_get::<Option<String>, _>(0)? else { continue };
        let mut keys = vec![format!("masters/{sha256}.png")];
        for side in [256, 512, 768, 1024] {
            keys.extend(["png", "webp", "jpg"].map(|format| format!("derived/{sha256}/{side}x{side}.{format}")));
        }
        looked += keys.len();
        findings.extend(keys.iter().filter(|key| !farm.object(key).is_file()).map(|key| format!("{key} is not there")));
    }
    let layers = sqlx::query("select vehicle_key, view, revision, named_by_sha256 from layers").fetch_all(pool).await?;
    for row in &layers {
        let (vehicle, view, revision): (String, String, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        // An earlier version named them by the revision alone.
        let content = row.try_get::<Option<String>, _>(3)?.map_or(String::new(), |sha256| format!("-{sha256}"));
        let key = format!("layers/{vehicle}/{view}/{revision}{content}");
        looked += 1;
        if !farm.object(&key).is_file() {
            findings.push(format!("{key} is not there"));
        }
    }
    writeln!(figures, "{looked} objects that records name were looked for")?;
    Ok(())
}
