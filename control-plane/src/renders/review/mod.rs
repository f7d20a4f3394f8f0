//! What people think of pictures, and what operators do about it: reports, renders in review, candidates, and rendering once more.

mod candidate;
mod decisions;
mod error;
mod feedback;
mod flagged;
mod rerender;

pub use error::ReviewError;
pub use feedback::{Judged, Opinion, Verdict};
pub use flagged::Flagged;
