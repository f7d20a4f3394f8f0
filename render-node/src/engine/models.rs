//! The loaded models of this process. Several renderers may share them. A device runs one model at
//! a time: a renderer that holds the lock keeps the others waiting, while these build geometry,
//! draw, paint and check.

use crate::config::LocalConfig;
use crate::diffusion::model_file::LOCK_FILE;
use crate::diffusion::{DiffusionModel, ModelFolder, OnnxRuntime, Provider};
use crate::engine::start_error::StartError;
use crate::studio;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of models in the folder. Each takes some tens of megabytes in memory at least; a
/// folder with more was chosen by mistake.
const MODELS_MAX: usize = 8;

/// A shared handle on the models.
#[derive(Clone)]
pub struct Models {
    runtime: OnnxRuntime,
    provider: Provider,
    /// At least one, in the order in which the node offers them.
    facts: Arc<Vec<ModelInfo>>,
    /// Maximum number of images in a batch. It falls below the configured number once memory has
    /// run out with that many.
    batch_limit: Arc<AtomicUsize>,
    /// In the order of `facts`; empty if they could not be loaded again.
    loaded: Arc<Mutex<Vec<DiffusionModel>>>,
}

/// Description of a loaded model.
pub struct ModelInfo {
    pub folder: ModelFolder,
    /// Number of steps of a run.
    pub steps: usize,
    /// Settings of its sampler.
    pub sampling: Value,
    /// `fp16` or `fp32`: the type of numbers its denoiser takes.
    pub precision: &'static str,
    /// Maximum number of images in a batch; `None` if there is no limit.
    pub batch_max: Option<usize>,
}

impl Models {
    pub fn load(config: &LocalConfig) -> Result<Self, StartError> {
        let (runtime, provider) = load_runtime(config)?;
        let loaded = load(&runtime, provider, config)?;
        Self::with(config, runtime, provider, loaded)
    }

    /// Loads only the model in `folder`, in place of those in the configuration's folder.
    pub fn load_only(config: &LocalConfig, folder: ModelFolder) -> Result<Self, StartError> {
        let (runtime, provider) = load_runtime(config)?;
        let model = DiffusionModel::of(&runtime, provider, folder, &studio::CONDITIONING_CHANNELS)?;
        Self::with(config, runtime, provider, vec![model])
    }

    fn with(
        config: &LocalConfig,
        runtime: OnnxRuntime,
        provider: Provider,
        loaded: Vec<DiffusionModel>,
    ) -> Result<Self, StartError> {
        let facts = loaded.iter().map(|model| ModelInfo {
            folder: model.folder().clone(),
            steps: model.steps(),
            sampling: model.sampling(),
            precision: model.precision(),
            batch_max: model.batch_max(),
        });
        let facts: Vec<ModelInfo> = facts.collect();
        for (place, one) in facts.iter().enumerate() {
            if facts[..place].iter().any(|other| other.folder.id() == one.folder.id()) {
                return Err(StartError::SameId { id: one.folder.id().to_owned(), folder: config.models.clone() });
            }
        }
        let batch_limit = Arc::new(AtomicUsize::new(config.batch_max as usize));
        Ok(Self { runtime, provider, facts: Arc::new(facts), batch_limit, loaded: Arc::new(Mutex::new(loaded)) })
    }

    /// Drops all models and loads them again, for every renderer that shares them, which undoes
    /// fragmentation of memory. Returns [`StartError::ModelsChanged`] if the folder's models are no
    /// longer the same.
    pub fn load_again(&self, config: &LocalConfig) -> Result<(), StartError> {
        let mut loaded = self.lock();
        loaded.clear();
        let again = load(&self.runtime, self.provider, config)?;
        let before = self.facts.iter().map(|facts| facts.folder.digest());
        if !again.iter().map(|model| model.folder().digest()).eq(before) {
            return Err(StartError::ModelsChanged(config.models.clone()));
        }
        *loaded = again;
        Ok(())
    }

    pub fn facts(&self) -> &[ModelInfo] {
        &self.facts
    }

    /// Returns the index of the model for a pipeline, among the facts and among those loaded.
    pub fn index_of(&self, pipeline: &str) -> Option<usize> {
        self.facts.iter().position(|facts| facts.folder.id() == pipeline)
    }

    pub fn batch_limit(&self) -> usize {
        self.batch_limit.load(Ordering::Relaxed)
    }

    /// Lowers the batch limit, after memory ran out with a batch larger than `limit`.
    pub fn lower_batch_limit(&self, limit: usize) {
        self.batch_limit.fetch_min(limit.max(1), Ordering::Relaxed);
    }

    pub fn provider(&self) -> Provider {
        self.provider
    }

    pub fn onnx_runtime(&self) -> &OnnxRuntime {
        &self.runtime
    }

    /// Waits until no other renderer runs a model, and returns the lock.
    pub fn lock(&self) -> MutexGuard<'_, Vec<DiffusionModel>> {
        // A render that panicked leaves no model half changed, because a run changes only the
        // images.
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn load_runtime(config: &LocalConfig) -> Result<(OnnxRuntime, Provider), StartError> {
    let runtime = OnnxRuntime::load(config.onnx_runtime.as_deref())?;
    let provider = runtime.provider(config.provider)?;
    Ok((runtime, provider))
}

fn load(runtime: &OnnxRuntime, provider: Provider, config: &LocalConfig) -> Result<Vec<DiffusionModel>, StartError> {
    let load = |folder: &PathBuf| DiffusionModel::load(runtime, provider, folder, &studio::CONDITIONING_CHANNELS);
    Ok(model_folders(&config.models)?.iter().map(load).collect::<Result<Vec<_>, _>>()?)
}

/// Returns `folder` itself if it is a model, otherwise every model folder in it, sorted by name.
pub fn model_folders(folder: &Path) -> Result<Vec<PathBuf>, StartError> {
    if folder.join(LOCK_FILE).is_file() {
        return Ok(vec![folder.to_path_buf()]);
    }
    let unreadable = |source| StartError::Models { folder: folder.to_path_buf(), source };
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err(StartError::NoModel(folder.to_path_buf())),
        entries => entries.map_err(unreadable)?,
    };
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>().map_err(unreadable)?;
    let mut models: Vec<PathBuf> = paths.into_iter().filter(|path| path.join(LOCK_FILE).is_file()).collect();
    models.sort();
    match models.len() {
        0 => Err(StartError::NoModel(folder.to_path_buf())),
        found if found > MODELS_MAX => {
            Err(StartError::TooManyModels { folder: folder.to_path_buf(), found, max: MODELS_MAX })
        }
        _ => Ok(models),
    }
}
