//! The client API, version 1 (specification section 4).

pub mod images;
