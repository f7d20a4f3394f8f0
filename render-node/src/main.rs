//! `cyclorama-node`: serves a control plane (`run`), or renders and checks on this machine alone.

// Both panic when their output is closed or full; commands print through `output`, the agent logs.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod compare_picture;
mod surface_command;
mod vehicle_commands;

use anyhow::{Context, bail};
use clap::{Args, Parser, Subcommand};
use cyclorama_core::output::{self, Unprinted};
use cyclorama_core::traces::{Exporter, Trace};
use cyclorama_core::{BodyClass, Format, Paint, Vehicle, View, encoding};
use cyclorama_node::agent::{Agent, with_causes};
use cyclorama_node::bench::{self, Figures};
use cyclorama_node::config::{Config, LocalConfig, environment};
use cyclorama_node::contact_sheet::{self, Darkroom};
use cyclorama_node::control_plane::ControlPlane;
use cyclorama_node::doctor;
use cyclorama_node::engine::Engine;
use cyclorama_node::gpu;
use cyclorama_node::model_add::{self, Added, Wishes};
use cyclorama_node::processes;
use cyclorama_node::renderer::{Order, Renderer};
use cyclorama_node::vehicle::close_up::Part;
use cyclorama_node::vehicle::typical::typical;
use rustix::process::{Signal, getpid, kill_process};
use std::collections::BTreeMap;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use compare_picture::{ComparePictureArguments, compare_picture};
use vehicle_commands::{CheckArguments, CompareArguments, check_vehicles, compare_vehicles, read_vehicles};

/// How long the engine gets to put its device away, and to end a render that nobody waits for, when the node leaves.
const ENGINE_END_TIME: Duration = Duration::from_secs(20);

/// As the arguments' own library ends.
const WRONG_USAGE: u8 = 2;

/// More cannot be judged on one page, and a long list given by mistake would take hours.
const VEHICLES_ON_A_SHEET_MAX: usize = 400;

/// Renders vehicle pictures for a Cyclorama control plane.
#[derive(Parser)]
#[command(name = "cyclorama-node", version)]
struct CommandLine {
    /// Settings file (TOML); CYCLORAMA_NODE_* variables win over it.
    #[arg(long, global = true, env = "CYCLORAMA_NODE_CONFIG")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Pulls work from the control plane until told to stop (the default); with several adapters, in a process for each.
    Run {
        /// End when standard input closes, and finish what is held when a byte comes: for a parent that holds the other end of the pipe.
        #[arg(long)]
        embedded: bool,
    },
    /// Checks the graphics device, ONNX Runtime and the models; with several adapters, for each.
    Doctor {
        #[arg(long)]
        json: bool,
    },
    /// Says how fast this machine renders: each model at several batch sizes.
    Bench(BenchArguments),
    /// The models this node renders with.
    #[command(subcommand)]
    Model(ModelCommand),
    /// Renders one picture into a file.
    Render(RenderArguments),
    /// Checks the geometry of many vehicles: dimensions, closed skins, frame, paint; or measures how their bodies would reflect. Needs no
    /// graphics device.
    CheckVehicles(CheckArguments),
    /// Says how different the models of one make and body class look. Needs no graphics device.
    CompareVehicles(CompareArguments),
    /// Many vehicles, views or colours on one PNG, to judge with the eye.
    ContactSheet(ContactSheetArguments),
    /// Lays the outlines of our vehicle over a picture of the real one: for people who draw sheets. Needs no graphics device.
    ComparePicture(ComparePictureArguments),
}

#[derive(Subcommand)]
enum ModelCommand {
    /// Makes a folder in the diffusers ONNX layout a model: inspects it, writes its lock file, renders a test picture.
    Add {
        folder: PathBuf,
        #[command(flatten)]
        wishes: Box<Wishes>,
    },
}

#[derive(Args)]
struct BenchArguments {
    /// Largest batch; the sizes are 1, 2, 4 and so on.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=16))]
    batch_max: u32,
    /// Batches of each size that are measured.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    turns: u16,
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct ContactSheetArguments {
    /// Lines as `cyclorama catalog list` prints them; standard input if absent.
    #[arg(long)]
    vehicles: Option<PathBuf>,
    /// Only the vehicles named in this file, in its order: a line each, `make/model/year`; `#` begins a remark.
    #[arg(long)]
    choose: Option<PathBuf>,
    #[arg(long, default_value = "front-3-4", value_delimiter = ',', value_parser = parse::<View>)]
    views: Vec<View>,
    /// Close-ups of these parts in place of whole views, with one of the looks `light`, `quick` and `zebra`; `--parts` alone shows all.
    #[arg(long, value_enum, value_delimiter = ',', num_args = 0.., conflicts_with = "views")]
    parts: Option<Vec<Part>>,
    /// A preset's name, or any colour with a finish and without the ground shadow: `red`, `#1f4e8c`, `#1f4e8c-matt-no-shadow`.
    #[arg(long, default_value = "silver", value_delimiter = ',', value_parser = parse::<Paint>)]
    colors: Vec<Paint>,
    /// Each vehicle in the next colour, in place of every vehicle in all.
    #[arg(long)]
    one_color_each: bool,
    /// Vehicles side by side.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=400))]
    in_a_row: u16,
    #[arg(long, value_enum, default_value = "model")]
    look: contact_sheet::Look,
    /// Side of each picture in pixels.
    #[arg(long, default_value_t = 384)]
    cell: u32,
    /// Grey of the page, 0 to 255; transparent if absent.
    #[arg(long)]
    page: Option<u8>,
    /// Writes the receipt of each picture to this file, a line of JSON each: its figures of quality and times, or with the look `light`
    /// how the rig lights the paint.
    #[arg(long)]
    receipts: Option<PathBuf>,
    #[arg(long)]
    out: PathBuf,
}

#[derive(Args)]
struct RenderArguments {
    #[arg(long, default_value = "typical")]
    make: String,
    #[arg(long, default_value = "car")]
    model: String,
    #[arg(long, default_value_t = 2024)]
    year: u16,
    #[arg(long, default_value = "front-3-4", value_parser = parse::<View>)]
    view: View,
    /// A preset's name, or any colour with a finish and without the ground shadow: `red`, `#1f4e8c`, `#1f4e8c-matt-no-shadow`.
    #[arg(long, default_value = "silver", value_parser = parse::<Paint>)]
    color: Paint,
    /// Shape of the body; dimensions are typical for it unless given.
    #[arg(long, default_value = "sedan", value_parser = parse::<BodyClass>)]
    body: BodyClass,
    #[arg(long, value_parser = millimetres())]
    length_mm: Option<u32>,
    #[arg(long, value_parser = millimetres())]
    width_mm: Option<u32>,
    #[arg(long, value_parser = millimetres())]
    height_mm: Option<u32>,
    #[arg(long, value_parser = millimetres())]
    wheelbase_mm: Option<u32>,
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Side of the picture in pixels, at most 1024.
    #[arg(long, default_value_t = cyclorama_core::MASTER_SIDE_PX, value_parser = clap::value_parser!(u32).range(1..=1024))]
    size: u32,
    /// .png, .webp or .jpg
    #[arg(long)]
    out: PathBuf,
}

/// From a toy's to the longest lorry's.
fn millimetres() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(100..=30_000)
}

fn parse<T: std::str::FromStr<Err = cyclorama_core::UnknownName>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|e: cyclorama_core::UnknownName| e.to_string())
}

fn main() -> ExitCode {
    let arguments = match CommandLine::try_parse() {
        Ok(arguments) => arguments,
        // What was asked for (`--help`) goes to standard output, what is wrong to standard error.
        Err(told) => {
            let printed = told.print();
            return match (told.use_stderr(), printed) {
                (true, _) => ExitCode::from(WRONG_USAGE),
                (false, Ok(())) => ExitCode::SUCCESS,
                (false, Err(cause)) => failed(&Unprinted::from(cause).into()),
            };
        }
    };
    log_to_standard_error();
    perform(arguments).unwrap_or_else(|error| failed(&error))
}

fn failed(error: &anyhow::Error) -> ExitCode {
    // Whoever read the output has seen enough.
    if let Some(Unprinted::Closed) = error.downcast_ref() {
        return ExitCode::SUCCESS;
    }
    output::note(format_args!("cyclorama-node: {}", with_causes(error.as_ref())));
    ExitCode::FAILURE
}

fn perform(arguments: CommandLine) -> anyhow::Result<ExitCode> {
    let settings_file = arguments.config.as_deref();
    let config = Config::load(settings_file, environment)?;
    match arguments.command.unwrap_or(Command::Run { embedded: false }) {
        Command::Run { embedded } => serve(config, settings_file, embedded),
        Command::Doctor { json } => examine(&config, settings_file, json),
        Command::Model(ModelCommand::Add { folder, wishes }) => add_model(&config.local, &folder, *wishes),
        Command::Bench(arguments) => measure(&config.local, &arguments),
        Command::CheckVehicles(arguments) => check_vehicles(&config.local, &arguments),
        Command::CompareVehicles(arguments) => compare_vehicles(&config.local, &arguments),
        Command::Render(arguments) => render(&config.local, &arguments),
        Command::ContactSheet(arguments) => contact_sheet(&config.local, arguments),
        Command::ComparePicture(arguments) => compare_picture(&config.local, &arguments),
    }
}

fn measure(config: &LocalConfig, arguments: &BenchArguments) -> anyhow::Result<ExitCode> {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let mut unprinted = None;
    let mut told = |figures: &Figures| {
        if !arguments.json && unprinted.is_none() {
            let printed = output::line(format_args!(
                "{}, {}, batch of {}: {:.0} ms a step, {:.1} renders a minute, {} MB of memory, {} MB of the GPU's, GPU at work {}",
                figures.pipeline,
                figures.execution_provider,
                figures.batch,
                figures.step_ms,
                figures.renders_per_minute,
                or_none(figures.memory_mb.map(|megabytes| megabytes.to_string())),
                or_none(figures.gpu_memory_used_mb.map(|megabytes| megabytes.to_string())),
                or_none(figures.gpu_utilisation.map(|share| format!("{:.0} %", share * 100.0))),
            ));
            unprinted = printed.err();
        }
        // Without a reader the rest would be measured for nobody.
        unprinted.is_none()
    };
    let figures = bench::measure(config, arguments.batch_max, usize::from(arguments.turns), &mut told)?;
    if let Some(unprinted) = unprinted {
        return Err(unprinted.into());
    }
    if arguments.json {
        output::line(serde_json::to_string(&figures)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn add_model(config: &LocalConfig, folder: &Path, wishes: Wishes) -> anyhow::Result<ExitCode> {
    let Added { lock, digest, self_test } = model_add::add(config, folder, wishes)?;
    let mut told = format!(
        "{} is model `{}` ({}, {}, {})\ndigest {digest}\n",
        folder.display(),
        lock.id,
        lock.precision,
        lock.license,
        output::count(lock.files.len(), "file")
    );
    if let Some(settings) = &lock.text_to_image {
        told.push_str(&format!("{}\n", serde_json::to_string_pretty(settings)?));
    }
    told.push_str(&format!("self-test passed in {:.1} s\n", self_test.as_secs_f64()));
    output::text(&told)?;
    Ok(ExitCode::SUCCESS)
}

fn serve(config: Config, settings_file: Option<&Path>, embedded: bool) -> anyhow::Result<ExitCode> {
    let asked = Arc::new(watch::Sender::new(false));
    if embedded {
        listen_to_parent(asked.clone())?;
    }
    let (url, token) = config.control_plane()?;
    if config.adapters.are_several() {
        return serve_with_each(&config, settings_file, asked.subscribe());
    }
    // The process-wide default for TLS; a second one would be a defect of ours.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        bail!("TLS was already set up");
    }
    let traces = config.traces.as_deref().map(|url| Exporter::start(url, "cyclorama-node", env!("CARGO_PKG_VERSION")));
    let traces = traces.transpose().context("OTEL_EXPORTER_OTLP_ENDPOINT")?;
    let control_plane = ControlPlane::new(url, token.clone()).context("TLS cannot be set up on this machine")?;
    let engine = Engine::start(config.local.clone(), config.slots as usize)?;
    let device = engine.device();
    let provider = device.execution_provider.as_deref();
    tracing::info!(device = device.name, backend = device.backend, provider, "the engine is ready");

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // Kept to the end, so that a word of the parent that comes late finds a listener.
    let by_parent = asked.subscribe();
    let ended = runtime.block_on(async {
        let stop = told_to_stop(by_parent.clone())?;
        Agent::new(control_plane, engine.clone(), &config).run(stop).await?;
        anyhow::Ok(())
    });
    if let Some(traces) = traces {
        traces.stop();
    }
    // The engine may be in the middle of a render that nobody waits for, on a device that never answers again.
    let engine_ends =
        async { tokio::time::timeout(ENGINE_END_TIME, tokio::task::spawn_blocking(|| drop(engine))).await };
    if runtime.block_on(engine_ends).is_err() {
        tracing::warn!("the engine does not end: leaving without it");
        end_at_once();
    }
    runtime.shutdown_background();
    ended.map(|()| ExitCode::SUCCESS)
}

/// A process for each adapter, until told to stop.
fn serve_with_each(
    config: &Config,
    settings_file: Option<&Path>,
    asked: watch::Receiver<bool>,
) -> anyhow::Result<ExitCode> {
    let processes = processes::plan(config, &gpu::adapters(), gpu::nvidia_uuid)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        processes::watch_over(processes, settings_file, told_to_stop(asked)?).await?;
        anyhow::Ok(())
    });
    // A line of the log may still wait for a reader.
    runtime.shutdown_background();
    ended.map(|()| ExitCode::SUCCESS)
}

/// The first SIGTERM or SIGINT, or the parent's word (`asked`), asks to finish what is held. A second signal ends the process at once; the
/// parent's word does not count for that, as a supervisor may tell parent and children alike.
fn told_to_stop(mut asked: watch::Receiver<bool>) -> std::io::Result<impl Future<Output = ()>> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        let is_signal = tokio::select! {
            _ = terminate.recv() => true,
            _ = interrupt.recv() => true,
            _ = asked.wait_for(|asked| *asked) => false,
        };
        tokio::spawn(async move {
            // Who is asked by the parent and then told by a supervisor is told once.
            for _ in usize::from(is_signal)..2 {
                tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
            }
            // Whoever reads the log may stall.
            let said = tokio::task::spawn_blocking(|| tracing::warn!("told twice: stopping at once"));
            let _ = tokio::time::timeout(Duration::from_millis(200), said).await;
            end_at_once();
        });
    })
}

/// Ends without running exit handlers: those of ONNX Runtime and of the Vulkan driver wait for threads that are still at work,
/// some of them for ever.
fn end_at_once() -> ! {
    let _ = kill_process(getpid(), Signal::KILL);
    // Only if the system refuses a process to end itself.
    std::process::abort()
}

/// A byte from the parent asks to finish what is held. A parent that dies without a word closes the pipe: nobody is left to take results, so
/// nothing is worth finishing.
fn listen_to_parent(asked: Arc<watch::Sender<bool>>) -> std::io::Result<()> {
    let listen = move || {
        let mut bytes = [0; 256];
        let mut input = std::io::stdin().lock();
        loop {
            match input.read(&mut bytes) {
                Ok(0) => break,
                Ok(_) => {
                    asked.send_replace(true);
                    // Nobody listens before the engine is ready: nothing is held, and a model may load for minutes. What a signal does then.
                    if asked.receiver_count() == 0 {
                        let _ = kill_process(getpid(), Signal::TERM);
                    }
                }
                Err(e) if e.kind() != std::io::ErrorKind::Interrupted => break,
                Err(_) => {}
            }
        }
        // Without a word: the parent also read our log.
        end_at_once();
    };
    std::thread::Builder::new().name("parent".to_owned()).spawn(listen).map(drop)
}

fn examine(config: &Config, settings_file: Option<&Path>, json: bool) -> anyhow::Result<ExitCode> {
    let checks = match config.adapters.are_several() {
        true => doctor::examine_each(config, settings_file),
        false => doctor::examine(&config.local),
    };
    let ok = checks.iter().all(|check| check.ok);
    if json {
        output::line(serde_json::to_string_pretty(&serde_json::json!({"ok": ok, "checks": checks}))?)?;
    } else {
        let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0).max(16);
        for check in &checks {
            let ok = if check.ok { "ok" } else { "FAIL" };
            output::line(format_args!("{ok:<4} {:<width$} {}", check.name, check.detail))?;
        }
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn render(config: &LocalConfig, arguments: &RenderArguments) -> anyhow::Result<ExitCode> {
    let extension = arguments.out.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let format: Format = extension.parse().with_context(|| format!("{} names no format", arguments.out.display()))?;
    let mut renderer = Renderer::start(config)?;
    let order = Order {
        vehicle: described(arguments),
        view: arguments.view,
        colours: vec![arguments.color],
        pipeline: renderer.pipelines()[0].id.clone(),
        seed: arguments.seed,
        trace: Trace::none(),
    };
    let render = renderer.render(&order, &mut |_, _| true)?;
    for (_, picture) in &render.pictures {
        let bytes = encoding::derive(picture, arguments.size, arguments.size, format)?;
        std::fs::write(&arguments.out, bytes).with_context(|| format!("cannot write {}", arguments.out.display()))?;
    }
    output::line(format_args!("{} {}", arguments.out.display(), render.receipt["timings_ms"]))?;
    Ok(ExitCode::SUCCESS)
}

fn contact_sheet(config: &LocalConfig, arguments: ContactSheetArguments) -> anyhow::Result<ExitCode> {
    let listed = read_vehicles(arguments.vehicles.as_deref())?;
    let vehicles = match &arguments.choose {
        Some(path) => {
            let names = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            chosen(&names, &listed)?
        }
        None => listed,
    };
    if vehicles.len() > VEHICLES_ON_A_SHEET_MAX {
        bail!("{} vehicles do not fit on a sheet of at most {VEHICLES_ON_A_SHEET_MAX}", vehicles.len());
    }
    let plan = contact_sheet::Plan {
        vehicles,
        views: arguments.views,
        parts: arguments.parts.map_or(Vec::new(), |parts| if parts.is_empty() { Part::ALL.to_vec() } else { parts }),
        colours: arguments.colors,
        one_colour_each: arguments.one_color_each,
        in_a_row: usize::from(arguments.in_a_row),
        cell_px: arguments.cell.clamp(16, cyclorama_core::MASTER_SIDE_PX),
        page: arguments.page,
    };
    let mut darkroom = Darkroom::open(arguments.look, config)?;
    let sheet = contact_sheet::make(&mut darkroom, &plan, &mut |done, total| {
        output::note(format_args!("{done} of {total}: {}", plan.vehicles[done - 1].key()));
    })?;
    std::fs::write(&arguments.out, encoding::encode(&sheet, Format::Png)?)
        .with_context(|| format!("cannot write {}", arguments.out.display()))?;
    if let Some(path) = &arguments.receipts {
        let lines: String = darkroom.receipts().iter().map(|receipt| format!("{receipt}\n")).collect();
        std::fs::write(path, lines).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The vehicles that a list names, in its order.
fn chosen(names: &str, listed: &[Vehicle]) -> anyhow::Result<Vec<Vehicle>> {
    let by_key: BTreeMap<String, &Vehicle> = listed.iter().map(|vehicle| (vehicle.key(), vehicle)).collect();
    let lines = names.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let named = lines.filter(|line| !line.is_empty()).map(|line| {
        by_key
            .get(line)
            .map(|vehicle| (*vehicle).clone())
            .with_context(|| format!("`{line}` is not among the vehicles"))
    });
    named.collect()
}

fn described(arguments: &RenderArguments) -> Vehicle {
    let mut vehicle = typical(arguments.body);
    vehicle.make.clone_from(&arguments.make);
    vehicle.model.clone_from(&arguments.model);
    vehicle.year = arguments.year;
    let dimensions = &mut vehicle.dimensions;
    for (given, value) in [
        (arguments.length_mm, &mut dimensions.length_mm),
        (arguments.width_mm, &mut dimensions.width_mm),
        (arguments.height_mm, &mut dimensions.height_mm),
        (arguments.wheelbase_mm, &mut dimensions.wheelbase_mm),
    ] {
        if let Some(given) = given {
            *value = given;
        }
    }
    vehicle
}

/// Levels by `RUST_LOG`, as everywhere; what matters by default. Standard output is for results.
fn log_to_standard_error() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| {
        tracing_subscriber::EnvFilter::new("info,ort=warn,wgpu_core=warn,wgpu_hal=error,naga=warn,opentelemetry=warn")
    });
    let in_colour = std::io::stderr().is_terminal() && environment("NO_COLOR").is_none();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(in_colour)
        .with_writer(std::io::stderr)
        // A line that cannot be written is lost; told on standard error as well, it would be a panic in whoever logs.
        .log_internal_errors(false)
        .init();
}
