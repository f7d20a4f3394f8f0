//! Checks that this machine is ready to serve: database, object store, and the requirements of the
//! render node. The node program itself checks the latter, because only it knows Vulkan, ONNX
//! Runtime and models.

use crate::config::farm::NodeMode;
use crate::config::objects::Objects;
use crate::config::prices::Payments;
use crate::config::{Config, stripe};
use crate::db::Database;
use crate::farm::program;
use crate::logs::causes;
use crate::objects::ObjectStore;
use crate::payments::stripe::client::WebhookEndpoint;
use crate::payments::stripe::{StripeClient, StripeError, event};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Time limit of the node's checks. Loading a large model from a cold disk takes a while; a driver
/// that hangs never ends.
const NODE_TIMEOUT: Duration = Duration::from_secs(180);

/// The result of one check. `detail` says what was found, or what to do about a failure.
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

/// Runs all checks; a failure does not stop the following ones. Makes no database and no folder.
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
            return folder(parent).map(|_| format!("SQLite, created at first start as {}", path.display()));
        }
    }
    let version = Database::probe(url).await.map_err(|error| {
        format!("does not respond: {}; check CYCLORAMA_DATABASE_URL and that the server runs", causes(&error))
    })?;
    Ok(version)
}

async fn objects(objects: &Objects) -> Result<String, String> {
    let (found, check) = match objects {
        Objects::Files(path) if !path.exists() => return folder(path),
        Objects::Files(path) => (format!("files in {}", path.display()), "the owner of the folder"),
        Objects::S3(bucket) => (
            format!("{bucket}, an object written, read and deleted"),
            "the bucket, its credentials and their permissions",
        ),
    };
    ObjectStore::open(objects)
        .await
        .map(|_| found)
        .map_err(|error| format!("{}; check CYCLORAMA_OBJECTS, {check}", causes(&error)))
}

/// Checks that Stripe sends our webhook every event that is needed.
async fn stripe_events(settings: &stripe::StripeSettings, base_url: &str) -> Result<String, String> {
    let ours = format!("{base_url}/webhooks/stripe");
    let stripe = StripeClient::new(settings.clone()).map_err(|error| causes(&error))?;
    match stripe.webhook_endpoints().await {
        Ok(endpoints) => subscribed(&endpoints, &ours),
        // A restricted key need not be able to read the endpoints.
        Err(error @ StripeError::Refused { status: 401 | 403, .. }) => Ok(format!(
            "this key may not read the webhook endpoints of Stripe ({error}): compare their events with the README"
        )),
        Err(error) => {
            Err(format!("{}; check CYCLORAMA_STRIPE_SECRET_KEY and the connection to Stripe", causes(&error)))
        }
    }
}

fn subscribed(endpoints: &[WebhookEndpoint], ours: &str) -> Result<String, String> {
    let mut enabled =
        endpoints.iter().filter(|endpoint| endpoint.url == ours && endpoint.status == "enabled").peekable();
    if enabled.peek().is_none() {
        return Err(format!("Stripe has no enabled webhook endpoint for {ours}: add it at Stripe"));
    }
    let sent: Vec<&str> = enabled.flat_map(|endpoint| endpoint.enabled_events.iter().map(String::as_str)).collect();
    let missing: Vec<&str> =
        event::KINDS.into_iter().filter(|kind| !sent.contains(kind) && !sent.contains(&"*")).collect();
    match missing.is_empty() {
        true => Ok(format!("Stripe sends all required events to {ours}")),
        false => {
            Err(format!("the webhook endpoint {ours} does not get {}: add these events at Stripe", missing.join(", ")))
        }
    }
}

/// Checks that files can be made in a folder, or in the nearest existing one above it.
fn folder(wanted: &Path) -> Result<String, String> {
    let existing = wanted.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."));
    let existing = if existing.as_os_str().is_empty() { Path::new(".") } else { existing };
    let probe = existing.join(format!(".cyclorama-{}", uuid::Uuid::now_v7()));
    let written = std::fs::write(&probe, b"").and_then(|()| std::fs::remove_file(&probe));
    match written {
        Ok(()) if existing == wanted => Ok(wanted.display().to_string()),
        Ok(()) => Ok(format!("{}, created at first start", wanted.display())),
        Err(error) => {
            Err(format!("{} cannot be written: {error}; make the user of the service its owner", existing.display()))
        }
    }
}

/// The output of `cyclorama-node doctor --json`.
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
            (vec![endpoint(ours, "enabled", &event::KINDS[..17])], Err("payment_method.detached: add these events")),
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
