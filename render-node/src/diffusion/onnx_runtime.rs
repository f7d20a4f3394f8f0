//! Finds and loads ONNX Runtime's shared library, once per process.

use crate::diffusion::diffusion_error::DiffusionError;
use crate::diffusion::provider::{Provider, ProviderChoice};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The library in use. Loading the same one twice gives the same value.
#[derive(Clone)]
pub struct OnnxRuntime {
    pub(super) environment: ort::environment::Environment,
    path: PathBuf,
    version: String,
}

/// An error of loading the library. `cause` is text, because the library's own error types differ
/// by how it failed.
#[derive(Debug, thiserror::Error)]
pub enum OnnxRuntimeError {
    #[error(
        "ONNX Runtime was not found: set ORT_DYLIB_PATH to libonnxruntime.so (scripts/onnxruntime.sh fetches it and prints the path); looked in {looked}"
    )]
    NotFound { looked: String },
    #[error("{} is not a usable ONNX Runtime library: {cause}", path.display())]
    Unusable { path: PathBuf, cause: String },
    #[error("ONNX Runtime {} is already loaded in this process", loaded.display())]
    AnotherLoaded { loaded: PathBuf },
}

/// The environment may be made only once per process, so it is kept for the life of the process.
static LOADED: Mutex<Option<OnnxRuntime>> = Mutex::new(None);

impl OnnxRuntime {
    /// Loads the library at `path`, or, without a path, from beside this program.
    pub fn load(path: Option<&Path>) -> Result<Self, OnnxRuntimeError> {
        let path = match path {
            Some(path) => path.to_path_buf(),
            None => beside_this_program(),
        };
        // Canonicalised, because the dynamic linker would search its own places for a bare name,
        // and the library that runs should be the file that was named.
        let path =
            path.canonicalize().map_err(|_| OnnxRuntimeError::NotFound { looked: path.display().to_string() })?;

        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        match &*loaded {
            Some(runtime) if runtime.path == path => return Ok(runtime.clone()),
            Some(runtime) => return Err(OnnxRuntimeError::AnotherLoaded { loaded: runtime.path.clone() }),
            None => {}
        }
        let unusable = |cause: String| OnnxRuntimeError::Unusable { path: path.clone(), cause };
        let minor =
            ort::util::probe(&path).ok_or_else(|| unusable("it cannot be loaded, or is not version 1".to_owned()))?;
        let environment = ort::init_from(&path)
            .map_err(|e| unusable(e.to_string()))?
            .with_name("cyclorama")
            .with_telemetry(false)
            .build()
            .map_err(|e| unusable(e.to_string()))?;
        let runtime = Self { environment, version: version_text(minor), path };
        *loaded = Some(runtime.clone());
        Ok(runtime)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the version as `1.31 (git-commit-id=...)`. The library reports its minor version and
    /// its build, but not its patch level.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the provider for a choice, or [`DiffusionError::NoProvider`] if the library was not
    /// built with it.
    pub fn provider(&self, choice: ProviderChoice) -> Result<Provider, DiffusionError> {
        let provider = match choice {
            ProviderChoice::Auto => Provider::AUTO.into_iter().find(|provider| provider.is_built_in()),
            ProviderChoice::Only(provider) => Some(provider).filter(|provider| provider.is_built_in()),
        };
        provider.ok_or_else(|| {
            let has: Vec<&str> =
                Provider::ALL.into_iter().filter(|one| one.is_built_in()).map(Provider::as_str).collect();
            let wanted = match choice {
                ProviderChoice::Auto => Provider::Cpu,
                ProviderChoice::Only(provider) => provider,
            };
            DiffusionError::NoProvider { wanted, library: self.path().to_path_buf(), has: has.join(", ") }
        })
    }
}

fn version_text(minor: u32) -> String {
    let commit =
        ort::info().split([',', ' ']).find(|part| part.starts_with("git-commit-id=")).unwrap_or("build unknown");
    format!("1.{minor} ({commit})")
}

/// Returns the path at which an installation has the library.
pub fn beside_this_program() -> PathBuf {
    let name = format!("{}onnxruntime{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    std::env::current_exe()
        .ok()
        .and_then(|exe| exe.parent().map(|folder| folder.join(&name)))
        .unwrap_or_else(|| name.into())
}
