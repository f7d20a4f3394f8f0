//! Settings of storage: the data folder, the database, the object store,
//! the operator's token, the catalog.

use super::objects::Objects;
use super::{ConfigError, SettingsSource};
use crate::secret::Secret;
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub struct Storage {
    pub data_dir: PathBuf,
    /// The URL as `sqlx` takes it. May hold a password.
    pub database_url: Secret,
    pub objects: Objects,
    /// A catalog release to use instead of the built-in one.
    pub catalog: Option<PathBuf>,
    /// The token in the settings. If there is none, one is made at first start.
    pub operator_token: Option<Secret>,
}

impl Storage {
    pub fn read(source: &SettingsSource) -> Result<Self, ConfigError> {
        let data_dir = PathBuf::from(source.text("data_dir").ok_or_else(|| source.refuse("data_dir", "a folder"))?);
        let database_url = match source.text("database_url") {
            None => sqlite_url(&data_dir.join("cyclorama.db").display().to_string()),
            Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => url.to_owned(),
            Some(url) => match url.strip_prefix("sqlite:") {
                // A database in memory is refused: readers and the writer would
                // each have one of their own.
                Some(path) if !is_in_memory(path) => sqlite_url(path.trim_start_matches("//")),
                _ => {
                    return Err(source.refuse("database_url", "sqlite:PATH or postgres://user:password@host/database"));
                }
            },
        };
        let objects = Objects::read(source, &data_dir)?;
        let operator_token = match source.text("operator_token") {
            None => None,
            Some(token) if (32..=200).contains(&token.len()) && token.bytes().all(|b| b.is_ascii_graphic()) => {
                Some(Secret::new(token))
            }
            Some(_) => return Err(source.refuse("operator_token", "32 to 200 printable characters without spaces")),
        };
        let catalog = source.text("catalog").map(PathBuf::from);
        Ok(Storage { data_dir, catalog, database_url: Secret::new(database_url), objects, operator_token })
    }

    /// Returns the file of the database, if it is SQLite.
    pub fn sqlite_file(&self) -> Option<PathBuf> {
        let path = self.database_url.reveal().strip_prefix("sqlite:")?;
        Some(PathBuf::from(path.split('?').next().unwrap_or(path)))
    }
}

/// Returns the URL of an SQLite file. SQLite makes the file only with `mode=rwc`.
fn sqlite_url(path: &str) -> String {
    if path.contains('?') { format!("sqlite:{path}") } else { format!("sqlite:{path}?mode=rwc") }
}

/// True if the database is in memory, by the rules of `sqlx` for the text after `sqlite:`.
fn is_in_memory(path: &str) -> bool {
    let (file, parameters) = path.split_once('?').unwrap_or((path, ""));
    matches!(file.trim_start_matches("//"), "" | ":memory:")
        || parameters.split('&').any(|parameter| parameter == "mode=memory")
}
