//! The operator's API under `/admin`. Every handler takes [`Operator`](super::operator::Operator).

pub mod accounts;
pub mod budget;
pub mod catalog;
pub mod keys;
pub mod ledger;
pub mod node_tokens;
pub mod nodes;
pub mod partner_secrets;
pub mod password_links;
pub mod payments;
pub mod prewarm;
pub mod renders;
pub mod signing_keys;
