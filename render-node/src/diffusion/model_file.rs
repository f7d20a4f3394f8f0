//! Reads files of a model's folder, and describes why one cannot be used.

use serde::de::DeserializeOwned;
use std::io;
use std::path::{Path, PathBuf};

pub const LOCK_FILE: &str = "cyclorama.lock.json";

/// Maximum size of a text file of a model, in bytes. Configurations take a few kilobytes.
pub const TEXT_BYTES_MAX: u64 = 1 << 20;

/// The reason why a file or a folder of a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("there is no model in {}: it has no {LOCK_FILE}", folder.display())]
    NoLock { folder: PathBuf },
    #[error("cannot read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot write {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is not a model file that this version supports: {detail}", path.display())]
    Broken { path: PathBuf, detail: String },
    #[error("model `{id}`: {file} has digest {found}, but its lock file says {expected}")]
    WrongDigest { id: String, file: String, expected: String, found: String },
    #[error("model `{id}`: {file} is in the folder, but not in its lock file")]
    ExtraFile { id: String, file: String },
    #[error("model `{id}`: its lock file does not list {file}")]
    NotListed { id: String, file: String },
    #[error("model `{id}` was made for other conditioning than this version provides: {detail}")]
    Conditioning { id: String, detail: String },
}

/// Returns an error unless `folder` contains a file `file`.
pub fn expect_file(folder: &Path, file: &str) -> Result<(), LockError> {
    let path = folder.join(file);
    if path.is_file() { Ok(()) } else { Err(LockError::Read { path, source: io::ErrorKind::NotFound.into() }) }
}

/// Reads the configuration `file` of `folder`. `T` takes the members that it needs.
pub fn read_json<T: DeserializeOwned>(folder: &Path, file: &str) -> Result<T, LockError> {
    let path = folder.join(file);
    serde_json::from_str(&read_text(&path)?).map_err(|e| broken(&path, e.to_string()))
}

/// Reads a text file of a model. Returns an error if it is larger than [`TEXT_BYTES_MAX`].
pub fn read_text(path: &Path) -> Result<String, LockError> {
    expect_at_most(path, TEXT_BYTES_MAX)?;
    std::fs::read_to_string(path).map_err(|source| LockError::Read { path: path.to_path_buf(), source })
}

/// Returns an error if the file is larger than `bytes_max`. Call it before reading a file as a
/// whole.
pub fn expect_at_most(path: &Path, bytes_max: u64) -> Result<(), LockError> {
    let metadata = std::fs::metadata(path).map_err(|source| LockError::Read { path: path.to_path_buf(), source })?;
    match metadata.len() > bytes_max {
        true => Err(broken(path, format!("it is larger than {bytes_max} bytes"))),
        false => Ok(()),
    }
}

/// Returns the error for a file with unusable content.
pub fn broken(path: &Path, detail: String) -> LockError {
    LockError::Broken { path: path.to_path_buf(), detail }
}
