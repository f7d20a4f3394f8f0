//! From a request for a picture to its bytes: what was asked, what it costs, where the bytes are found.

pub mod request;

pub use request::{BadParameter, ImageRequest, ResponseKind};
