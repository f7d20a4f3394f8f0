//! The reasons why a backup cannot be made or restored.

use crate::objects::ObjectError;
use crate::plural::count;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("cannot use {}", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The file is damaged, truncated, or not a backup.
    #[error("{} is not a complete backup: {detail}", path.display())]
    Damaged { path: PathBuf, detail: String },
    #[error("the backup was made by a newer version (schema {found}); this program supports schemas up to {known}")]
    Newer { found: i64, known: i64 },
    #[error("the database already has {}; restore into an empty one", count(*accounts, "account"))]
    NotEmpty { accounts: i64 },
    #[error("the database has schema {found}, the backup schema {wanted}; restore into an empty database")]
    OtherSchema { found: i64, wanted: i64 },
    #[error("the rows of the backup name the master {sha256}, which is not among its objects")]
    MissingMaster { sha256: String },
    #[error("{} is inside {}, which the backup saves; name another folder", folder.display(), ours.display())]
    Inside { folder: PathBuf, ours: PathBuf },
    #[error("the object store failed")]
    Store(#[from] ObjectError),
    #[error("the database failed")]
    Database(#[from] sqlx::Error),
    #[error("the schema could not be created")]
    Schema(#[from] sqlx::migrate::MigrateError),
}
