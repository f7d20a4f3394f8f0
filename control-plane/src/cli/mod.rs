//! The command line: `serve` runs the service, everything else asks a running one through its operator address.

mod serve;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Debug, Parser)]
#[command(name = "cyclorama", version, about = "An open vehicle image service")]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the service
    Serve(serve::Serve),
}

/// Runs one command. A failure is one line on standard error, causes included, and exit status 1.
pub fn run(cli: Cli) -> ExitCode {
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("cyclorama: the async runtime cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let done = runtime.block_on(async {
        match cli.command {
            Command::Serve(command) => command.run().await,
        }
    });
    // Blocking work that hangs (a dead disk) must not hold the process.
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cyclorama: {error:#}");
            ExitCode::FAILURE
        }
    }
}
