//! The loaded models of this process. Several renderers may share them: a device runs one model at a time, and
//! whoever has the turn keeps the others waiting, while these build geometry, draw, paint and judge.

use crate::config::LocalConfig;
use crate::diffusion::model_file::LOCK_FILE;
use crate::diffusion::{DiffusionModel, ModelFolder, OnnxRuntime, Provider};
use crate::engine::start_error::StartError;
use crate::studio;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Each is some tens of megabytes in memory at least; more is a folder chosen by mistake.
const MODELS_MAX: usize = 8;

/// A handle on them.
#[derive(Clone)]
pub struct Models {
    runtime: OnnxRuntime,
    provider: Provider,
    /// At least one; the first is the one that is offered first.
    facts: Arc<Vec<Facts>>,
    /// Pictures in one batch, at most: less than was configured once memory has run out with that many.
    batch_limit: Arc<AtomicUsize>,
    /// In the order of the facts; none after they could not be loaded again.
    loaded: Arc<Mutex<Vec<DiffusionModel>>>,
}

/// What there is to say about a model while it runs.
pub struct Facts {
    pub folder: ModelFolder,
    /// Of a run.
    pub steps: usize,
    /// How its samples are taken.
    pub sampling: Value,
    /// `fp16` or `fp32`: the numbers its denoiser takes.
    pub precision: &'static str,
    /// How many pictures it takes at once; `None`: any number.
    pub batch_max: Option<usize>,
}

impl Models {
    pub fn load(config: &LocalConfig) -> Result<Self, StartError> {
        let (runtime, provider) = what_runs_them(config)?;
        let loaded = load(&runtime, provider, config)?;
        Self::with(config, runtime, provider, loaded)
    }

    /// This one alone, in place of those in the configuration's folder.
    pub fn load_only(config: &LocalConfig, folder: ModelFolder) -> Result<Self, StartError> {
        let (runtime, provider) = what_runs_them(config)?;
        let model = DiffusionModel::of(&runtime, provider, folder, &studio::CONDITIONING_CHANNELS)?;
        Self::with(config, runtime, provider, vec![model])
    }

    fn with(
        config: &LocalConfig,
        runtime: OnnxRuntime,
        provider: Provider,
        loaded: Vec<DiffusionModel>,
    ) -> Result<Self, StartError> {
        let facts = loaded.iter().map(|model| Facts {
            folder: model.folder().clone(),
            steps: model.steps(),
            sampling: model.sampling(),
            precision: model.precision(),
            batch_max: model.batch_max(),
        });
        let facts: Vec<Facts> = facts.collect();
        for (place, one) in facts.iter().enumerate() {
            if facts[..place].iter().any(|other| other.folder.id() == one.folder.id()) {
                return Err(StartError::SameId { id: one.folder.id().to_owned(), folder: config.models.clone() });
            }
        }
        let batch_limit = Arc::new(AtomicUsize::new(config.batch_max as usize));
        Ok(Self { runtime, provider, facts: Arc::new(facts), batch_limit, loaded: Arc::new(Mutex::new(loaded)) })
    }

    /// Gives all up and loads them again, for whoever shares them: memory in pieces becomes whole.
    pub fn load_again(&self, config: &LocalConfig) -> Result<(), StartError> {
        let mut loaded = self.turn();
        loaded.clear();
        let again = load(&self.runtime, self.provider, config)?;
        let before = self.facts.iter().map(|facts| facts.folder.digest());
        if !again.iter().map(|model| model.folder().digest()).eq(before) {
            return Err(StartError::ModelsChanged(config.models.clone()));
        }
        *loaded = again;
        Ok(())
    }

    pub fn facts(&self) -> &[Facts] {
        &self.facts
    }

    /// Of the model for this pipeline, among the facts and among those loaded.
    pub fn place(&self, pipeline: &str) -> Option<usize> {
        self.facts.iter().position(|facts| facts.folder.id() == pipeline)
    }

    pub fn batch_limit(&self) -> usize {
        self.batch_limit.load(Ordering::Relaxed)
    }

    /// Memory ran out with more than so many.
    pub fn lower_batch_limit(&self, limit: usize) {
        self.batch_limit.fetch_min(limit.max(1), Ordering::Relaxed);
    }

    pub fn provider(&self) -> Provider {
        self.provider
    }

    pub fn onnx_runtime(&self) -> &OnnxRuntime {
        &self.runtime
    }

    /// Waits until nobody else runs one.
    pub fn turn(&self) -> MutexGuard<'_, Vec<DiffusionModel>> {
        // A render that panicked has left no model half changed: all that a run changes is the pictures.
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn what_runs_them(config: &LocalConfig) -> Result<(OnnxRuntime, Provider), StartError> {
    let runtime = OnnxRuntime::load(config.onnx_runtime.as_deref())?;
    let provider = runtime.provider(config.provider)?;
    Ok((runtime, provider))
}

fn load(runtime: &OnnxRuntime, provider: Provider, config: &LocalConfig) -> Result<Vec<DiffusionModel>, StartError> {
    let load = |folder: &PathBuf| DiffusionModel::load(runtime, provider, folder, &studio::CONDITIONING_CHANNELS);
    Ok(model_folders(&config.models)?.iter().map(load).collect::<Result<Vec<_>, _>>()?)
}

/// `folder` itself when it is a model, else every model folder in it, by name.
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
