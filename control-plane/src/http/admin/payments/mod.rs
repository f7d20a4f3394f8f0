//! `/admin/payments`

pub mod refused;
