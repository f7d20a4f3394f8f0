//! `/admin/node-tokens`

pub mod create;
