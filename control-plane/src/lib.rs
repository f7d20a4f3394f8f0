//! The control plane: catalog, accounts, credits, renders, delivery and the pages. See `docs/architecture.md`.

// Both panic when their output is closed or full; commands print through `cli::print`, the service logs.
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod accounts;
pub mod alerts;
pub mod app;
pub mod backup;
pub mod catalog;
pub mod cli;
pub mod clock;
pub mod config;
pub mod db;
pub mod delivery;
pub mod doctor;
pub mod farm;
pub mod http;
pub mod ledger;
pub mod lifecycle;
pub mod logs;
pub mod mail;
pub mod objects;
pub mod owner_only;
pub mod payments;
pub mod plain_text;
pub mod plural;
pub mod prewarm;
pub mod renders;
pub use cyclorama_catalog::resolve;
pub mod telemetry;
#[cfg(test)]
mod test_database;
