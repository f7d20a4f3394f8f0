//! Is this machine ready to serve: database, object store, and what the render node needs (asked of the node program
//! itself, which is the only one that knows Vulkan, ONNX Runtime and models).

use crate::config::farm::NodeMode;
use crate::config::objects::Objects;
use crate::config::prices::Payments;
use crate::config::{Config, stripe};
use crate::db::Database;
use crate::farm::program;
use crate::logs::causes;
use crate::objects::ObjectStore;
use crate::payments::stripe::client::WebhookEndpoint;
use crate::payments::stripe::{Stripe, StripeError, event};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Loading a large model from a cold disk takes a while; a driver that hangs never ends.
const NODE_TIMEOUT: Duration = Duration::from_secs(180);

/// One thing that was looked at. `detail` says what was found, or what to do about it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Check {
    pub name: String,
    pub ok: bool,
    pub detail: String,
}

impl Check {
    pub fn new(name: &str, found: Result<String, String>) -> Self {
        let ok = found.is_ok();
        Check { name: name.to_owned(), ok, detail: found.unwrap_or_else(|what_to_do| what_to_do) }
    }
}

/// Looks at everything; one failure does not hide the next. Makes no database and no folder.
pub async fn examine(config: &Config) -> Vec<Check> {
    let mut checks = vec![
        Check::new("data folder", folder(&config.storage.data_dir)),
        Check::new("database", database(config).await),
        Check::new("object store", objects(&config.storage.objects).await),
    ];
    if let Payments::Stripe(settings) = &config.prices.payments {
        let base_url = config.listen.base_url.clone().unwrap_or_else(|| format!("http://{}", config.listen.public));
        checks.push(Check::new("payments", stripe_events(settings, &base_url).await));
    }
    match config.farm.node {
        NodeMode::Embedded => checks.extend(node(config).await),
        NodeMode::None => {
            checks.push(Check::new("render node", Ok("none on this machine (CYCLORAMA_NODE=none)".into())))
        }
    }
    checks
}

async fn database(config: &Config) -> Result<String, String> {
    let url = config.storage.database_url.reveal();
    if let Some(path) = url.strip_prefix("sqlite:").map(|rest| rest.split('?').next().unwrap_or(rest)) {
        let path = Path::new(path);
        if !path.exists() {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            return folder(parent).map(|_| format!("SQLite, made at first start as {}", path.display()));
        }
    }
    let version = Database::probe(url).await.map_err(|error| {
        format!("does not answer: {}; check CYCLORAMA_DATABASE_URL and whether the server runs", causes(&error))
    })?;
    Ok(version)
}

async fn objects(objects: &Objects) -> Result<String, String> {
    let (found, check) = match objects {
        Objects::Files(path) if !path.exists() => return folder(path),
        Objects::Files(path) => (format!("files in {}", path.display()), "the folder's owner"),
        Objects::S3(bucket) => {
            (format!("{bucket}, an object written, read and deleted"), "the bucket, its credentials and their rights")
        }
    };
    ObjectStore::open(objects)
        .await
        .map(|_| found)
        .map_err(|error| format!("{}; check CYCLORAMA_OBJECTS, {check}", causes(&error)))
}

/// Whether Stripe sends our webhook what it has to be told.
async fn stripe_events(settings: &stripe::Stripe, base_url: &str) -> Result<String, String> {
    let ours = format!("{base_url}/webhooks/stripe");
    let stripe = Stripe::new(settings.clone()).map_err(|error| causes(&error))?;
    match stripe.webhook_endpoints().await {
        Ok(endpoints) => subscribed(&endpoints, &ours),
        // A restricted key need not be able to read them.
        Err(error @ StripeError::Refused { status: 401 | 403, .. }) => Ok(format!(
            "Stripe does not show its webhook endpoints to this key ({error}): compare their events with the README"
        )),
        Err(error) => Err(format!("{}; check CYCLORAMA_STRIPE_SECRET_KEY and the way to Stripe", causes(&error))),
    }
}

fn subscribed(endpoints: &[WebhookEndpoint], ours: &str) -> Result<String, String> {
    let mut enabled =
        endpoints.iter().filter(|endpoint| endpoint.url == ours && endpoint.status == "enabled").peekable();
    if enabled.peek().is_none() {
        return Err(format!("Stripe has no enabled webhook endpoint for {ours}: add it there"));
    }
    let sent: Vec<&str> = enabled.flat_map(|endpoint| endpoint.enabled_events.iter().map(String::as_str)).collect();
    let missing: Vec<&str> =
        event::KINDS.into_iter().filter(|kind| !sent.contains(kind) && !sent.contains(&"*")).collect();
    match missing.is_empty() {
        true => Ok(format!("Stripe sends every event that is needed to {ours}")),
        false => Err(format!("Stripe's webhook endpoint {ours} is not sent {}: add them there", missing.join(", "))),
    }
}

/// Whether files can be made in a folder, or in the nearest one above it that exists.
fn folder(wanted: &Path) -> Result<String, String> {
    let existing = wanted.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."));
    let existing = if existing.as_os_str().is_empty() { Path::new(".") } else { existing };
    let probe = existing.join(format!(".cyclorama-{}", uuid::Uuid::now_v7()));
    let written = std::fs::write(&probe, b"").and_then(|()| std::fs::remove_file(&probe));
    match written {
        Ok(()) if existing == wanted => Ok(wanted.display().to_string()),
        Ok(()) => Ok(format!("{}, made at first start", wanted.display())),
        Err(error) => Err(format!("{} cannot be written: {error}; give it to the service's user", existing.display())),
    }
}

/// What `cyclorama-node doctor --json` prints.
#[derive(Debug, Deserialize)]
struct NodeReport {
    checks: Vec<Check>,
}

async fn node(config: &Config) -> Vec<Check> {
    let path = program::path(&config.farm).display().to_string();
    let failed = |what_to_do: String| vec![Check::new("render node", Err(what_to_do))];
    let mut command = program::command(&config.farm);
    command.args(["doctor", "--json"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = match tokio::time::timeout(NODE_TIMEOUT, command.output()).await {
        Err(_) => return failed(format!("{path} doctor did not end within {} s", NODE_TIMEOUT.as_secs())),
        Ok(Err(error)) => {
            return failed(format!(
                "{path} cannot be started: {error}; build cyclorama-node or set CYCLORAMA_NODE_BINARY"
            ));
        }
        Ok(Ok(output)) => output,
    };
    match serde_json::from_slice::<NodeReport>(&output.stdout) {
        Ok(report) => {
            let mut checks = vec![Check::new("render node", Ok(path))];
            checks.extend(report.checks);
            checks
        }
        Err(_) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().last().unwrap_or("nothing").chars().take(400).collect::<String>();
            failed(format!("{path} doctor ended with {} and said: {last}", output.status))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_stripe_does_not_send_are_named() {
        let ours = "https://images.example.com/webhooks/stripe";
        let endpoint = |url: &str, status: &str, events: &[&str]| WebhookEndpoint {
            url: url.to_owned(),
            enabled_events: events.iter().map(|&kind| kind.to_owned()).collect(),
            status: status.to_owned(),
        };
        let (first, second) = event::KINDS.split_at(9);
        for (endpoints, expected) in [
            (vec![endpoint(ours, "enabled", &event::KINDS)], Ok(())),
            (vec![endpoint(ours, "enabled", &["*"])], Ok(())),
            (vec![endpoint(ours, "enabled", first), endpoint(ours, "enabled", second)], Ok(())),
            (vec![endpoint(ours, "enabled", &event::KINDS[..17])], Err("payment_method.detached: add them")),
            (vec![endpoint(ours, "disabled", &["*"])], Err("no enabled webhook endpoint")),
            (vec![endpoint("https://other.example.com/webhooks/stripe", "enabled", &["*"])], Err("no enabled")),
            (vec![], Err("no enabled")),
        ] {
            match (subscribed(&endpoints, ours), expected) {
                (Ok(_), Ok(())) => {}
                (Err(told), Err(expected)) => assert!(told.contains(expected), "{told}"),
                (told, expected) => panic!("{told:?}, not {expected:?}"),
            }
        }
    }
}
