//! Users' feedback on images, and operators' reactions to it: reports, renders in review,
//! candidates, and rerenders.

mod candidate;
mod decisions;
mod error;
mod feedback;
mod flagged;
mod rerender;

pub use error::ReviewError;
pub use feedback::{Opinion, RatedImage, Verdict};
pub use flagged::FlaggedRevision;
