//! The command line: `serve` runs the service; customers' commands ask one as any program does (`api`), operators' through its operator
//! address.

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
use print::Unprinted;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cyclorama", version, about = "An open vehicle image service", after_help = exit::EXIT_STATUSES)]
pub struct Cli {
    #[command(flatten)]
    whereabouts: client::Where,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Api(Box<api::Command>),
    /// Run the service
    Serve(serve::Serve),
    #[command(flatten)]
    Operator(operator::Command),
    /// Make, inspect and compare the catalog's release files; use a new one
    #[command(subcommand)]
    Catalog(catalog::Catalog),
    Simulate(simulate::Simulate),
    Backup(backup::Backup),
    Restore(backup::Restore),
    /// The tools for agents, for hosts that start a program (a key in CYCLORAMA_KEY)
    Mcp(mcp::Mcp),
    /// Check drivers, ONNX Runtime, models, database and object store on this machine; or a service as its customer, with --url
    Doctor(doctor::Doctor),
}

impl Command {
    /// Whether files that it makes may hold what other users of the machine are not to read. What customers' commands fetch and what a catalog
    /// is made into are for everybody whom their user's mask lets; keys that they keep have modes of their own.
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

/// Runs the command of the process's arguments. A failure is on standard error, causes included: a line, or a document for programs that talk
/// to a service as its customers. The exit status says of what kind it is.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // What was asked for (`--help`) goes to standard output, what is wrong to standard error.
        Err(told) => {
            let printed = told.print();
            return match (told.use_stderr(), printed) {
                (true, _) => ExitCode::from(exit::WRONG_USAGE),
                (false, Ok(())) => ExitCode::SUCCESS,
                (false, Err(cause)) => failed(&Unprinted::from(cause).into(), false),
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
    // Blocking work that hangs (a dead disk) must not hold the process.
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error, for_programs),
    }
}

fn failed(error: &anyhow::Error, for_programs: bool) -> ExitCode {
    // Whoever read the output has seen enough.
    if let Some(Unprinted::Closed) = error.downcast_ref::<Unprinted>() {
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
