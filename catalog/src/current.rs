//! Holds the release that is served now. A reload replaces it without a restart, and a request that
//! began with the old release finishes with it.

use super::{Catalog, ReleaseError};
use arc_swap::ArcSwap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// The catalog that the service uses now. It can be replaced while requests use it.
#[derive(Debug)]
pub struct CurrentCatalog {
    held: ArcSwap<Catalog>,
    /// `None` for the release that the program was built with.
    file: Option<PathBuf>,
    reloads: AtomicU64,
    /// The number of the last reload that this process has followed; reloads are counted over all
    /// processes (see `catalog::reload`).
    number: AtomicI64,
}

impl CurrentCatalog {
    /// Reads the release of a file, or the built-in release without one. `number` is the number of
    /// the last reload over all processes, read before the file is.
    pub fn open(file: Option<PathBuf>, number: i64) -> Result<Self, ReleaseError> {
        let catalog = file.as_deref().map_or_else(Catalog::embedded, Catalog::load)?;
        Ok(Self {
            held: ArcSwap::from_pointee(catalog),
            file,
            reloads: AtomicU64::new(0),
            number: AtomicI64::new(number),
        })
    }

    /// Returns the catalog that is used now. It stays valid for the caller after a reload.
    pub fn now(&self) -> Arc<Catalog> {
        self.held.load_full()
    }

    /// Number of reloads of this process. It grows with each, and results that were looked up
    /// before are then stale.
    pub fn reloads(&self) -> u64 {
        self.reloads.load(Ordering::Acquire)
    }

    /// The number of the last reload over all processes that this one has followed.
    pub fn number(&self) -> i64 {
        self.number.load(Ordering::Acquire)
    }

    /// Records that this process need not read the file again for the reload of this number or an
    /// earlier one.
    pub fn followed(&self, number: i64) {
        self.number.fetch_max(number, Ordering::Release);
    }

    /// Reads the file again and serves from it. This takes a while and must not run in an async
    /// task. A file that cannot be read or decoded changes nothing. Returns `ReloadError::BuiltIn`
    /// if there is no file.
    pub fn reload(&self) -> Result<Arc<Catalog>, ReloadError> {
        let file = self.file.as_deref().ok_or(ReloadError::BuiltIn)?;
        let catalog = Arc::new(Catalog::load(file)?);
        // Computed here, so that no request waits for them.
        catalog.counts();
        catalog.search_index();
        self.held.store(catalog.clone());
        self.reloads.fetch_add(1, Ordering::Release);
        Ok(catalog)
    }
}

/// The reason why a reload failed. The old catalog then stays in use.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    #[error(
        "the catalog is the one the program was built with; set CYCLORAMA_CATALOG to a release file and start again"
    )]
    BuiltIn,
    #[error(transparent)]
    Release(#[from] ReleaseError),
}
