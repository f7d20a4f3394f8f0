//! The command line: `serve` runs the service; customers' commands ask one as any program does (`api`), operators' through its operator
//! address.

mod account;
mod api;
mod backup;
mod budget;
mod catalog;
mod client;
mod doctor;
mod key;
mod ledger;
mod mcp;
mod node;
mod prewarm;
mod print;
mod render;
mod serve;
mod simulate;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cyclorama", version, about = "An open vehicle image service", after_help = api::EXIT_STATUSES)]
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
    Api(api::Command),
    /// Run the service
    Serve(serve::Serve),
    /// Accounts and their credits
    #[command(subcommand)]
    Account(account::Account),
    /// API keys
    #[command(subcommand)]
    Key(key::Key),
    /// What partners sign addresses with
    #[command(subcommand)]
    PartnerSecret(key::PartnerSecret),
    /// Tokens that let render nodes take work
    #[command(subcommand)]
    NodeToken(key::NodeToken),
    /// Every account's credits
    #[command(subcommand)]
    Ledger(ledger::Ledger),
    /// What delivery addresses are signed with
    #[command(subcommand)]
    SigningKey(key::SigningKey),
    /// Render nodes
    #[command(subcommand)]
    Node(node::Node),
    /// What cold renders of one day may cost
    #[command(subcommand)]
    Budget(budget::Budget),
    /// Render pictures before anybody asks
    #[command(subcommand)]
    Prewarm(prewarm::Prewarm),
    /// Renders
    #[command(subcommand)]
    Render(render::Render),
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

impl Cli {
    async fn run(self) -> anyhow::Result<()> {
        let answer = match self.command {
            Command::Serve(command) => return command.run(self.whereabouts.config()).await,
            Command::Catalog(command) => return command.run(&self.whereabouts, self.json).await,
            Command::Simulate(command) => return command.run(self.json).await,
            Command::Mcp(command) => return command.run().await,
            Command::Doctor(command) => return command.run(self.whereabouts.config(), self.json).await,
            Command::Api(command) => return command.run(self.json).await,
            Command::Backup(command) => command.run(self.whereabouts.config()).await?,
            Command::Restore(command) => command.run(self.whereabouts.config()).await?,
            Command::Account(command) => match command.run(&self.whereabouts.find()?).await? {
                account::Answer::Document(document) => document,
                account::Answer::Csv(text) => {
                    print!("{text}");
                    return Ok(());
                }
            },
            Command::Key(command) => command.run(&self.whereabouts.find()?).await?,
            Command::PartnerSecret(command) => command.run(&self.whereabouts.find()?).await?,
            Command::NodeToken(command) => command.run(&self.whereabouts.find()?).await?,
            Command::Ledger(command) => command.run(&self.whereabouts.find()?).await?,
            Command::SigningKey(command) => command.run(&self.whereabouts.find()?).await?,
            Command::Node(command) => command.run(&self.whereabouts.find()?).await?,
            Command::Budget(command) => command.run(&self.whereabouts.find()?).await?,
            Command::Prewarm(command) => command.run(&self.whereabouts.find()?).await?,
            Command::Render(command) => command.run(&self.whereabouts.find()?).await?,
        };
        print::answer(&answer, self.json);
        Ok(())
    }
}

/// Runs one command. A failure is on standard error, causes included: a line, or a document for programs that talk to a service as its
/// customers. The exit status says of what kind it is.
pub fn run(cli: Cli) -> ExitCode {
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("cyclorama: the async runtime cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let for_programs = cli.json && matches!(cli.command, Command::Api(_));
    let done = runtime.block_on(cli.run());
    // Blocking work that hangs (a dead disk) must not hold the process.
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            match for_programs {
                true => eprintln!("{}", api::document(&error)),
                false => eprintln!("cyclorama: {error:#}"),
            }
            if let Some(hint) = api::hint(&error).filter(|_| !for_programs) {
                eprintln!("{hint}");
            }
            ExitCode::from(api::status(&error))
        }
    }
}
