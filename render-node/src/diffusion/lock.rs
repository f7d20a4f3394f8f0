//! The lock file of a model folder: the model's id and licence, the settings with which it runs,
//! and the digest of every file.

use super::model_file::{LOCK_FILE, LockError, broken, read_text};
use super::stable_diffusion::settings::TextToImage;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Maximum number of files in a model folder. A text-to-image pipeline is some 20 files; the limit
/// only keeps a wrong folder from being read for minutes.
const FILES_MAX: usize = 512;

/// Files that version control, downloads and [`Lock::write`] leave behind. No graph reads them.
const LEFT_BEHIND: [&str; 5] = [".git", ".gitattributes", ".gitignore", ".cache", ".cyclorama.lock.json"];

/// The content of a lock file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Lock {
    pub version: u32,
    /// The id by which jobs request the model.
    pub id: String,
    pub license: String,
    pub precision: String,
    /// Names of the channels that a light model is conditioned on, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditioning: Vec<String>,
    /// Settings of a text-to-image pipeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_to_image: Option<TextToImage>,
    pub files: Vec<LockedFile>,
}

/// A file of the model as its lock describes it. `sha256` is lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedFile {
    /// Path relative to the model's folder, with `/`.
    pub path: String,
    pub sha256: String,
    pub bytes: u64,
}

impl Lock {
    /// Reads the lock file of `folder`, and its SHA-256 in lower-case hex. Does not check the files
    /// it lists.
    pub fn read(folder: &Path) -> Result<(Self, String), LockError> {
        let path = folder.join(LOCK_FILE);
        if !path.is_file() {
            return Err(LockError::NoLock { folder: folder.to_path_buf() });
        }
        let text = read_text(&path)?;
        let lock: Lock = serde_json::from_str(&text).map_err(|e| broken(&path, e.to_string()))?;
        lock.check().map_err(|detail| broken(&path, detail))?;
        Ok((lock, hex::encode(Sha256::digest(&text))))
    }

    /// Returns the digest that [`Lock::read`] will return after this lock is written into `folder`.
    pub fn digest(&self, folder: &Path) -> Result<String, LockError> {
        Ok(hex::encode(Sha256::digest(self.text(&folder.join(LOCK_FILE))?)))
    }

    fn text(&self, path: &Path) -> Result<String, LockError> {
        self.check().map_err(|detail| broken(path, detail))?;
        let text = serde_json::to_string_pretty(self).map_err(|e| broken(path, e.to_string()))?;
        Ok(text + "\n")
    }

    /// Writes the lock into `folder`, completely or not at all.
    pub fn write(&self, folder: &Path) -> Result<(), LockError> {
        let path = folder.join(LOCK_FILE);
        let text = self.text(&path)?;
        let partial = folder.join(format!(".{LOCK_FILE}"));
        let write = |source| LockError::Write { path: path.clone(), source };
        match std::fs::remove_file(&partial) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(write(e)),
            _ => {}
        }
        // `create_new` neither follows a link of that name nor overwrites a file.
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(&partial).map_err(write)?;
        file.write_all(text.as_bytes()).map_err(write)?;
        std::fs::rename(&partial, &path).map_err(write)
    }

    /// Returns an error unless every listed file exists and has its digest, and no other file
    /// exists.
    pub fn verify(&self, folder: &Path) -> Result<(), LockError> {
        for file in &self.files {
            let (sha256, bytes) = digest(&folder.join(&file.path))?;
            if sha256 != file.sha256 || bytes != file.bytes {
                let describe = |digest: &str, bytes: u64| format!("{digest} ({bytes} bytes)");
                return Err(LockError::WrongDigest {
                    id: self.id.clone(),
                    file: file.path.clone(),
                    expected: describe(&file.sha256, file.bytes),
                    found: describe(&sha256, bytes),
                });
            }
        }
        let listed: BTreeSet<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        match paths_in(folder)?.into_iter().find(|path| !listed.contains(path.as_str())) {
            Some(file) => Err(LockError::ExtraFile { id: self.id.clone(), file }),
            None => Ok(()),
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.version != 1 {
            return Err(format!("its `version` is {}, not 1", self.version));
        }
        let id_ok = !self.id.is_empty()
            && self.id.len() <= 100
            && self.id.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'));
        if !id_ok {
            return Err(format!("its `id` `{}` must have 1 to 100 characters of a-z 0-9 . _ -", self.id));
        }
        if self.files.len() > FILES_MAX {
            return Err(format!("it lists {} files, more than {FILES_MAX}", self.files.len()));
        }
        if let Some(settings) = &self.text_to_image {
            settings.check()?;
        }
        // The paths are joined to the folder, so none may lead out of it.
        let path_ok = |path: &str| {
            path.split('/').all(|s| !s.is_empty() && !s.starts_with('.') && !s.contains(['\\', ':', '\0']))
        };
        match self.files.iter().find(|f| !path_ok(&f.path)) {
            Some(file) => Err(format!("`{}` is not a path inside the folder", file.path)),
            None => Ok(()),
        }
    }
}

/// Returns the entries of a lock file for the files that are in `folder` now.
pub fn files_of(folder: &Path) -> Result<Vec<LockedFile>, LockError> {
    let paths = paths_in(folder)?;
    let locked = |path: String| {
        let (sha256, bytes) = digest(&folder.join(&path))?;
        Ok(LockedFile { path, sha256, bytes })
    };
    paths.into_iter().map(locked).collect()
}

/// Returns the files that a lock file must list, sorted. Notes (`*.md`), the lock file itself and
/// what tools leave behind ([`LEFT_BEHIND`]) need no entry.
fn paths_in(folder: &Path) -> Result<Vec<String>, LockError> {
    let mut paths = Vec::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(here) = pending.pop() {
        let read = |source| LockError::Read { path: here.clone(), source };
        for entry in std::fs::read_dir(&here).map_err(read)? {
            let entry = entry.map_err(read)?;
            let path = entry.path();
            let is_note = path.extension().is_some_and(|e| e == "md");
            let is_left_behind = LEFT_BEHIND.iter().any(|name| entry.file_name() == *name);
            if is_left_behind || path == folder.join(LOCK_FILE) {
                continue;
            }
            if paths.len() > FILES_MAX {
                return Err(broken(folder, format!("it holds more than the {FILES_MAX} files of a model")));
            }
            if path.is_dir() {
                // A link could lead back to a folder above it.
                if entry.file_type().map_err(read)?.is_symlink() {
                    return Err(broken(&path, "it is a link to a folder".to_owned()));
                }
                pending.push(path);
            } else if !is_note {
                paths.push(path.strip_prefix(folder).unwrap_or(&path).display().to_string());
            }
        }
    }
    paths.sort();
    Ok(paths)
}

/// Returns the SHA-256 of a file in lower-case hex, and its length in bytes.
fn digest(path: &PathBuf) -> Result<(String, u64), LockError> {
    let read = |source: io::Error| LockError::Read { path: path.clone(), source };
    if !std::fs::metadata(path).map_err(read)?.is_file() {
        return Err(broken(path, "it is not a file".to_owned()));
    }
    let mut reader = std::fs::File::open(path).map_err(read)?;
    let mut hasher = Sha256::new();
    let mut bytes = 0;
    // Reads in pieces, because a text-to-image model is gigabytes.
    let mut piece = vec![0; 1 << 20];
    loop {
        let length = reader.read(&mut piece).map_err(read)?;
        if length == 0 {
            return Ok((hex::encode(hasher.finalize()), bytes));
        }
        hasher.update(&piece[..length]);
        bytes += length as u64;
    }
}
