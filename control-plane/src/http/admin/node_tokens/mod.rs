//! `/admin/node-tokens`: the tokens with which render nodes join.

pub mod create;
pub mod revoke;
