//! `make bench`: the figures of a running service and of the imaging stage, as tables. Nothing is asserted here.
//!
//! The service, its embedded node and the load generator share the machine, as they do for a newcomer.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use cyclorama_core::encoding;
use cyclorama_core::{Format, MASTER_SIDE_PX};
use cyclorama_tests::likeness::ssim;
use cyclorama_tests::service::Customer;
use cyclorama_tests::{DatabaseChoice, Options, Service};
use image::RgbaImage;
use serde_json::Value;

/// One vehicle per body class; each cold render is another vehicle and view.
const COLD: [(&str, &str, u16, &str); 9] = [
    ("volkswagen", "golf", 2018, "front-3-4"),
    ("porsche", "911", 2024, "rear-3-4"),
    ("ford", "f-150", 2020, "side"),
    ("jeep", "wrangler", 2019, "front"),
    ("toyota", "prius", 2012, "rear"),
    ("mini", "cooper", 2018, "front-3-4"),
    ("tesla", "model-3", 2021, "side-right"),
    ("bmw", "3-series", 2016, "rear-3-4"),
    ("ford", "transit", 2019, "front-3-4"),
];
const EXAMPLES_PATIENCE: Duration = Duration::from_secs(180);
const CACHED_REQUESTS: usize = 2_000;
const IMAGING_REPEATS: usize = 15;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut sharp = None;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--sharp" => sharp = arguments.next().map(PathBuf::from),
            other => anyhow::bail!("unknown argument {other}; usage: cyclorama-bench [--sharp FOLDER]"),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let master = runtime.block_on(service_figures())?;
    imaging(&master, sharp)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

/// Requests one picture and gives (milliseconds to the last byte, bytes).
async fn timed(service: &Service, customer: &Customer, query: &str) -> Result<(f64, Vec<u8>)> {
    let began = Instant::now();
    let answer = service.get(customer, &format!("/api/v1/images/car?{query}")).send().await?;
    let status = answer.status();
    let bytes = answer.bytes().await?;
    ensure!(status.is_success(), "{query}: {status} {}", String::from_utf8_lossy(&bytes));
    Ok((began.elapsed().as_secs_f64() * 1e3, bytes.to_vec()))
}

async fn service_figures() -> Result<Vec<u8>> {
    let service = Service::start_with(DatabaseChoice::Sqlite, Options::default().with_embedded_node()).await?;
    let customer = service.customer(1_000_000)?;
    // The home page's examples are rendered at first start; after them the node is idle, and warm.
    let patience = Instant::now();
    loop {
        let progress: Value = service.visit("/api/examples").send().await?.json().await?;
        if progress["complete"] == true {
            break;
        }
        ensure!(patience.elapsed() < EXAMPLES_PATIENCE, "the examples are not there: {progress}; {}", service.log());
        tokio::time::sleep(Duration::from_millis(500)).await;
    }

    let mut cold = Vec::new();
    let mut master = Vec::new();
    println!("cold renders, request to last byte (PNG 1024)");
    for (make, model, year, view) in COLD {
        let query = format!("make={make}&model={model}&year={year}&view={view}&color=red");
        let (ms, bytes) = timed(&service, &customer, &query).await?;
        println!("  {ms:8.0} ms  {make} {model} {year} {view}");
        cold.push(ms);
        master = bytes;
    }
    println!("  {:8.0} ms  median   (goal 8,000)", median(cold));
    stages(&service)?;

    let mut paint = Vec::new();
    for colour in ["blue", "white", "black", "green", "gold"] {
        let (make, model, year, view) = COLD[0];
        let query = format!("make={make}&model={model}&year={year}&view={view}&color={colour}");
        paint.push(timed(&service, &customer, &query).await?.0);
    }
    println!("another colour of the same vehicle and view\n  {:8.0} ms  median   (goal 500)", median(paint));

    let query = "make=porsche&model=911&year=2024&view=rear-3-4&color=red&size=small&format=webp";
    timed(&service, &customer, query).await?;
    let mut cached = Vec::new();
    for _ in 0..300 {
        cached.push(timed(&service, &customer, query).await?.0);
    }
    println!(
        "cached delivery with its durable debit, one client (webp 512)\n  {:8.2} ms  median, {:.2} ms p99   (goal 5)",
        median(cached.clone()),
        percentile(&cached, 0.99)
    );
    let began = Instant::now();
    let streams = (0..32).map(|_| async {
        for _ in 0..CACHED_REQUESTS / 32 {
            timed(&service, &customer, query).await?;
        }
        anyhow::Ok(())
    });
    futures::future::try_join_all(streams).await?;
    println!("  {:8.0} /s  with 32 clients", (CACHED_REQUESTS / 32 * 32) as f64 / began.elapsed().as_secs_f64());
    println!("render node, peak resident memory\n  {:8.0} MB   (goal 1,500)", node_peak_mb()?);
    Ok(master)
}

/// Median stage times of the renders so far, from their receipts.
fn stages(service: &Service) -> Result<()> {
    let listed = service.operator(&["render", "list", "--limit", "50"])?;
    let mut by_stage: std::collections::BTreeMap<String, Vec<f64>> = std::collections::BTreeMap::new();
    for render in listed["renders"].as_array().context("no renders")? {
        if render["receipt"]["kind"] == "paint" {
            continue;
        }
        for (stage, ms) in render["receipt"]["timings_ms"].as_object().into_iter().flatten() {
            by_stage.entry(stage.clone()).or_default().extend(ms.as_f64());
        }
    }
    for (stage, values) in by_stage {
        println!("  {:8.0} ms    {stage}", median(values));
    }
    Ok(())
}

/// Peak resident memory of the `cyclorama-node` process that is running now.
fn node_peak_mb() -> Result<f64> {
    for entry in std::fs::read_dir("/proc")? {
        let folder = entry?.path();
        let Ok(status) = std::fs::read_to_string(folder.join("status")) else { continue };
        if !status.starts_with("Name:\tcyclorama-node") {
            continue;
        }
        let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).context("no VmHWM")?;
        return Ok(peak.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0);
    }
    anyhow::bail!("no cyclorama-node process is running")
}

fn decoded(bytes: &[u8]) -> Result<RgbaImage> {
    Ok(image::load_from_memory(bytes)?.to_rgba8())
}

/// Master PNG to derivative, decode and resize included, one thread; beside sharp on the same master.
fn imaging(master: &[u8], sharp: Option<PathBuf>) -> Result<()> {
    let out = tempfile::tempdir()?;
    let master_file = out.path().join("master.png");
    std::fs::write(&master_file, master)?;
    let mut peers: std::collections::HashMap<(String, u64), (f64, u64)> = std::collections::HashMap::new();
    if let Some(folder) = sharp {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/bench/sharp.mjs");
        let output = std::process::Command::new("node")
            .arg(script)
            .arg(&master_file)
            .arg(IMAGING_REPEATS.to_string())
            .arg(folder)
            .arg(out.path())
            .output()?;
        ensure!(output.status.success(), "sharp: {}", String::from_utf8_lossy(&output.stderr));
        for line in String::from_utf8(output.stdout)?.lines() {
            let case: Value = serde_json::from_str(line)?;
            let key = (case["format"].as_str().context("format")?.to_owned(), case["side"].as_u64().context("side")?);
            peers.insert(key, (case["ms"].as_f64().context("ms")?, case["bytes"].as_u64().context("bytes")?));
        }
    }
    println!(
        "imaging, {MASTER_SIDE_PX} px master PNG to derivative, one thread, median of {IMAGING_REPEATS}; SSIM against the lossless resize"
    );
    println!("  format side      ours    sharp   speed   bytes    sharp  bytes ratio   SSIM  sharp");
    for format in [Format::Png, Format::Webp, Format::Jpg] {
        for side in [256u32, 512, 768] {
            let mut times = Vec::new();
            let mut bytes = Vec::new();
            for _ in 0..IMAGING_REPEATS {
                let began = Instant::now();
                let picture = encoding::decode_master(master, MASTER_SIDE_PX)?;
                bytes = encoding::derive(&picture, side, side, format)?;
                times.push(began.elapsed().as_secs_f64() * 1e3);
            }
            let ours = median(times);
            let lossless = encoding::resize(&encoding::decode_master(master, MASTER_SIDE_PX)?, side, side)?;
            let rgba = match format {
                Format::Jpg => lossless.flattened_on_white().chunks(3).flat_map(|c| [c[0], c[1], c[2], 255]).collect(),
                _ => lossless.rgba().to_vec(),
            };
            let reference = RgbaImage::from_raw(side, side, rgba).context("four bytes a pixel")?;
            let our_ssim = ssim(&decoded(&bytes)?, &reference);
            let Some((theirs, their_bytes)) = peers.get(&(format.as_str().to_owned(), u64::from(side))) else {
                println!(
                    "  {format:<6} {side:>4}  {ours:7.1} ms                 {:>7}                       {our_ssim:.4}",
                    bytes.len()
                );
                continue;
            };
            let their_ssim =
                ssim(&decoded(&std::fs::read(out.path().join(format!("sharp-{side}.{format}")))?)?, &reference);
            println!(
                "  {format:<6} {side:>4}  {ours:7.1} {theirs:8.1}   {:4.2}x {:>8} {their_bytes:>8}        {:5.2} {our_ssim:8.4} {their_ssim:.4}",
                theirs / ours,
                bytes.len(),
                bytes.len() as f64 / *their_bytes as f64,
            );
        }
    }
    Ok(())
}
