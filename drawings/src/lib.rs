//! Which drawing a vehicle is built from, and how like the real vehicle that drawing is.
//!
//! Every sheet and face names the vehicles that it is for ([`AppliesTo`]), and the closest one wins
//! ([`Index`]). The render node draws by this rule. The control plane uses it, without containing
//! the drawings, to report how like the real vehicle an image will be ([`likeness`]) and which
//! years share an image ([`Drawings::look`]).

mod applies_to;
mod index;
mod likeness;
mod look;

pub use applies_to::{AppliesTo, Closeness};
pub use index::Index;
pub use likeness::{Likeness, likeness};
pub use look::{Drawing, Drawings, Header, Look};
