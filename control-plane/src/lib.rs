//! The control plane: catalog, accounts, credits, renders, delivery and the pages. See
//! `docs/architecture.md`.
//!
//! Only what the program, its benchmarks and its examples use is public, so that the compiler
//! reports code that nobody uses.

// Both macros panic when their output is closed or full. Commands print through `cli::print`,
// and the service logs.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod accounts;
mod alerts;
mod app;
mod backup;
mod catalog;
mod cli;
mod clock;
mod config;
mod db;
mod delivery;
mod doctor;
mod farm;
mod http;
mod in_flight;
mod ledger;
mod lifecycle;
mod logs;
mod mail;
mod money;
mod named_requests;
mod network_counts;
mod networks;
mod objects;
mod owner_only;
mod payments;
mod plain_text;
mod plural;
mod prewarm;
mod renders;
mod secret;
mod simulation;
mod tasks;
mod telemetry;
#[cfg(test)]
mod test_database;
mod turns;

pub use cli::run;

/// For `benches/statement.rs`.
pub mod books {
    pub use crate::clock::UnixMs;
    pub use crate::db::Database;
    pub use crate::ledger::{Credits, PAGE_MAX, newest_entries, open_account, statement, verify};
}

/// For `examples/mcp_fixture`.
pub mod mcp {
    pub use crate::http::mcp::transport::{Messages, Transport};
}
