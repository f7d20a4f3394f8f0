//! `/admin/password-links`

pub mod create;
