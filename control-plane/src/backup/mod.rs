//! Backups: a folder with one consistent moment of the database and every permanent object.
//!
//! `database.jsonl.zst` contains the rows as JSON, so that a backup of SQLite can be restored to
//! PostgreSQL and the other way round; `objects/` contains each object under its key. The service
//! may run while a backup is made: the database comes first, and objects never change once rows
//! refer to them, so every object to which the saved rows refer is in the copy. A second backup
//! into the same folder copies only new objects. A restore goes in the opposite order, objects
//! first, into a database without accounts.

mod database;
mod error;
mod objects;

pub use error::BackupError;
pub use objects::CopiedObjects;

use crate::clock::UnixMs;
use crate::db::Database;
use crate::objects::{ObjectError, ObjectStore, keys};
use crate::secret::Secret;
use serde::Serialize;
use std::path::{Path, PathBuf};

const DATABASE_FILE: &str = "database.jsonl.zst";
const OBJECTS_FOLDER: &str = "objects";

/// Numbers of what a backup or a restore has copied.
#[derive(Debug, Serialize)]
pub struct CopyTotals {
    pub tables: usize,
    pub rows: u64,
    #[serde(flatten)]
    pub objects: CopiedObjects,
}

/// Refuses a folder for a backup that is one of the service's own or inside one, by whatever path.
/// A copy beside the original is lost with it, and the next backup would save the copy as well.
pub fn refuse_inside(folder: &Path, ours: &[PathBuf]) -> Result<(), BackupError> {
    let resolve = |path: &Path| resolved(path).map_err(|source| BackupError::File { path: path.to_owned(), source });
    let wanted = resolve(folder)?;
    for own in ours {
        if wanted.starts_with(resolve(own)?) {
            return Err(BackupError::Inside { folder: folder.to_owned(), ours: own.clone() });
        }
    }
    Ok(())
}

/// Returns the real path of `path`, whose last components may not exist yet.
fn resolved(path: &Path) -> std::io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let mut missing = Vec::new();
    let mut existing = path.as_path();
    loop {
        match existing.canonicalize() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            found => {
                let (mut whole, mut went_up) = (found?, false);
                for part in missing.into_iter().rev() {
                    match part {
                        std::path::Component::ParentDir => went_up |= whole.pop(),
                        part => whole.push(part),
                    }
                }
                // Going up from a path that does not exist may have led to one that does.
                return if went_up { resolved(&whole) } else { Ok(whole) };
            }
        }
        missing.extend(existing.components().next_back());
        existing = existing.parent().unwrap_or(Path::new("/"));
    }
}

/// Saves everything into `folder`, which is created if it does not exist.
pub async fn save(
    database: &Database,
    store: &ObjectStore,
    folder: &Path,
    now: UnixMs,
) -> Result<CopyTotals, BackupError> {
    std::fs::create_dir_all(folder).map_err(|source| BackupError::File { path: folder.to_owned(), source })?;
    let (tables, rows) = database::save(database, &folder.join(DATABASE_FILE), now).await?;
    let copy = ObjectStore::open_files(folder.join(OBJECTS_FOLDER))?;
    Ok(CopyTotals { tables, rows, objects: objects::copy(store, &copy).await? })
}

/// Restores what `save` has put into `folder`. No service may run on the database meanwhile. A
/// restore that fails half-way leaves the database without a row, and may be repeated.
pub async fn restore(database_url: &Secret, store: &ObjectStore, folder: &Path) -> Result<CopyTotals, BackupError> {
    let file = folder.join(DATABASE_FILE);
    // Read the file to its end before anything is written.
    let masters = database::check(&file)?;
    let copy = ObjectStore::open_files(folder.join(OBJECTS_FOLDER))?;
    for sha256 in masters {
        let names = [keys::master(&sha256), keys::custom_master(&sha256)];
        let mut found = false;
        for name in names {
            found = found || copy.size(&name.map_err(ObjectError::from)?).await?.is_some();
        }
        if !found {
            return Err(BackupError::MissingMaster { sha256 });
        }
    }
    let objects = objects::copy(&copy, store).await?;
    let database = Database::connect(database_url.reveal()).await?;
    let (tables, rows) = database::restore(&database, &file).await?;
    Ok(CopyTotals { tables, rows, objects })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_beside_the_original_is_refused_by_whatever_path() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |path: &str| root.path().join(path);
        std::fs::create_dir_all(at("data/objects")).expect("makes");
        std::fs::create_dir_all(at("elsewhere")).expect("makes");
        std::os::unix::fs::symlink(at("data"), at("link")).expect("links");
        std::os::unix::fs::symlink(at("data/objects"), at("elsewhere/inner")).expect("links");
        let ours = [at("data"), at("store-to-be")];
        for (folder, allowed) in [
            ("data", false),
            ("data/", false),
            ("data/backup", false),
            ("data/not/there/yet", false),
            ("link", false),
            ("link/backup", false),
            ("elsewhere/inner/x", false),
            ("elsewhere/../data/x", false),
            ("not-there/../data/x", false),
            ("not-there/../link/x", false),
            ("store-to-be/x", false),
            ("data-of-yesterday", true),
            ("elsewhere", true),
            ("elsewhere/new/folder", true),
            ("data/../elsewhere", true),
            (".", true),
        ] {
            let refused = refuse_inside(&at(folder), &ours);
            assert_eq!(refused.is_ok(), allowed, "{folder}: {refused:?}");
        }
    }
}
