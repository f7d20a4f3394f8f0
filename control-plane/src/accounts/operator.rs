//! The operator's token, and the file through which the command line on the same machine
//! finds a running service.

use super::private_file::{self, PrivateFileError};
use super::token::PlainKey;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use subtle::ConstantTimeEq;

/// The token that gives access to the operator address. `Debug` does not print it.
#[derive(Clone)]
pub struct OperatorToken(String);

impl OperatorToken {
    pub fn new(text: impl Into<String>) -> Self {
        OperatorToken(text.into())
    }

    /// Compares in constant time, so that answers do not reveal how much of a guess was right.
    pub fn matches(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }

    /// Returns the text, for the request of the command line.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for OperatorToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OperatorToken")
    }
}

/// The contents of `operator.json` in the data folder, a file that only its owner can read.
#[derive(Serialize, Deserialize)]
pub struct OperatorFile {
    /// URL of the operator listener, such as `http://127.0.0.1:9090`.
    pub address: String,
    token: String,
}

#[derive(Debug, thiserror::Error)]
pub enum OperatorFileError {
    #[error(transparent)]
    File(#[from] PrivateFileError),
    #[error("{path} is damaged; delete it and restart the service to create a new token")]
    Damaged { path: String },
}

impl OperatorFile {
    pub fn path(data_dir: &Path) -> PathBuf {
        data_dir.join("operator.json")
    }

    /// Returns `Ok(None)` if no service has started with this data folder yet.
    pub fn read(data_dir: &Path) -> Result<Option<Self>, OperatorFileError> {
        let path = Self::path(data_dir);
        let Some(bytes) = private_file::read(&path)? else { return Ok(None) };
        let damaged = |_| OperatorFileError::Damaged { path: path.display().to_string() };
        serde_json::from_slice(&bytes).map(Some).map_err(damaged)
    }

    pub fn token(&self) -> OperatorToken {
        OperatorToken(self.token.clone())
    }
}

/// Returns the token that this service uses: the one that is configured, else the one made at the
/// first start. Writes it to the operator file, together with the address.
pub fn establish(
    data_dir: &Path,
    address: &str,
    given: Option<&str>,
    rng: &mut impl rand::CryptoRng,
) -> Result<OperatorToken, OperatorFileError> {
    let token = match (given, OperatorFile::read(data_dir)?) {
        (Some(given), _) => given.to_owned(),
        (None, Some(file)) => file.token,
        (None, None) => PlainKey::generate("cyco_", rng).reveal().to_owned(),
    };
    let file = OperatorFile { address: address.to_owned(), token: token.clone() };
    private_file::write(&OperatorFile::path(data_dir), &serde_json::to_vec_pretty(&file).unwrap_or_default())?;
    Ok(OperatorToken(token))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_token_is_made_once_kept_private_and_found_again() {
        let folder = tempfile::tempdir().expect("folder");
        assert!(OperatorFile::read(folder.path()).expect("read").is_none());
        let first = establish(folder.path(), "http://127.0.0.1:1", None, &mut rand::rng()).expect("first");
        let second = establish(folder.path(), "http://127.0.0.1:2", None, &mut rand::rng()).expect("second");
        assert!(first.matches(second.reveal()) && !first.matches("cyco_"));
        let mode = std::fs::metadata(OperatorFile::path(folder.path())).expect("file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let found = OperatorFile::read(folder.path()).expect("read").expect("there");
        assert_eq!(found.address, "http://127.0.0.1:2");
        assert!(found.token().matches(first.reveal()));
        let given = establish(folder.path(), "http://x", Some("given"), &mut rand::rng()).expect("given");
        assert!(given.matches("given"));
    }
}
