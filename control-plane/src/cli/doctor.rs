//! `cyclorama doctor`

use super::print;
use crate::config::Config;
use crate::doctor;
use anyhow::bail;
use serde_json::json;
use std::path::Path;

/// One line per check; an error when something is wrong.
pub async fn run(config: Option<&Path>, as_json: bool) -> anyhow::Result<()> {
    let checks = doctor::examine(&Config::load(config)?).await;
    let wrong = checks.iter().filter(|check| !check.ok).count();
    if as_json {
        print::answer(&json!({ "ok": wrong == 0, "checks": checks }), true);
    } else {
        for check in &checks {
            println!("{:<4} {:<14} {}", if check.ok { "ok" } else { "FAIL" }, check.name, check.detail);
        }
    }
    match wrong {
        0 => Ok(()),
        1 => bail!("1 check failed"),
        wrong => bail!("{wrong} checks failed"),
    }
}
