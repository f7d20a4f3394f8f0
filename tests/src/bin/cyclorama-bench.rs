//! `make bench`: prints measurements of a running service and of the imaging stage, as tables.
//! Nothing is asserted here.
//!
//! The service, its embedded node and the load generator share the machine, as they do for a new
//! user.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use cyclorama_core::encoding::{self, Pixmap};
use cyclorama_core::frame::plan;
use cyclorama_core::{Fit, Format, Framing, MASTER_SIDE_PX};
use cyclorama_tests::likeness::ssim;
use cyclorama_tests::service::Customer;
use cyclorama_tests::{DatabaseChoice, Options, Service};
use image::RgbaImage;
use serde_json::{Value, json};

/// One vehicle for each body class. Each cold render is another vehicle and view.
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
const IMAGING_TURNS: usize = 11;
/// Number of turns for AVIF, which takes ten times as long as the other formats.
const AVIF_TURNS: usize = 3;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (mut sharp, mut masters) = (None, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--sharp" => sharp = arguments.next().map(PathBuf::from),
            "--masters" => masters = arguments.next().map(PathBuf::from),
            other => anyhow::bail!(
                "unknown argument {other}; usage: cyclorama-bench [--sharp FOLDER] [--masters FOLDER]\n\
                 with a folder of 1024 px PNG masters only the imaging stage is measured"
            ),
        }
    }
    if let Some(folder) = masters {
        return imaging(&stored_masters(&folder)?, sharp);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let masters = runtime.block_on(service_figures())?;
    imaging(&masters, sharp)
}

fn stored_masters(folder: &Path) -> Result<Vec<Vec<u8>>> {
    let entries = std::fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    let mut files: Vec<PathBuf> = entries.iter().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "png"));
    files.sort();
    ensure!(!files.is_empty(), "no PNG in {}", folder.display());
    Ok(files.iter().map(std::fs::read).collect::<std::io::Result<_>>()?)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn percentile(values: &[f64], ratio: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * ratio) as usize]
}

/// Requests one image, and returns the milliseconds to the last byte and the bytes.
async fn timed(service: &Service, customer: &Customer, query: &str) -> Result<(f64, Vec<u8>)> {
    let began = Instant::now();
    let answer = service.get(customer, &format!("/api/v1/images/car?{query}")).send().await?;
    let status = answer.status();
    let bytes = answer.bytes().await?;
    ensure!(status.is_success(), "{query}: {status} {}", String::from_utf8_lossy(&bytes));
    Ok((began.elapsed().as_secs_f64() * 1e3, bytes.to_vec()))
}

/// Prints measurements of the service, and returns the masters of the cold renders.
async fn service_figures() -> Result<Vec<Vec<u8>>> {
    let service = Service::start_with(DatabaseChoice::Sqlite, Options::default().with_embedded_node()).await?;
    let customer = service.customer(1_000_000)?;
    // The home page's examples are rendered at the first start. After them the node is idle, and
    // warm.
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
    let mut masters = Vec::new();
    println!("cold renders, request to last byte (PNG 1024)");
    for (make, model, year, view) in COLD {
        let query = format!("make={make}&model={model}&year={year}&view={view}&color=red");
        let (ms, bytes) = timed(&service, &customer, &query).await?;
        println!("  {ms:8.0} ms  {make} {model} {year} {view}");
        cold.push(ms);
        masters.push(bytes);
    }
    println!("  {:8.0} ms  median   (goal 5,000)", median(cold));
    stages(&service)?;

    let mut paint = Vec::new();
    for colour in ["blue", "white", "black", "green", "gold"] {
        let (make, model, year, view) = COLD[0];
        let query = format!("make={make}&model={model}&year={year}&view={view}&color={colour}");
        paint.push(timed(&service, &customer, &query).await?.0);
    }
    println!("another colour of the same vehicle and view\n  {:8.0} ms  median   (goal 250)", median(paint));

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
    println!("render node, peak resident memory\n  {:8.0} MiB   (goal 1,144)", node_peak_mb()?);
    Ok(masters)
}

/// Prints median stage times of the renders so far, from their receipts.
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

/// Peak resident memory of the running `cyclorama-node` process.
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

/// `sharp.mjs`, running and warm.
struct Sharp {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    out: PathBuf,
}

impl Sharp {
    fn start(folder: &Path, scratch: &Path) -> Result<Self> {
        let mark = scratch.join("mark.xmp");
        std::fs::write(&mark, encoding::xmp_packet())?;
        let mut process = Command::new("node")
            .arg(cyclorama_tests::package_file("bench/sharp.mjs"))
            .args([folder, &mark])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("node")?;
        let orders = process.stdin.take().context("no standard input")?;
        let answers = BufReader::new(process.stdout.take().context("no standard output")?);
        Ok(Self { process, orders, answers, out: scratch.join("sharp-picture") })
    }

    /// Makes one image with sharp, and returns milliseconds and bytes. With `lossless` it returns
    /// the encoder's input, as a PNG.
    fn make(&mut self, master: &Path, format: Format, wanted: &WantedImage, lossless: bool) -> Result<(f64, Vec<u8>)> {
        let order = json!({
            "master": master, "format": format.as_str(), "frame": wanted.name(), "width": wanted.width, "height": wanted.height,
            "lossless": lossless, "out": self.out,
        });
        writeln!(self.orders, "{order}")?;
        let mut line = String::new();
        ensure!(self.answers.read_line(&mut line)? > 0, "sharp.mjs ended");
        let answer: Value = serde_json::from_str(&line)?;
        Ok((answer["ms"].as_f64().context("ms")?, std::fs::read(&self.out)?))
    }
}

impl Drop for Sharp {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Decodes the pixels of a delivered image. AVIF is decoded by sharp, so that none of our own
/// decoders is involved.
fn read_back(bytes: &[u8], format: Format, sharp: Option<&mut Sharp>, scratch: &Path) -> Result<RgbaImage> {
    if format != Format::Avif {
        return decoded(bytes);
    }
    // Each file has another name, because sharp.mjs remembers the files that it has read.
    let file = tempfile::Builder::new().suffix(".avif").tempfile_in(scratch)?.into_temp_path().keep()?;
    std::fs::write(&file, bytes)?;
    let probe = encoding::probe(bytes)?;
    let whole = WantedImage { fit: None, width: probe.width, height: probe.height };
    let png = sharp.context("only sharp reads AVIF here")?.make(&file, Format::Png, &whole, true)?.1;
    decoded(&png)
}

/// The image that is made of a master: a square, or a trimmed box.
#[derive(Clone, Copy)]
struct WantedImage {
    /// `None` for a plain square.
    fit: Option<Fit>,
    width: u32,
    height: u32,
}

impl WantedImage {
    const fn square(side: u32) -> Self {
        WantedImage { fit: None, width: side, height: side }
    }

    /// The name of the kind in sharp.mjs.
    fn name(&self) -> &'static str {
        self.fit.map_or("square", Fit::as_str)
    }

    /// Makes the image of a master as the service does: the bounds of the visible part are searched
    /// in the master.
    fn derive(&self, master: &Pixmap, format: Format) -> Result<Vec<u8>> {
        Ok(match self.frame() {
            None => encoding::derive(master, self.width, self.height, format)?,
            Some(frame) => encoding::frame(master, &encoding::sight(master, SCALE_UM_PER_PX), &frame, format)?,
        })
    }

    /// Makes the encoder's input.
    fn resized(&self, master: &Pixmap) -> Result<Pixmap> {
        Ok(match self.frame() {
            None => encoding::resize(master, self.width, self.height)?,
            Some(frame) => encoding::framed(master, &plan(&frame, &encoding::sight(master, SCALE_UM_PER_PX)))?,
        })
    }

    fn frame(&self) -> Option<Framing> {
        let (width, height) = (Some(self.width), Some(self.height));
        self.fit.map(|fit| Framing { fit, width, height, trim: true, ..Framing::default() })
    }
}

/// Any value works, because nothing here is at true scale.
const SCALE_UM_PER_PX: u32 = 5_000;

/// The measurements of one tool for one format and side, each the mean of all vehicles.
#[derive(Default)]
struct ImagingFigures {
    ms: f64,
    bytes: f64,
    ssim: f64,
}

impl ImagingFigures {
    fn add(&mut self, ratio: f64, times: Vec<f64>, bytes: usize, shown: &RgbaImage, lossless: &RgbaImage) {
        self.ms += times.into_iter().fold(f64::INFINITY, f64::min) * ratio;
        self.bytes += bytes as f64 * ratio;
        self.ssim += ssim(shown, lossless) * ratio;
    }
}

/// Measures the way from a master PNG to a derivative, with decoding and resizing, in one thread.
/// sharp does the same on the same masters, turn by turn, so that other work of the machine affects
/// both. The fastest turn counts, because other work can only make a turn slower. Each tool is
/// rated by the loss of its own encoder: SSIM is against the tool's own resized image, because two
/// correct resizing filters differ by more than any encoder here.
fn imaging(masters: &[Vec<u8>], sharp: Option<PathBuf>) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let mut files = Vec::new();
    for (number, master) in masters.iter().enumerate() {
        files.push(scratch.path().join(format!("master-{number}.png")));
        std::fs::write(&files[number], master)?;
    }
    let mut sharp = sharp.map(|folder| Sharp::start(&folder, scratch.path())).transpose()?;
    println!(
        "imaging, {MASTER_SIDE_PX} px master PNG to derivative, one thread: means of {} vehicles, times are the fastest of \
         {IMAGING_TURNS} turns ({AVIF_TURNS} for AVIF); SSIM against each tool's own lossless resize",
        masters.len()
    );
    println!("| format, side | ours, ms | sharp, ms | speed | our bytes | bytes, ratio | our SSIM | sharp's SSIM |");
    println!("|---|---|---|---|---|---|---|---|");
    for format in [Format::Png, Format::Webp, Format::Jpg, Format::Avif] {
        if format == Format::Avif && sharp.is_none() {
            println!("AVIF is read back by sharp: it is not measured without --sharp");
            continue;
        }
        let squares = [256, 512, 768].map(WantedImage::square);
        let boxes = [Fit::Contain, Fit::Cover].map(|fit| WantedImage { fit: Some(fit), width: 512, height: 288 });
        for wanted in squares.into_iter().chain(boxes) {
            let (mut ours, mut theirs) = (ImagingFigures::default(), ImagingFigures::default());
            for (master, file) in masters.iter().zip(&files) {
                let ratio = 1.0 / masters.len() as f64;
                measure(
                    master,
                    file,
                    format,
                    &wanted,
                    ratio,
                    sharp.as_mut(),
                    scratch.path(),
                    (&mut ours, &mut theirs),
                )?;
            }
            match wanted.fit {
                None => print!("| {format} {} | {:.1} | ", wanted.width, ours.ms),
                Some(fit) => print!("| {format} {}x{} {fit}, trimmed | {:.1} | ", wanted.width, wanted.height, ours.ms),
            }
            match &sharp {
                None => println!("| | {:.0} | | {:.4} | |", ours.bytes, ours.ssim),
                Some(_) => println!(
                    "{:.1} | {:.2} | {:.0} | {:.2} | {:.4} | {:.4} |",
                    theirs.ms,
                    theirs.ms / ours.ms,
                    ours.bytes,
                    ours.bytes / theirs.bytes,
                    ours.ssim,
                    theirs.ssim
                ),
            }
        }
    }
    Ok(())
}

/// Adds one master's measurements for one format and side, ours and sharp's.
#[allow(clippy::too_many_arguments)]
fn measure(
    master: &[u8],
    file: &Path,
    format: Format,
    wanted: &WantedImage,
    ratio: f64,
    mut sharp: Option<&mut Sharp>,
    scratch: &Path,
    (ours, theirs): (&mut ImagingFigures, &mut ImagingFigures),
) -> Result<()> {
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    let (mut our_bytes, mut their_bytes) = (Vec::new(), Vec::new());
    // The first turn of each is not counted.
    for turn in 0..=if format == Format::Avif { AVIF_TURNS } else { IMAGING_TURNS } {
        let began = Instant::now();
        let picture = encoding::decode_master(master, MASTER_SIDE_PX)?;
        our_bytes = wanted.derive(&picture, format)?;
        let ms = began.elapsed().as_secs_f64() * 1e3;
        drop(picture);
        if turn > 0 {
            our_times.push(ms);
        }
        if let Some(sharp) = sharp.as_deref_mut() {
            let (ms, bytes) = sharp.make(file, format, wanted, false)?;
            their_bytes = bytes;
            if turn > 0 {
                their_times.push(ms);
            }
        }
    }
    let lossless = wanted.resized(&encoding::decode_master(master, MASTER_SIDE_PX)?)?;
    let rgba = match format {
        Format::Jpg => lossless.flattened_on_white().chunks(3).flat_map(|c| [c[0], c[1], c[2], 255]).collect(),
        _ => lossless.rgba().to_vec(),
    };
    let lossless = RgbaImage::from_raw(wanted.width, wanted.height, rgba).context("four bytes a pixel")?;
    let shown = read_back(&our_bytes, format, sharp.as_deref_mut(), scratch)?;
    ours.add(ratio, our_times, our_bytes.len(), &shown, &lossless);
    if let Some(sharp) = sharp {
        let lossless = decoded(&sharp.make(file, format, wanted, true)?.1)?;
        let shown = read_back(&their_bytes, format, Some(sharp), scratch)?;
        theirs.add(ratio, their_times, their_bytes.len(), &shown, &lossless);
    }
    Ok(())
}
