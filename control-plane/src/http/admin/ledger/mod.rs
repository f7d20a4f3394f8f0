//! `/admin/ledger`: checks of the ledger.

pub mod verify;
