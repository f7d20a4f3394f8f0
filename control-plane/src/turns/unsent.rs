//! A flag that says if a client reads the bytes that it requested.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// True while a response has bytes left that the client has not made room for. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Unsent(Arc<AtomicBool>);

impl Unsent {
    pub fn is_any(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub fn set(&self, is_any: bool) {
        self.0.store(is_any, Ordering::Relaxed);
    }
}
