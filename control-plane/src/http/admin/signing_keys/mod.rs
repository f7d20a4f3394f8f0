//! `/admin/signing-keys`

pub mod rotate;
