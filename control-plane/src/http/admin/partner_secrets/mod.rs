//! `/admin/partner-secrets`: the secrets with which partners sign URLs.

pub mod create;
pub mod revoke;
