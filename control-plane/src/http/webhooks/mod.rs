//! What other services tell us, each believed by its own signature.

pub mod stripe;
