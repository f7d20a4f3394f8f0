//! Pictures and what can be asked of them.

pub mod car;
pub mod options;
pub mod resolve;
