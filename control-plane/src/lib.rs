//! The control plane: catalog, accounts, credits, renders, delivery and the pages. See `docs/architecture.md`.

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
pub mod payments;
pub mod prewarm;
pub mod renders;
pub mod resolve;
pub mod telemetry;
#[cfg(test)]
mod test_database;
