//! Progress of a long command.

use cyclorama_core::output;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Prints the progress of a long command, every hundred shapes.
pub struct Progress {
    done: AtomicUsize,
    of: usize,
}

impl Progress {
    pub fn new(of: usize) -> Self {
        Self { done: AtomicUsize::new(0), of }
    }

    pub fn one_more(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(100) {
            output::note(format_args!("{done} of {} shapes", self.of));
        }
    }
}
