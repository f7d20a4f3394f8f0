//! `/console`: pages on which the operator watches the farm, on the operator listener.
//!
//! The JSON API under `/admin` shows and does everything that the console shows and does.

pub mod events;
mod live;
pub mod page;
pub mod pictures;
pub mod review;
pub mod session;
