//! Programs by others that tests run, and the library and servers that they need. A script of the
//! project installs or starts each at its first use, outside the checkout, so that a bare `cargo
//! test` works. If a script cannot do so, it prints the reason in one line, which becomes the
//! error.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};

use crate::package_file;

/// The output of each script in this process.
static PRINTED: Mutex<Option<HashMap<String, String>>> = Mutex::new(None);

/// The folder of a program or of packages, by the names of `scripts/test_tools.sh`.
pub fn installed(name: &str) -> Result<PathBuf> {
    printed_by("test_tools.sh", name).map(PathBuf::from)
}

/// The URL of a PostgreSQL server where tests create databases: `CYCLORAMA_TEST_POSTGRES_URL`, else
/// that of a server that stays up.
pub fn postgres_server() -> Result<String> {
    match std::env::var("CYCLORAMA_TEST_POSTGRES_URL") {
        Ok(url) => Ok(url),
        Err(_) => printed_by("postgres.sh", "shared"),
    }
}

/// Runs a script of the project, once for each argument, and returns its output.
fn printed_by(script: &str, argument: &str) -> Result<String> {
    // Held while the script runs, so that others with the same need wait for it.
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    let printed = printed.get_or_insert_default();
    let name = format!("{script} {argument}");
    if let Some(text) = printed.get(&name) {
        return Ok(text.clone());
    }
    let output = Command::new(package_file("../scripts").join(script))
        .arg(argument)
        .stdin(Stdio::null())
        .output()
        .with_context(|| name.clone())?;
    ensure!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr).trim());
    let text = String::from_utf8(output.stdout)?.trim().to_owned();
    printed.insert(name, text.clone());
    Ok(text)
}
