//! `cyclorama-node`: serves a control plane (`run`), or renders and checks on this machine alone.

// Both panic when their output is closed or full; commands print through `output`, the agent logs.
#![warn(clippy::print_stdout, clippy::print_stderr)]

use clap::{Parser, Subcommand};
use cyclorama_core::output::{self, Unprinted};
use cyclorama_node::causes::with_causes;
use cyclorama_node::commands::bench::{BenchArguments, bench};
use cyclorama_node::commands::compare_picture::{ComparePictureArguments, compare_picture};
use cyclorama_node::commands::contact_sheet::{ContactSheetArguments, contact_sheet};
use cyclorama_node::commands::doctor::doctor;
use cyclorama_node::commands::model_add::{Wishes, add_model};
use cyclorama_node::commands::render::{RenderArguments, render};
use cyclorama_node::commands::run::serve;
use cyclorama_node::commands::vehicle_commands::{CheckArguments, CompareArguments, check_vehicles, compare_vehicles};
use cyclorama_node::config::{Config, environment};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// As the arguments' own library ends.
const WRONG_USAGE: u8 = 2;

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
        Command::Doctor { json } => doctor(&config, settings_file, json),
        Command::Model(ModelCommand::Add { folder, wishes }) => add_model(&config.local, &folder, *wishes),
        Command::Bench(arguments) => bench(&config.local, &arguments),
        Command::CheckVehicles(arguments) => check_vehicles(&config.local, &arguments),
        Command::CompareVehicles(arguments) => compare_vehicles(&config.local, &arguments),
        Command::Render(arguments) => render(&config.local, &arguments),
        Command::ContactSheet(arguments) => contact_sheet(&config.local, arguments),
        Command::ComparePicture(arguments) => compare_picture(&config.local, &arguments),
    }
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
