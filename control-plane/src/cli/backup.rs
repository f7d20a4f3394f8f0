//! `cyclorama backup` and `cyclorama restore`: save and restore the database and all objects, with
//! this machine's settings, as `serve` reads them.

use super::print;
use crate::backup;
use crate::clock::Clock;
use crate::config::Config;
use crate::config::objects::Objects;
use crate::db::Database;
use crate::objects::ObjectStore;
use crate::owner_only;
use anyhow::Context;
use std::path::{Path, PathBuf};

/// Save the database and all objects to a folder while the service runs; a second backup to the
/// same folder replaces the rows of the database and adds the new objects
#[derive(Debug, clap::Args)]
pub struct Backup {
    /// Folder to save to, outside the folders of the service; created if it does not exist
    folder: PathBuf,
}

/// Restore a backup into the empty database (SQLite or PostgreSQL) and the object store that the
/// settings name; no service may be running
#[derive(Debug, clap::Args)]
pub struct Restore {
    /// Folder that `cyclorama backup` has written
    folder: PathBuf,
}

impl Backup {
    pub async fn run(self, config: Option<&Path>, as_json: bool) -> anyhow::Result<()> {
        let storage = Config::load(config)?.storage;
        let mut ours = vec![storage.data_dir.clone()];
        if let Objects::Files(folder) = &storage.objects {
            ours.push(folder.clone());
        }
        backup::refuse_inside(&self.folder, &ours)?;
        let database =
            Database::connect(storage.database_url.reveal()).await.context("the database cannot be opened")?;
        let store = ObjectStore::open(&storage.objects).await.context("CYCLORAMA_OBJECTS")?;
        let moved = backup::save(&database, &store, &self.folder, Clock::SYSTEM.now()).await?;
        Ok(print::answer(&serde_json::to_value(moved)?, as_json)?)
    }
}

impl Restore {
    pub async fn run(self, config: Option<&Path>, as_json: bool) -> anyhow::Result<()> {
        let storage = Config::load(config)?.storage;
        // SQLite's file is in this folder unless the settings name another place.
        owner_only::secure(&storage)?;
        let store = ObjectStore::open(&storage.objects).await.context("CYCLORAMA_OBJECTS")?;
        let moved = backup::restore(&storage.database_url, &store, &self.folder).await?;
        Ok(print::answer(&serde_json::to_value(moved)?, as_json)?)
    }
}
