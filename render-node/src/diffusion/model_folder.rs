//! A model as files: the Hugging Face diffusers ONNX layout plus a lock file with the digest of
//! each file.
//!
//! Nothing of a model is used before every digest has been checked. The digest of the lock file
//! itself identifies the whole pipeline, in receipts and towards the control plane. Each kind of
//! pipeline interprets the files itself.

use super::lock::{Lock, LockedFile};
use super::model_file::{LOCK_FILE, LockError, broken, read_json};
use super::stable_diffusion::settings::TextToImage;
use serde::Deserialize;
use std::path::{Path, PathBuf};

pub(super) const MODEL_INDEX: &str = "model_index.json";
/// Name of the built-in model's pipeline in its index.
const LIGHT_PIPELINE: &str = "CycloramaLightPipeline";
/// Prefixes of the names of pipelines that run as Stable Diffusion does, in the classes of
/// diffusers (`STABLE_DIFFUSION_PIPELINES`), and prefixes that Optimum and diffusers add for ONNX
/// (`ONNX_PREFIXES`).
const STABLE_DIFFUSION_PIPELINES: [&str; 2] = ["StableDiffusion", "LatentConsistencyModel"];
const ONNX_PREFIXES: [&str; 2] = ["Onnx", "ORT"];

/// A model folder whose files have been checked.
#[derive(Debug, Clone)]
pub struct ModelFolder {
    folder: PathBuf,
    lock: Lock,
    digest: String,
    kind: PipelineKind,
}

/// The kind of pipeline that runs the files of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipelineKind {
    /// The built-in model: G-buffer in, residual of the light layers out.
    Light,
    /// Text encoder, UNet and VAE.
    StableDiffusion,
}

#[derive(Deserialize)]
struct ModelIndex {
    #[serde(rename = "_class_name")]
    class_name: String,
}

impl PipelineKind {
    /// Reads the kind from `model_index.json` in `folder`. Returns an error if the file cannot be
    /// read or names an unknown pipeline.
    pub fn of(folder: &Path) -> Result<Self, LockError> {
        let index: ModelIndex = read_json(folder, MODEL_INDEX)?;
        if index.class_name == LIGHT_PIPELINE {
            return Ok(PipelineKind::Light);
        }
        let name = ONNX_PREFIXES.iter().find_map(|prefix| index.class_name.strip_prefix(prefix));
        let name = name.unwrap_or(&index.class_name);
        if STABLE_DIFFUSION_PIPELINES.iter().any(|known| name.starts_with(known))
            && !name.starts_with("StableDiffusion3")
        {
            return Ok(PipelineKind::StableDiffusion);
        }
        let detail = format!(
            "`_class_name` is {}; {LIGHT_PIPELINE}, a StableDiffusion, StableDiffusionXL or LatentConsistencyModel pipeline is expected",
            index.class_name
        );
        Err(broken(&folder.join(MODEL_INDEX), detail))
    }
}

impl ModelFolder {
    /// Reads the lock file and checks every file that it lists. Notes (`*.md`) may lie beside them
    /// unlisted.
    pub fn open(folder: &Path) -> Result<Self, LockError> {
        let (lock, digest) = Lock::read(folder)?;
        lock.verify(folder)?;
        Self::with(folder, lock, digest)
    }

    /// Returns the folder as it will be with `lock`, which has not been written yet. The files are
    /// not checked again.
    pub fn about_to_be(folder: &Path, lock: Lock) -> Result<Self, LockError> {
        let digest = lock.digest(folder)?;
        Self::with(folder, lock, digest)
    }

    fn with(folder: &Path, lock: Lock, digest: String) -> Result<Self, LockError> {
        let kind = PipelineKind::of(folder)?;
        let opened = Self { folder: folder.to_path_buf(), lock, digest, kind };
        opened.expect_listed(MODEL_INDEX)?;
        Ok(opened)
    }

    pub fn kind(&self) -> PipelineKind {
        self.kind
    }

    /// Returns the id by which jobs request this pipeline.
    pub fn id(&self) -> &str {
        &self.lock.id
    }

    /// Returns the SHA-256 of the lock file in lower-case hex, which identifies this exact
    /// pipeline.
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

    /// Returns the names of the channels a light model is conditioned on, in order.
    pub fn conditioning(&self) -> &[String] {
        &self.lock.conditioning
    }

    /// Returns the settings of a text-to-image pipeline.
    pub(super) fn text_to_image(&self) -> Result<&TextToImage, LockError> {
        let settings = self.lock.text_to_image.as_ref();
        settings.ok_or_else(|| {
            self.broken_file(LOCK_FILE, "it has no `text_to_image`, which this pipeline needs".to_owned())
        })
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    pub(super) fn root(&self) -> &Path {
        &self.folder
    }

    pub(super) fn broken_file(&self, file: &str, detail: String) -> LockError {
        broken(&self.folder.join(file), detail)
    }

    /// Returns the name of a graph, and of the file beside it that has its weights if there is one.
    /// Error messages use it because ONNX Runtime's own messages need not name either.
    pub(super) fn with_weights(&self, graph: &str) -> String {
        let paths = self.lock.files.iter().map(|file| file.path.as_str());
        paths.filter(|path| path.starts_with(graph)).collect::<Vec<_>>().join(" with ")
    }

    /// Returns an error unless the lock file lists `file`, because a file that is read must have
    /// been checked.
    pub(super) fn expect_listed(&self, file: &str) -> Result<(), LockError> {
        if self.lock.files.iter().any(|listed| listed.path == file) {
            return Ok(());
        }
        Err(LockError::NotListed { id: self.lock.id.clone(), file: file.to_owned() })
    }
}
