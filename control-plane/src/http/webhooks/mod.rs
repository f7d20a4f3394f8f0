//! Messages from other services, each authenticated by its own signature.

pub mod stripe;
