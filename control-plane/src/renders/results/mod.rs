//! Accepting the results of nodes: verified objects under keys that readers know, and the rows that
//! name them.

mod accept;
mod accepting;
mod candidates;
mod custom_paints;
mod error;
mod layer_rows;
mod looks;
mod record;
mod verify;

pub use candidates::{forget as forget_candidates, forget_layers as forget_candidate_layers};
pub use custom_paints::{SWEEP_EVERY as PAINTS_SWEPT_EVERY, forget_older as forget_older_paints};
pub use error::ResultError;
pub use layer_rows::REPLACES_LAYERS;
pub use record::end_replaced;
#[cfg(test)]
pub use {accepting::Accepting, verify::VerifiedUpload};
