//! `/admin/payments`: payments that need an operator.

pub mod refused;
