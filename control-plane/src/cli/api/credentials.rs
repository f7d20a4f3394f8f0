//! Keys of this machine's user, one for each service, in a file that only they can read: `cyclorama/credentials.json` in the folder of
//! configuration (`XDG_CONFIG_HOME`, else `~/.config`). `CYCLORAMA_KEY` comes first.

use crate::accounts::private_file;
use anyhow::Context;
use etcetera::base_strategy::{BaseStrategy, Xdg};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

/// A key that prints nowhere.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(String);

impl Key {
    pub fn new(key: &str) -> Self {
        Key(key.trim().to_owned())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Key(...)")
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Credentials {
    /// The address of the last login: what commands mean that name none.
    pub last: Option<String>,
    /// By address, without the slash at its end.
    pub keys: BTreeMap<String, Key>,
}

impl Credentials {
    /// None yet is an empty one.
    pub fn read() -> anyhow::Result<Self> {
        let path = path()?;
        let Some(bytes) = private_file::read(&path)? else { return Ok(Credentials::default()) };
        // What is wrong is not told: the text holds keys.
        let read = serde_json::from_slice(&bytes).ok();
        read.with_context(|| format!("{} is damaged: delete it and log in again", path.display()))
    }

    pub fn write(&self) -> anyhow::Result<PathBuf> {
        let path = path()?;
        if let Some(folder) = path.parent() {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.with_context(|| format!("the folder {} cannot be made", folder.display()))?;
        }
        private_file::write(&path, &serde_json::to_vec_pretty(self)?)?;
        Ok(path)
    }
}

/// The key for a service: of the environment, else of the last login there.
pub fn key_for(address: &str) -> anyhow::Result<Option<Key>> {
    if let Some(key) = key_of_environment() {
        return Ok(Some(key));
    }
    Ok(Credentials::read()?.keys.remove(address.trim_end_matches('/')))
}

/// The key that `CYCLORAMA_KEY` names.
#[expect(clippy::disallowed_methods, reason = "a customer's variable, which is no setting of the service")]
pub fn key_of_environment() -> Option<Key> {
    let key = std::env::var("CYCLORAMA_KEY").ok().filter(|key| !key.trim().is_empty())?;
    Some(Key::new(&key))
}

pub fn path() -> anyhow::Result<PathBuf> {
    let folders = Xdg::new().context("there is no home folder to keep a key in: set HOME or XDG_CONFIG_HOME")?;
    Ok(folders.config_dir().join("cyclorama/credentials.json"))
}
