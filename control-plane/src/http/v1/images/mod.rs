//! Pictures and what can be asked of them.

pub mod car;
