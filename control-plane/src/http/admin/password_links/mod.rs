//! `/admin/password-links`: links that set a new password.

pub mod create;
