//! `/admin/node-tokens`

pub mod create;
pub mod revoke;
