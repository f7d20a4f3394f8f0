//! `/console`: the farm as its operator watches it, on the operator listener. What it shows and does the JSON API under `/admin` shows and
//! does as well.

pub mod events;
mod live;
pub mod page;
pub mod pictures;
pub mod review;
pub mod session;
