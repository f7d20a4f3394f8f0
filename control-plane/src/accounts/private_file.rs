//! Files in the data folder that contain a secret: only their owner can read them, and they
//! are never half written.

use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum PrivateFileError {
    #[error("{path} cannot be read")]
    Read {
        path: String,
        #[source]
        cause: io::Error,
    },
    #[error("{path} cannot be written")]
    Write {
        path: String,
        #[source]
        cause: io::Error,
    },
}

/// Returns the file's contents, or `Ok(None)` if there is no such file.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, PrivateFileError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(PrivateFileError::Read { path: path.display().to_string(), cause }),
    }
}

/// Writes a file beside the old one and renames it, so that a reader never sees half a file. The
/// file is private from its first byte.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), PrivateFileError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let write = || -> io::Result<()> {
        let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        // A file left by an earlier crash keeps its own mode.
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    };
    write().map_err(|cause| PrivateFileError::Write { path: path.display().to_string(), cause })
}
