//! Who may do what: accounts, their API keys and partner secrets, node tokens, the operator's token.
//!
//! Credits belong to `ledger`; sessions and device logins come beside these files.

pub mod account;
pub mod api_key;
pub mod node_token;
pub mod operator;
pub mod partner_secret;
pub mod private_file;
mod scope;
pub mod token;

pub use scope::Scope;
