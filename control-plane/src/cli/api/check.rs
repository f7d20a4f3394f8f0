//! `cyclorama doctor --url`: checks everything that a customer of a service needs, from this
//! machine. Spends nothing.

use super::credentials::key_for;
use super::service::{builder, root_of_host};
use crate::cli::print::count;
use crate::clock::Clock;
use crate::doctor::Check;
use cyclorama_client::types::ResolveRequest;
use cyclorama_client::{Client, Error};
use std::time::{SystemTime, UNIX_EPOCH};

/// Maximum difference between this machine's clock and the service's, in seconds. Partners'
/// signatures and lifetimes of signed URLs are in seconds.
const SKEW_SECONDS_MAX: i64 = 60;

/// Runs all checks. A failure does not stop the following ones, unless they depend on it.
pub async fn check(address: &str) -> anyhow::Result<Vec<Check>> {
    let address = &root_of_host(address)?;
    let key = key_for(address)?;
    let client = match &key {
        Some(key) => builder(address).api_key(key.reveal()).build()?,
        None => builder(address).build()?,
    };
    let time = match client.service_time().await {
        Ok(time) => time,
        Err(error) => return Ok(vec![Check::new("service", Err(said(&error)))]),
    };
    let mut checks = vec![Check::new("service", Ok(format!("responds at {address}"))), clock(time)];
    if key.is_none() {
        let what_to_do = format!("none: run `cyclorama login --url {address}`, or set CYCLORAMA_KEY");
        checks.push(Check::new("key", Err(what_to_do)));
        return Ok(checks);
    }
    checks.extend(account(&client).await);
    let words = "red honda civic 2018";
    let found = client.resolve_image(&ResolveRequest::new(words)).await.map_err(|error| said(&error));
    let found = found.map(|answer| format!("\"{words}\" is {}", answer.data.image_path));
    checks.push(Check::new("catalog", found));
    Ok(checks)
}

fn clock(service: Option<SystemTime>) -> Check {
    let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let ahead = service.map(|service| Clock::SYSTEM.now().0 / 1000 - seconds(service));
    Check::new(
        "clock",
        match ahead {
            None => Ok("the service does not report its time".to_owned()),
            Some(ahead) if ahead.abs() <= SKEW_SECONDS_MAX => Ok(format!("{} s off the service's clock", ahead.abs())),
            Some(ahead) => Err(format!(
                "{} s {} the service's clock: set the clock of this machine, or signed URLs expire too early or too late",
                ahead.abs(),
                if ahead > 0 { "ahead of" } else { "behind" }
            )),
        },
    )
}

async fn account(client: &Client) -> Vec<Check> {
    let account = match client.get_account().await {
        Ok(answer) => answer.data,
        // The key may have the scope for images only.
        Err(error) if error.status() == Some(403) => return vec![Check::new("scopes", Err(said(&error)))],
        Err(error) => return vec![Check::new("key", Err(said(&error)))],
    };
    let credits = match account.credits {
        ..=0 => Err("none left: a person has to buy credits".to_owned()),
        credits => Ok(format!("{} left", count(credits, "credit"))),
    };
    let spends = account.key.scopes.iter().any(|scope| scope == "images:read");
    let scopes = account.key.scopes.join(", ");
    vec![
        Check::new("key", Ok(account.key.id)),
        Check::new(
            "scopes",
            if spends { Ok(scopes) } else { Err(format!("{scopes}: images need the scope images:read")) },
        ),
        Check::new("credits", credits),
    ]
}

fn said(error: &Error) -> String {
    error.detail().to_owned()
}
