//! The API keys of this machine's user, one for each service, in a file that only the user can
//! read: `cyclorama/credentials.json` in the configuration folder (`XDG_CONFIG_HOME`, otherwise
//! `~/.config`). `CYCLORAMA_KEY` takes precedence.

use crate::accounts::private_file;
use anyhow::Context;
use etcetera::base_strategy::{BaseStrategy, Xdg};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

/// A key that no debug output shows.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretKey(String);

impl SecretKey {
    pub fn new(key: &str) -> Self {
        SecretKey(key.trim().to_owned())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Key(...)")
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct CredentialsFile {
    /// URL of the service of the last login, for commands that name none.
    pub last: Option<String>,
    /// The keys by the URL of the service, without the slash at its end.
    pub keys: BTreeMap<String, SecretKey>,
}

impl CredentialsFile {
    /// Reads the file; there are no keys if the file does not exist.
    pub fn read() -> anyhow::Result<Self> {
        let path = path()?;
        let Some(bytes) = private_file::read(&path)? else { return Ok(CredentialsFile::default()) };
        // The error does not show the fault: the text contains keys.
        let read = serde_json::from_slice(&bytes).ok();
        read.with_context(|| format!("{} is damaged: delete it and log in again", path.display()))
    }

    pub fn write(&self) -> anyhow::Result<PathBuf> {
        let path = path()?;
        if let Some(folder) = path.parent() {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.with_context(|| format!("the folder {} cannot be created", folder.display()))?;
        }
        private_file::write(&path, &serde_json::to_vec_pretty(self)?)?;
        Ok(path)
    }
}

/// Returns the key for a service: that of the environment, otherwise that of the last login there.
pub fn key_for(address: &str) -> anyhow::Result<Option<SecretKey>> {
    if let Some(key) = key_of_environment() {
        return Ok(Some(key));
    }
    Ok(CredentialsFile::read()?.keys.remove(address.trim_end_matches('/')))
}

/// Returns the key in `CYCLORAMA_KEY`.
#[expect(clippy::disallowed_methods, reason = "a customer's variable, which is no setting of the service")]
pub fn key_of_environment() -> Option<SecretKey> {
    let key = std::env::var("CYCLORAMA_KEY").ok().filter(|key| !key.trim().is_empty())?;
    Some(SecretKey::new(&key))
}

pub fn path() -> anyhow::Result<PathBuf> {
    let folders = Xdg::new().context("there is no home folder for the key: set HOME or XDG_CONFIG_HOME")?;
    Ok(folders.config_dir().join("cyclorama/credentials.json"))
}
