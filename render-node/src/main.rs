//! `cyclorama-node`: serves a control plane (`run`), or renders and checks on this machine alone.

// `println!` and `eprintln!` panic when their output is closed or full; commands print through
// `output`, the agent logs.
#![warn(clippy::print_stdout, clippy::print_stderr)]

use clap::{Parser, Subcommand};
use cyclorama_core::output::{self, OutputError};
use cyclorama_node::causes::with_causes;
use cyclorama_node::commands::bench::{BenchArguments, bench};
use cyclorama_node::commands::compare_picture::{ComparePictureArguments, compare_picture};
use cyclorama_node::commands::contact_sheet::{ContactSheetArguments, contact_sheet};
use cyclorama_node::commands::doctor::doctor;
use cyclorama_node::commands::model_add::{ModelOptions, add_model};
use cyclorama_node::commands::render::{RenderArguments, render};
use cyclorama_node::commands::run::serve;
use cyclorama_node::commands::vehicle_commands::{CheckArguments, CompareArguments, check_vehicles, compare_vehicles};
use cyclorama_node::config::{Config, environment};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit status with which `clap` ends on wrong arguments.
const WRONG_USAGE: u8 = 2;

/// Renders vehicle images for a Cyclorama control plane.
#[derive(Parser)]
#[command(name = "cyclorama-node", version)]
struct CommandLine {
    /// Settings file (TOML); CYCLORAMA_NODE_* variables override it.
    #[arg(long, global = true, env = "CYCLORAMA_NODE_CONFIG")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Takes jobs from the control plane until it is stopped (the default command); with several
    /// adapters, starts one process for each.
    Run {
        /// For a parent process that holds the other end of standard input: stop when it closes,
        /// and finish the current jobs first when a byte arrives.
        #[arg(long)]
        embedded: bool,
    },
    /// Checks the graphics device, ONNX Runtime and the models, for each adapter.
    Doctor {
        #[arg(long)]
        json: bool,
    },
    /// Measures how fast this machine renders, with each model at several batch sizes.
    Bench(BenchArguments),
    /// Manages the models of this node.
    #[command(subcommand)]
    Model(ModelCommand),
    /// Renders one image to a file.
    Render(RenderArguments),
    /// Checks the geometry of many vehicles (dimensions, closed skins, framing, paint), or measures
    /// how their bodies would reflect. Needs no graphics device.
    CheckVehicles(CheckArguments),
    /// Measures how different the models of one make and body class look. Needs no graphics device.
    CompareVehicles(CompareArguments),
    /// Draws many vehicles, views or colours on one PNG, to look at.
    ContactSheet(ContactSheetArguments),
    /// Draws the outlines of a vehicle over a picture of the real one, for people who draw sheets.
    /// Needs no graphics device.
    ComparePicture(ComparePictureArguments),
}

#[derive(Subcommand)]
enum ModelCommand {
    /// Adds a folder in the diffusers ONNX layout as a model: inspects it, writes its lock file and
    /// renders a test image.
    Add {
        folder: PathBuf,
        #[command(flatten)]
        wishes: Box<ModelOptions>,
    },
}

fn main() -> ExitCode {
    let arguments = match CommandLine::try_parse() {
        Ok(arguments) => arguments,
        // A requested text (`--help`) goes to standard output, an error to standard error.
        Err(told) => {
            let printed = told.print();
            return match (told.use_stderr(), printed) {
                (true, _) => ExitCode::from(WRONG_USAGE),
                (false, Ok(())) => ExitCode::SUCCESS,
                (false, Err(cause)) => failed(&OutputError::from(cause).into()),
            };
        }
    };
    log_to_standard_error();
    perform(arguments).unwrap_or_else(|error| failed(&error))
}

fn failed(error: &anyhow::Error) -> ExitCode {
    // The reader closed the output because it has seen enough.
    if let Some(OutputError::Closed) = error.downcast_ref() {
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

/// Logs to standard error, because standard output is for results. `RUST_LOG` sets the levels; the
/// default shows what matters.
fn log_to_standard_error() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| {
        tracing_subscriber::EnvFilter::new("info,ort=warn,wgpu_core=warn,wgpu_hal=error,naga=warn,opentelemetry=warn")
    });
    let in_colour = std::io::stderr().is_terminal() && environment("NO_COLOR").is_none();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(in_colour)
        .with_writer(std::io::stderr)
        // A line that cannot be written is lost. Reporting that on standard error, too, would panic
        // in the thread that logs.
        .log_internal_errors(false)
        .init();
}
