//! Ways to get an API key without having one: device login.

pub mod device;
