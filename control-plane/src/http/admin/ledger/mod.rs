//! `/admin/ledger`

pub mod verify;
