//! The command line: `serve` runs the service; customers' commands call one as any program does
//! (`api`), operators' commands through its operator address.

mod account;
mod api;
mod backup;
mod budget;
mod catalog;
mod client;
mod csv_list;
mod doctor;
mod exit;
mod key;
mod ledger;
mod mcp;
mod node;
mod numbers;
mod operator;
mod prewarm;
mod print;
mod render;
mod serve;
mod simulate;

use crate::owner_only;
use clap::{Parser, Subcommand};
use print::OutputError;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cyclorama", version, about = "An open vehicle image service", after_help = exit::EXIT_STATUSES)]
pub struct Cli {
    #[command(flatten)]
    whereabouts: client::Where,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Api(Box<api::ApiCommand>),
    /// Run the service
    Serve(serve::Serve),
    #[command(flatten)]
    Operator(operator::OperatorCommand),
    /// Create, inspect, compare and reload release files of the catalog
    #[command(subcommand)]
    Catalog(catalog::Catalog),
    Simulate(simulate::Simulate),
    Backup(backup::Backup),
    Restore(backup::Restore),
    /// Serve the tools for agents to a host that starts a program (key in CYCLORAMA_KEY)
    Mcp(mcp::Mcp),
    /// Check drivers, ONNX Runtime, models, database and object store of this machine, or with
    /// --url a service as its customer
    Doctor(doctor::Doctor),
}

impl Command {
    /// True if the files that the command makes may hold what other users of the machine must not
    /// read. The files that customers' commands save and the files of a catalog are readable as the
    /// user's umask allows; files with keys have modes of their own.
    fn keeps_secrets(&self) -> bool {
        !matches!(self, Command::Api(_) | Command::Mcp(_) | Command::Catalog(_) | Command::Simulate(_))
    }
}

impl Cli {
    async fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Api(command) => command.run(self.json).await,
            Command::Serve(command) => command.run(self.whereabouts.config()).await,
            Command::Operator(command) => command.run(&self.whereabouts.find()?, self.json).await,
            Command::Catalog(command) => command.run(&self.whereabouts, self.json).await,
            Command::Simulate(command) => command.run(self.json).await,
            Command::Backup(command) => command.run(self.whereabouts.config(), self.json).await,
            Command::Restore(command) => command.run(self.whereabouts.config(), self.json).await,
            Command::Mcp(command) => command.run().await,
            Command::Doctor(command) => command.run(self.whereabouts.config(), self.json).await,
        }
    }
}

/// Runs the command in the process's arguments. A failure is printed on standard error, causes
/// included: as a line, or as a document for programs that use the customers' commands. The exit
/// status tells the kind of failure.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Requested text (`--help`) goes to standard output, errors go to standard error.
        Err(message) => {
            let printed = message.print();
            return match (message.use_stderr(), printed) {
                (true, _) => ExitCode::from(exit::WRONG_USAGE),
                (false, Ok(())) => ExitCode::SUCCESS,
                (false, Err(cause)) => failed(&OutputError::from(cause).into(), false),
            };
        }
    };
    if cli.command.keeps_secrets() {
        owner_only::from_now_on();
    }
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            print::note(format_args!("cyclorama: the async runtime cannot start: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let for_programs = cli.json && matches!(cli.command, Command::Api(_));
    let done = runtime.block_on(cli.run());
    // Blocking work that hangs (a dead disk) must not keep the process from ending.
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error, for_programs),
    }
}

fn failed(error: &anyhow::Error, for_programs: bool) -> ExitCode {
    // The reader of the output closed it, and has seen enough.
    if let Some(OutputError::Closed) = error.downcast_ref::<OutputError>() {
        return ExitCode::SUCCESS;
    }
    match for_programs {
        true => print::note(exit::document(error)),
        false => print::note(format_args!("cyclorama: {error:#}")),
    }
    if let Some(hint) = exit::hint(error).filter(|_| !for_programs) {
        print::note(hint);
    }
    ExitCode::from(exit::status(error))
}
