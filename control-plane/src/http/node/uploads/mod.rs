//! One-time URLs for the objects that a job has to upload.

pub mod put;
