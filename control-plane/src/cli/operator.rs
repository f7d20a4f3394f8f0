//! The operator's commands that ask a running service, through its operator address.

use super::client::Client;
use super::{account, budget, key, ledger, node, prewarm, print, render};
use print::Unseen;
use serde_json::Value;

#[derive(Debug, clap::Subcommand)]
pub enum Command {
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
}

impl Command {
    pub async fn run(self, client: &Client, as_json: bool) -> anyhow::Result<()> {
        let answer = match self {
            Command::Account(command) => match command.run(client).await? {
                account::Answer::Document(document) => document,
                account::Answer::Csv(text) => return Ok(print::text(&text)?),
            },
            Command::Key(command) => command.run(client).await?,
            Command::PartnerSecret(command) => command.run(client).await?,
            Command::NodeToken(command) => command.run(client).await?,
            Command::Ledger(command) => command.run(client).await?,
            Command::SigningKey(command) => command.run(client).await?,
            Command::Node(command) => command.run(client).await?,
            Command::Budget(command) => command.run(client).await?,
            Command::Prewarm(command) => command.run(client).await?,
            Command::Render(command) => command.run(client).await?,
        };
        match print::answer(&answer, as_json) {
            // A new key or token is shown once: whoever closed the output has to know what is there now, to take it back.
            Err(cause) if client.has_changed_something() => {
                let what = format!("the command was carried out ({}), and what it answered is lost", ids(&answer));
                Err(Unseen { what, cause }.into())
            }
            printed => Ok(printed?),
        }
    }
}

/// The ids in an answer, by their names; never what stands beside them.
fn ids(answer: &Value) -> String {
    let members = answer.as_object().into_iter().flatten();
    let ids = members.filter(|(name, _)| name.ends_with("_id")).filter_map(|(name, id)| Some((name, id.as_str()?)));
    let ids: Vec<String> = ids.map(|(name, id)| format!("{name} {id}")).collect();
    if ids.is_empty() { "no id".to_owned() } else { ids.join(", ") }
}
