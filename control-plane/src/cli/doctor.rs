//! `cyclorama doctor`: checks that a service can run on this
//! machine, or that a customer can use one.

use super::{api, print};
use crate::config::Config;
use crate::doctor::{self, Check};
use anyhow::bail;
use serde_json::json;
use std::path::Path;

#[derive(Debug, clap::Args)]
pub struct Doctor {
    /// Check the service at this URL as its customer: URL, clock, key, scopes, credits, catalog
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

impl Doctor {
    pub async fn run(self, config: Option<&Path>, as_json: bool) -> anyhow::Result<()> {
        let checks = match &self.url {
            Some(address) => api::check(address).await?,
            None => doctor::examine(&Config::load(config)?).await,
        };
        tell(&checks, as_json)
    }
}

/// Prints one line per check. Returns an error if a check failed.
fn tell(checks: &[Check], as_json: bool) -> anyhow::Result<()> {
    let wrong = checks.iter().filter(|check| !check.ok).count();
    if as_json {
        print::answer(&json!({ "ok": wrong == 0, "checks": checks }), true)?;
    } else {
        for check in checks {
            let ok = if check.ok { "ok" } else { "FAIL" };
            print::line(format_args!("{ok:<4} {:<14} {}", check.name, check.detail))?;
        }
    }
    match wrong {
        0 => Ok(()),
        wrong => bail!("{} failed", print::count(wrong, "check")),
    }
}
