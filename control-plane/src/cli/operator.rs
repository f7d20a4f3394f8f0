//! The operator's commands that call a running service, through its operator address.

use super::client::OperatorClient;
use super::{account, budget, key, ledger, node, prewarm, print, render};
use print::UnprintedOutput;
use serde_json::Value;

#[derive(Debug, clap::Subcommand)]
pub enum OperatorCommand {
    /// Manage accounts and their credits
    #[command(subcommand)]
    Account(account::AccountCommand),
    /// Manage API keys
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Manage the secrets with which partners sign URLs
    #[command(subcommand)]
    PartnerSecret(key::PartnerSecret),
    /// Manage the tokens with which render nodes join
    #[command(subcommand)]
    NodeToken(key::NodeToken),
    /// Verify the ledger of all accounts
    #[command(subcommand)]
    Ledger(ledger::Ledger),
    /// Rotate the key that signs delivery URLs
    #[command(subcommand)]
    SigningKey(key::SigningKey),
    /// Manage render nodes
    #[command(subcommand)]
    Node(node::NodeCommand),
    /// Show or set the daily render budget
    #[command(subcommand)]
    Budget(budget::BudgetCommand),
    /// Render images before they are requested
    #[command(subcommand)]
    Prewarm(prewarm::Prewarm),
    /// Review and rerender images
    #[command(subcommand)]
    Render(render::Render),
}

impl OperatorCommand {
    pub async fn run(self, client: &OperatorClient, as_json: bool) -> anyhow::Result<()> {
        let answer = match self {
            OperatorCommand::Account(command) => match command.run(client).await? {
                account::CommandOutput::Document(document) => document,
                account::CommandOutput::Csv(text) => return Ok(print::text(&text)?),
            },
            OperatorCommand::Key(command) => command.run(client).await?,
            OperatorCommand::PartnerSecret(command) => command.run(client).await?,
            OperatorCommand::NodeToken(command) => command.run(client).await?,
            OperatorCommand::Ledger(command) => command.run(client).await?,
            OperatorCommand::SigningKey(command) => command.run(client).await?,
            OperatorCommand::Node(command) => command.run(client).await?,
            OperatorCommand::Budget(command) => command.run(client).await?,
            OperatorCommand::Prewarm(command) => command.run(client).await?,
            OperatorCommand::Render(command) => command.run(client).await?,
        };
        match print::answer(&answer, as_json) {
            // A new key or token is shown once: if the output was closed, the operator has to learn
            // what exists now, to revoke it.
            Err(cause) if client.has_changed_something() => {
                let what = format!("the command succeeded ({}), but its output is lost", ids(&answer));
                Err(UnprintedOutput { what, cause }.into())
            }
            printed => Ok(printed?),
        }
    }
}

/// Returns the ids in an answer with their names, and never the other members.
fn ids(answer: &Value) -> String {
    let members = answer.as_object().into_iter().flatten();
    let ids = members.filter(|(name, _)| name.ends_with("_id")).filter_map(|(name, id)| Some((name, id.as_str()?)));
    let ids: Vec<String> = ids.map(|(name, id)| format!("{name} {id}")).collect();
    if ids.is_empty() { "no id".to_owned() } else { ids.join(", ") }
}
