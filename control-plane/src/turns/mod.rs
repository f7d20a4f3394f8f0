//! Permits of requests: how many requests are answered at once, which ones wait for a permit, and
//! which connection has to close when there are too many.
//!
//! `http/server` gives each request its permit. A request that waits for something else (a body, a
//! render) gives its permit back meanwhile.

pub mod places;
pub mod spare;
pub mod unsent;
pub mod waiting;
