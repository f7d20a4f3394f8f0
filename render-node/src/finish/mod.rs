//! From light layers to the finished image: paints, composition, tone, sRGB; and the layers' stored
//! form.

pub(crate) mod compose;
pub mod paint;
pub(crate) mod soft;
pub(crate) mod store;

pub use compose::{ComposeError, Compositor, compose_on_cpu};
pub use paint::PaintOptics;
pub use soft::Lacquers;
pub use store::{StoreError, read_layers, round_as_stored, write_layers};
