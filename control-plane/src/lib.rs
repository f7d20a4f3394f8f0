//! The control plane: catalog, accounts, credits, renders, delivery and the pages. See `docs/architecture.md`.

pub mod clock;
pub mod db;
pub mod delivery;
pub mod ledger;
#[cfg(test)]
mod test_database;
