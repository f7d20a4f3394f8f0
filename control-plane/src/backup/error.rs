//! Why a backup is not made or restored.

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
    /// Damaged, cut short, or of something else.
    #[error("{} is not a whole backup: {detail}", path.display())]
    Damaged { path: PathBuf, detail: String },
    #[error("the backup was made by a newer version (schema {found}); this program knows schemas up to {known}")]
    Newer { found: i64, known: i64 },
    #[error("the database already has {}; restore into an empty one", count(*accounts, "account"))]
    NotEmpty { accounts: i64 },
    #[error("the database has schema {found}, the backup schema {wanted}; restore into an empty database")]
    OtherSchema { found: i64, wanted: i64 },
    #[error("the backup's rows name master {sha256}, which is not among its objects")]
    MissingMaster { sha256: String },
    #[error("{} is in {}, where the service keeps what is to be saved; name another folder", folder.display(), ours.display())]
    Inside { folder: PathBuf, ours: PathBuf },
    #[error("the object store failed")]
    Store(#[from] ObjectError),
    #[error("the database failed")]
    Database(#[from] sqlx::Error),
    #[error("the schema could not be made")]
    Schema(#[from] sqlx::migrate::MigrateError),
}
