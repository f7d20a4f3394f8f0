//! `/admin/keys`

pub mod create;
pub mod revoke;
