//! Turns of requests: how many are answered at once, who waits for a turn, and which connection has to leave when there are too many.
//!
//! `http/server` gives each request its turn; whatever waits for something else (a body, a render) gives it to others meanwhile.

pub mod places;
pub mod spare;
pub mod unsent;
pub mod waiting;
