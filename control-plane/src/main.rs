//! The `cyclorama` program: the service, and the operator's command line.

use clap::Parser;

fn main() -> std::process::ExitCode {
    cyclorama::cli::run(cyclorama::cli::Cli::parse())
}
