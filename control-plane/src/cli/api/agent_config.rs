//! `cyclorama agent-config`: prints the configuration that gives an agent host this service's
//! tools. It never contains a key: the program that the host starts uses the key of
//! `cyclorama login`, and hosts that call the service by its URL read the key from their
//! environment or prompt for it.

use super::service::ServiceArguments;
use crate::cli::print;
use clap::ValueEnum;
use serde_json::{Value, json};

#[derive(Debug, clap::Args)]
pub struct AgentConfig {
    /// Agent host; default: all of them
    #[arg(value_enum)]
    host: Option<Host>,
    /// How the host reaches the tools
    #[arg(long, value_enum, default_value = "stdio")]
    by: Way,
    #[command(flatten)]
    service: ServiceArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Host {
    ClaudeCode,
    ClaudeDesktop,
    Codex,
    Cursor,
    Gemini,
    Vscode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// The host starts `cyclorama mcp --stdio`, which uses the key of `cyclorama login`
    Stdio,
    /// The host calls the service over HTTP, with the key in CYCLORAMA_KEY of its environment
    Http,
}

impl AgentConfig {
    pub fn run(self, as_json: bool) -> anyhow::Result<()> {
        let address = self.service.address()?;
        let hosts = match self.host {
            Some(host) => vec![host],
            None => Host::value_variants().to_vec(),
        };
        let snippets: Vec<Snippet> = hosts.into_iter().filter_map(|host| host.snippet(self.by, &address)).collect();
        if snippets.is_empty() {
            let other =
                crate::cli::exit::WrongUsage("this host can only start programs: leave out `--by http`".to_owned());
            return Err(other.into());
        }
        if as_json {
            let list = snippets
                .iter()
                .map(|snippet| json!({ "host": snippet.host, "file": snippet.file, "content": snippet.content }));
            return Ok(print::answer(&list.collect(), true)?);
        }
        // For one host, only its snippet is printed, so that the output
        // can be redirected into the file.
        if let [one] = snippets.as_slice() {
            return Ok(print::line(&one.content)?);
        }
        let texts =
            snippets.iter().map(|snippet| format!("{}: {}\n\n{}\n", snippet.host, snippet.file, snippet.content));
        Ok(print::text(&texts.collect::<Vec<_>>().join("\n"))?)
    }
}

struct Snippet {
    host: &'static str,
    file: &'static str,
    content: String,
}

impl Host {
    /// Returns the configuration, or `None` if the host cannot reach the tools in this way.
    fn snippet(self, by: Way, address: &str) -> Option<Snippet> {
        let program =
            json!({ "command": "cyclorama", "args": ["mcp", "--stdio"], "env": { "CYCLORAMA_URL": address } });
        let endpoint = format!("{address}/api/mcp");
        let bearer = |key: &str| json!({ "Authorization": format!("Bearer {key}") });
        let (host, file, content) = match (self, by) {
            (Host::ClaudeCode, Way::Stdio) => ("Claude Code", ".mcp.json", servers("mcpServers", program)),
            (Host::ClaudeCode, Way::Http) => {
                let server = json!({ "type": "http", "url": endpoint, "headers": bearer("${CYCLORAMA_KEY}") });
                ("Claude Code", ".mcp.json", servers("mcpServers", server))
            }
            (Host::ClaudeDesktop, Way::Stdio) => {
                ("Claude Desktop", "claude_desktop_config.json", servers("mcpServers", program))
            }
            (Host::ClaudeDesktop, Way::Http) => return None,
            (Host::Codex, Way::Stdio) => {
                let text = format!(
                    "[mcp_servers.cyclorama]\ncommand = \"cyclorama\"\nargs = [\"mcp\", \"--stdio\"]\nenv = {{ CYCLORAMA_URL = {} }}",
                    toml::Value::from(address)
                );
                ("Codex", "~/.codex/config.toml", text)
            }
            (Host::Codex, Way::Http) => {
                let text = format!(
                    "[mcp_servers.cyclorama]\nurl = {}\nbearer_token_env_var = \"CYCLORAMA_KEY\"",
                    toml::Value::from(endpoint)
                );
                ("Codex", "~/.codex/config.toml", text)
            }
            (Host::Cursor, Way::Stdio) => ("Cursor", ".cursor/mcp.json", servers("mcpServers", program)),
            (Host::Cursor, Way::Http) => {
                let server = json!({ "url": endpoint, "headers": bearer("${env:CYCLORAMA_KEY}") });
                ("Cursor", ".cursor/mcp.json", servers("mcpServers", server))
            }
            (Host::Gemini, Way::Stdio) => ("Gemini CLI", ".gemini/settings.json", servers("mcpServers", program)),
            (Host::Gemini, Way::Http) => {
                let server = json!({ "httpUrl": endpoint, "headers": bearer("$CYCLORAMA_KEY") });
                ("Gemini CLI", ".gemini/settings.json", servers("mcpServers", server))
            }
            (Host::Vscode, Way::Stdio) => ("VS Code", ".vscode/mcp.json", servers("servers", program)),
            (Host::Vscode, Way::Http) => {
                let input = "cyclorama-key";
                let server =
                    json!({ "type": "http", "url": endpoint, "headers": bearer(&format!("${{input:{input}}}")) });
                let asked = json!({ "type": "promptString", "id": input, "description": "Cyclorama API key", "password": true });
                (
                    "VS Code",
                    ".vscode/mcp.json",
                    pretty(&json!({ "inputs": [asked], "servers": { "cyclorama": server } })),
                )
            }
        };
        Some(Snippet { host, file, content })
    }
}

fn servers(member: &str, server: Value) -> String {
    pretty(&json!({ member: { "cyclorama": server } }))
}

fn pretty(document: &Value) -> String {
    format!("{document:#}")
}
