//! A model as files: the Hugging Face diffusers ONNX layout plus a lock file that says what each file must be.
//!
//! Nothing of a model is used before every digest has been checked. The digest of the lock file itself names the whole
//! pipeline, in receipts and towards the control plane. What the files mean is the affair of each kind of pipeline.

use super::lock::{Lock, LockedFile};
use super::model_file::{LOCK_FILE, LockError, broken, read_json};
use super::stable_diffusion::settings::TextToImage;
use serde::Deserialize;
use std::path::{Path, PathBuf};

pub(super) const MODEL_INDEX: &str = "model_index.json";
/// What the built-in model's index calls its pipeline.
const LIGHT_PIPELINE: &str = "CycloramaLightPipeline";
/// Beginnings of the names of pipelines that run as Stable Diffusion does, in the classes of diffusers and those that Optimum and diffusers
/// have for ONNX.
const STABLE_DIFFUSION_PIPELINES: [&str; 2] = ["StableDiffusion", "LatentConsistencyModel"];
const ONNX_PREFIXES: [&str; 2] = ["Onnx", "ORT"];

/// A checked model folder.
#[derive(Debug, Clone)]
pub struct ModelFolder {
    folder: PathBuf,
    lock: Lock,
    digest: String,
    kind: PipelineKind,
}

/// What the files of a folder are to be run as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipelineKind {
    /// The built-in model's: G-buffer in, residual of the light layers out.
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
    /// As `model_index.json` in `folder` names it.
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
    /// Reads the lock file and checks every file it names. Notes (`*.md`) may lie beside them unlisted.
    pub fn open(folder: &Path) -> Result<Self, LockError> {
        let (lock, digest) = Lock::read(folder)?;
        lock.verify(folder)?;
        Self::with(folder, lock, digest)
    }

    /// As it will be with a lock file of which nothing has been written yet; its files were looked at a moment ago.
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

    /// Names of the channels a light model is conditioned on, in order.
    pub fn conditioning(&self) -> &[String] {
        &self.lock.conditioning
    }

    /// How a text-to-image pipeline is to be run.
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

    /// A graph and the file beside it that has its weights, if there is one: what ONNX Runtime says of either need not name it.
    pub(super) fn with_weights(&self, graph: &str) -> String {
        let paths = self.lock.files.iter().map(|file| file.path.as_str());
        paths.filter(|path| path.starts_with(graph)).collect::<Vec<_>>().join(" with ")
    }

    /// A file that is read must have been checked.
    pub(super) fn expect_listed(&self, file: &str) -> Result<(), LockError> {
        if self.lock.files.iter().any(|listed| listed.path == file) {
            return Ok(());
        }
        Err(LockError::NotListed { id: self.lock.id.clone(), file: file.to_owned() })
    }
}
