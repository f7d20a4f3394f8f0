//! Which drawing a vehicle is built from, and how like the real vehicle that drawing is.
//!
//! Every sheet and face says by itself what it is for ([`AppliesTo`]); the closest one wins ([`Index`]). The render node draws by this
//! rule, and the control plane tells clients by it how like a picture will be ([`likeness`]) and which years share
//! one ([`Drawings::look`]),
//! without knowing the drawings.

mod applies_to;
mod index;
mod likeness;
mod look;

pub use applies_to::{AppliesTo, Closeness};
pub use index::Index;
pub use likeness::{Likeness, likeness};
pub use look::{Drawing, Drawings, Header, Look};
