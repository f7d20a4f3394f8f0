//! `/admin/partner-secrets`

pub mod create;
pub mod revoke;
