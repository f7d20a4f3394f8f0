//! `/api/v1/images`: images, their options, and the parameters for free text.

pub mod car;
pub mod options;
pub mod resolve;
