//! `cyclorama backup` and `cyclorama restore`: on the machine's own settings, as `serve` reads them.

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

/// Save the database and every object into a folder, while the service runs; again into the same one saves what is new
#[derive(Debug, clap::Args)]
pub struct Backup {
    folder: PathBuf,
}

/// Bring back what `backup` has saved, into an empty database (of either kind); no service may run
#[derive(Debug, clap::Args)]
pub struct Restore {
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
        // Where SQLite's file goes unless told otherwise.
        owner_only::secure(&storage)?;
        let store = ObjectStore::open(&storage.objects).await.context("CYCLORAMA_OBJECTS")?;
        let moved = backup::restore(&storage.database_url, &store, &self.folder).await?;
        Ok(print::answer(&serde_json::to_value(moved)?, as_json)?)
    }
}
