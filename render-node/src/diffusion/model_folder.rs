//! A model as files: the Hugging Face diffusers ONNX layout plus a lock file that says what each file must be.
//!
//! Nothing of a model is used before every digest has been checked. The digest of the lock file itself names the whole
//! pipeline, in receipts and towards the control plane.

use super::RESIDUAL_CHANNELS;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

pub const LOCK_FILE: &str = "cyclorama.lock.json";

/// A text-to-image pipeline is some 20 files; this only keeps a wrong folder from being read for minutes.
const FILES_MAX: usize = 512;
/// The lock and the two settings files are a few kilobytes.
const TEXT_BYTES_MAX: u64 = 1 << 20;

const UNET_CONFIG: &str = "unet/config.json";
const UNET_MODEL: &str = "unet/model.onnx";
const SCHEDULER_CONFIG: &str = "scheduler/scheduler_config.json";

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
    #[error("{} is not a model file this version understands: {detail}", path.display())]
    Broken { path: PathBuf, detail: String },
    #[error("model `{id}`: {file} has digest {found}, but its lock file says {expected}")]
    WrongDigest { id: String, file: String, expected: String, found: String },
    #[error("model `{id}`: {file} is in the folder, but not in its lock file")]
    ExtraFile { id: String, file: String },
    #[error("model `{id}`: its lock file does not list {file}")]
    NotListed { id: String, file: &'static str },
    #[error("model `{id}` was made for other conditioning than this version has: {detail}")]
    Conditioning { id: String, detail: String },
}

/// A checked model folder.
#[derive(Debug, Clone)]
pub struct ModelFolder {
    folder: PathBuf,
    lock: Lock,
    digest: String,
    unet: UnetConfig,
}

#[derive(Debug, Clone, Deserialize)]
struct Lock {
    version: u32,
    id: String,
    license: String,
    precision: String,
    conditioning: Vec<String>,
    files: Vec<LockedFile>,
}

/// A file of the model as its lock describes it. `sha256` is lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
pub struct LockedFile {
    pub path: String,
    pub sha256: String,
    pub bytes: u64,
}

#[derive(Debug, Clone, Deserialize)]
struct UnetConfig {
    side_px: u32,
    side_multiple: u32,
    residual_scale: [f32; RESIDUAL_CHANNELS],
}

impl ModelFolder {
    /// Reads the lock file and checks every file it names. Notes (`*.md`) may lie beside them unlisted.
    pub fn open(folder: &Path) -> Result<Self, LockError> {
        let lock_path = folder.join(LOCK_FILE);
        if !lock_path.is_file() {
            return Err(LockError::NoLock { folder: folder.to_path_buf() });
        }
        let text = read_text(&lock_path)?;
        let lock: Lock = serde_json::from_str(&text).map_err(|e| broken(&lock_path, e.to_string()))?;
        lock.check().map_err(|detail| broken(&lock_path, detail))?;
        for file in [UNET_CONFIG, UNET_MODEL, SCHEDULER_CONFIG] {
            if !lock.files.iter().any(|f| f.path == file) {
                return Err(LockError::NotListed { id: lock.id, file });
            }
        }
        for file in &lock.files {
            check_file(folder, &lock.id, file)?;
        }
        refuse_extra_files(folder, &lock)?;

        let unet_path = folder.join(UNET_CONFIG);
        let unet: UnetConfig =
            serde_json::from_str(&read_text(&unet_path)?).map_err(|e| broken(&unet_path, e.to_string()))?;
        unet.check().map_err(|detail| broken(&unet_path, detail))?;
        Ok(Self { folder: folder.to_path_buf(), digest: hex::encode(Sha256::digest(&text)), lock, unet })
    }

    /// What jobs ask for by name.
    pub fn id(&self) -> &str {
        &self.lock.id
    }

    /// SHA-256 of the lock file, lower-case hex: names this exact pipeline.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    pub fn license(&self) -> &str {
        &self.lock.license
    }

    pub fn precision(&self) -> &str {
        &self.lock.precision
    }

    pub fn files(&self) -> &[LockedFile] {
        &self.lock.files
    }

    /// Names of the channels the model is conditioned on, in order.
    pub fn conditioning(&self) -> &[String] {
        &self.lock.conditioning
    }

    /// Side of the square the model works on, in pixels.
    pub fn side_px(&self) -> u32 {
        self.unet.side_px
    }

    /// One unit of each residual channel, in encoded light (shadow: in plain darkness).
    pub fn residual_scale(&self) -> &[f32; RESIDUAL_CHANNELS] {
        &self.unet.residual_scale
    }

    pub(super) fn unet_model(&self) -> PathBuf {
        self.folder.join(UNET_MODEL)
    }

    pub(super) fn scheduler_config(&self) -> Result<String, LockError> {
        read_text(&self.folder.join(SCHEDULER_CONFIG))
    }

    pub(super) fn broken_file(&self, file: &str, detail: String) -> LockError {
        broken(&self.folder.join(file), detail)
    }

    pub(super) fn expect_conditioning(&self, expected: &[&str]) -> Result<(), LockError> {
        let found = &self.lock.conditioning;
        if found.iter().map(String::as_str).eq(expected.iter().copied()) {
            return Ok(());
        }
        let at = found.iter().zip(expected).position(|(f, e)| f != e);
        let detail = match at {
            Some(i) => format!("channel {i} is `{}` there and `{}` here", found[i], expected[i]),
            None => format!("it takes {} channels and this version makes {}", found.len(), expected.len()),
        };
        Err(LockError::Conditioning { id: self.lock.id.clone(), detail })
    }
}

impl Lock {
    fn check(&self) -> Result<(), String> {
        if self.version != 1 {
            return Err(format!("its `version` is {}, not 1", self.version));
        }
        let id_ok = !self.id.is_empty()
            && self.id.len() <= 100
            && self.id.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'));
        if !id_ok {
            return Err(format!("its `id` `{}` is not 1 to 100 of a-z 0-9 . _ -", self.id));
        }
        if self.files.len() > FILES_MAX {
            return Err(format!("it lists {} files, more than {FILES_MAX}", self.files.len()));
        }
        // The paths are joined to the folder: none may lead out of it.
        let path_ok = |path: &str| {
            path.split('/').all(|s| !s.is_empty() && !s.starts_with('.') && !s.contains(['\\', ':', '\0']))
        };
        match self.files.iter().find(|f| !path_ok(&f.path)) {
            Some(file) => Err(format!("`{}` is not a path inside the folder", file.path)),
            None => Ok(()),
        }
    }
}

impl UnetConfig {
    fn check(&self) -> Result<(), String> {
        let sides_ok = (16..=1024).contains(&self.side_px)
            && self.side_multiple > 0
            && self.side_px.is_multiple_of(self.side_multiple);
        if !sides_ok {
            return Err(format!(
                "`side_px` {} is not 16 to 1024 and a multiple of `side_multiple` {}",
                self.side_px, self.side_multiple
            ));
        }
        match self.residual_scale.iter().find(|s| !(s.is_finite() && **s > 0.0)) {
            Some(scale) => Err(format!("`residual_scale` holds {scale}, which is not above 0")),
            None => Ok(()),
        }
    }
}

fn check_file(folder: &Path, id: &str, file: &LockedFile) -> Result<(), LockError> {
    let path = folder.join(&file.path);
    let read = |source| LockError::Read { path: path.clone(), source };
    let mut reader = std::fs::File::open(&path).map_err(read)?;
    let mut hasher = Sha256::new();
    let mut bytes = 0;
    // In pieces: a text-to-image model is gigabytes.
    let mut piece = vec![0; 1 << 20];
    loop {
        let length = reader.read(&mut piece).map_err(read)?;
        if length == 0 {
            break;
        }
        hasher.update(&piece[..length]);
        bytes += length as u64;
    }
    let found = hex::encode(hasher.finalize());
    if found != file.sha256 || bytes != file.bytes {
        let describe = |digest: &str, bytes: u64| format!("{digest} ({bytes} bytes)");
        return Err(LockError::WrongDigest {
            id: id.to_owned(),
            file: file.path.clone(),
            expected: describe(&file.sha256, file.bytes),
            found: describe(&found, bytes),
        });
    }
    Ok(())
}

fn refuse_extra_files(folder: &Path, lock: &Lock) -> Result<(), LockError> {
    let listed: BTreeSet<PathBuf> = lock.files.iter().map(|f| folder.join(&f.path)).collect();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(here) = pending.pop() {
        let read = |source| LockError::Read { path: here.clone(), source };
        for entry in std::fs::read_dir(&here).map_err(read)? {
            let path = entry.map_err(read)?.path();
            let is_note = path.extension().is_some_and(|e| e == "md");
            let is_lock = path == folder.join(LOCK_FILE);
            if path.is_dir() {
                pending.push(path);
            } else if !is_note && !is_lock && !listed.contains(&path) {
                let file = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
                return Err(LockError::ExtraFile { id: lock.id.clone(), file });
            }
        }
    }
    Ok(())
}

fn read_text(path: &Path) -> Result<String, LockError> {
    let read = |source| LockError::Read { path: path.to_path_buf(), source };
    if std::fs::metadata(path).map_err(read)?.len() > TEXT_BYTES_MAX {
        return Err(broken(path, format!("it is larger than {TEXT_BYTES_MAX} bytes")));
    }
    std::fs::read_to_string(path).map_err(read)
}

fn broken(path: &Path, detail: String) -> LockError {
    LockError::Broken { path: path.to_path_buf(), detail }
}
