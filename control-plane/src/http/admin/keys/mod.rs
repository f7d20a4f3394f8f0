//! `/admin/keys`: API keys.

pub mod cap;
pub mod create;
pub mod revoke;
