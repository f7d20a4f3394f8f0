//! The release that answers now: another takes its place without a restart, and whoever works with the old one finishes
//! with it.

use super::{Catalog, ReleaseError};
use arc_swap::ArcSwap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

#[derive(Debug)]
pub struct CurrentCatalog {
    held: ArcSwap<Catalog>,
    /// `None`: the release the program was built with.
    file: Option<PathBuf>,
    reloads: AtomicU64,
    /// Of the last reload of all processes that this one has followed (see `catalog::reload`).
    number: AtomicI64,
}

impl CurrentCatalog {
    /// Reads the release; that of the program without a file. `number`: of reloads of all processes, from before the file is read.
    pub fn open(file: Option<PathBuf>, number: i64) -> Result<Self, ReleaseError> {
        let catalog = file.as_deref().map_or_else(Catalog::embedded, Catalog::load)?;
        Ok(Self {
            held: ArcSwap::from_pointee(catalog),
            file,
            reloads: AtomicU64::new(0),
            number: AtomicI64::new(number),
        })
    }

    pub fn now(&self) -> Arc<Catalog> {
        self.held.load_full()
    }

    /// Grows with every reload: what was looked up before is to be looked up again.
    pub fn reloads(&self) -> u64 {
        self.reloads.load(Ordering::Acquire)
    }

    pub fn number(&self) -> i64 {
        self.number.load(Ordering::Acquire)
    }

    /// Nothing is to be read again for the reload of this number, or one before it.
    pub fn followed(&self, number: i64) {
        self.number.fetch_max(number, Ordering::Release);
    }

    /// Reads the file again and answers from it. Takes a while, and is not for an async task. A file that is not good changes
    /// nothing.
    pub fn reload(&self) -> Result<Arc<Catalog>, ReloadError> {
        let file = self.file.as_deref().ok_or(ReloadError::BuiltIn)?;
        let catalog = Arc::new(Catalog::load(file)?);
        // Nobody should wait for these.
        catalog.counts();
        catalog.search_index();
        self.held.store(catalog.clone());
        self.reloads.fetch_add(1, Ordering::Release);
        Ok(catalog)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    #[error(
        "the catalog is the one the program was built with; set CYCLORAMA_CATALOG to a release file and start again"
    )]
    BuiltIn,
    #[error(transparent)]
    Release(#[from] ReleaseError),
}
