//! `make abuse`: a service with a fake node, paying customers, and floods that try to make it slow
//! or full, all at once. Reports what paying customers notice, what grew, and whether the ledger is
//! sound; exits with 1 if a bound is broken. It runs on the loopback interface only, for a given
//! time and at given rates, and leaves nothing behind.

mod bounds;
mod crowd;
mod floods;
mod setting;

use anyhow::{Context, Result, bail, ensure};
use bounds::Growth;
use crowd::Told;
use cyclorama_tests::DatabaseChoice;
use setting::AbuseSetup;
use std::time::Duration;

/// The ratio of the whole time in which only paying customers send requests.
const QUIET_RATIO: f64 = 0.25;
/// Paying requests a second. They share two cores with everything else, and are few enough that the
/// floods make up the load.
const PAYING_PER_SECOND: f64 = 25.0;
/// Maximum factor by which paying requests may become slower, at their 99th percentile.
const SLOWER_MAX: f64 = 2.0;
/// Latency, in milliseconds, below which nobody notices and a ratio is noise.
const NOTICED_MS: f64 = 20.0;

#[tokio::main]
async fn main() -> std::process::ExitCode {
    match abuse().await {
        Ok(broken) if broken.is_empty() => {
            println!("\nEvery bound held.");
            std::process::ExitCode::SUCCESS
        }
        Ok(broken) => {
            println!();
            broken.iter().for_each(|bound| println!("BROKEN: {bound}"));
            std::process::ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("abuse: {error:#}");
            std::process::ExitCode::from(2)
        }
    }
}

/// Reads `--minutes N` and `--postgres`.
fn arguments() -> Result<(Duration, DatabaseChoice)> {
    let (mut minutes, mut database) = (5.0, DatabaseChoice::Sqlite);
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--minutes" => minutes = given.next().and_then(|text| text.parse().ok()).context("--minutes: a number")?,
            "--postgres" => database = DatabaseChoice::Postgres,
            other => bail!("`{other}` is neither --minutes N nor --postgres"),
        }
    }
    ensure!((0.5..=120.0).contains(&minutes), "--minutes: 0.5 to 120");
    Ok((Duration::from_secs_f64(minutes * 60.0), database))
}

/// Runs the floods, and returns the bounds that were broken.
async fn abuse() -> Result<Vec<String>> {
    let (lasting, database) = arguments()?;
    let quiet = lasting.mul_f64(QUIET_RATIO);
    let setting = AbuseSetup::make(database).await?;
    println!(
        "{database:?}; customers alone for {:.0} s, then everybody for {:.0} s",
        quiet.as_secs_f64(),
        (lasting - quiet).as_secs_f64()
    );

    // The first request of each kind compiles, opens and caches things, which must not be measured.
    crowd::send(setting.paying(), PAYING_PER_SECOND, Duration::from_secs(5)).await;
    let alone = crowd::send(setting.paying(), PAYING_PER_SECOND, quiet).await;

    setting.spend_the_budget()?;
    let before = Growth::measure(&setting).await?;
    let floods = floods::all(&setting);
    let names: Vec<(&str, f64)> = floods.iter().map(|flood| (flood.name, flood.per_second)).collect();
    let running =
        floods.into_iter().map(|flood| tokio::spawn(crowd::send(flood.requests, flood.per_second, lasting - quiet)));
    let running: Vec<_> = running.collect();
    let among = crowd::send(setting.paying(), PAYING_PER_SECOND, lasting - quiet).await;
    let mut told = Vec::new();
    for flood in futures::future::join_all(running).await {
        told.push(flood?);
    }
    // Sweepers and writers finish in this time.
    tokio::time::sleep(setting::SETTLING).await;
    let after = Growth::measure(&setting).await?;

    print_told(&alone, &among, &names, &told);
    before.print_beside(&after);
    let of_floods = told.iter().zip(&names).filter(|(_, (name, _))| *name == floods::PAID);
    let charges = among.of_status(200) + of_floods.map(|(told, _)| told.of_status(200)).sum::<u64>();
    let mut broken = after.broken(&before, &setting, charges);
    broken.extend(served(&alone, &among));
    for (told, (name, _)) in told.iter().zip(&names) {
        broken.extend(told.failures().into_iter().map(|(what, times)| format!("{name}: {what}, {times} times")));
    }
    let verified = setting.service.operator(&["ledger", "verify"]);
    println!("\nledger verify: {}", if verified.is_ok() { "sound" } else { "NOT SOUND" });
    broken.extend(verified.err().map(|error| format!("{error:#}")));
    Ok(broken)
}

fn print_told(alone: &Told, among: &Told, names: &[(&str, f64)], told: &[Told]) {
    println!("\npaying requests           p50 ms    p99 ms   statuses");
    for (name, told) in [("alone", alone), ("among the floods", among)] {
        println!("{name:<22} {:>9.1} {:>9.1}   {}", told.percentile_ms(0.5), told.percentile_ms(0.99), told.statuses());
    }
    println!("p99: {:.2} times as long", among.percentile_ms(0.99) / alone.percentile_ms(0.99));
    println!("\nflood                  a second       sent   p99 ms   statuses");
    for ((name, per_second), told) in names.iter().zip(told) {
        println!(
            "{name:<22} {per_second:>8} {:>10} {:>8.0}   {}",
            told.sent(),
            told.percentile_ms(0.99),
            told.statuses()
        );
    }
}

/// Checks what paying customers must not notice.
fn served(alone: &Told, among: &Told) -> Vec<String> {
    let mut broken = Vec::new();
    for (when, told) in [("alone", alone), ("among the floods", among)] {
        if told.sent() != told.of_status(200) {
            broken.push(format!("paying requests {when}: {}", told.statuses()));
        }
    }
    let (quiet, loud) = (alone.percentile_ms(0.99), among.percentile_ms(0.99));
    if loud > NOTICED_MS && loud / quiet >= SLOWER_MAX {
        broken.push(format!(
            "paying requests take {:.1} times as long at p99: {quiet:.1} ms alone, {loud:.1} ms",
            loud / quiet
        ));
    }
    broken
}
