//! One-time addresses for what a job owes.

pub mod put;
