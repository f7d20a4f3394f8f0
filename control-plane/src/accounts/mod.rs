//! Who may do what: accounts, their API keys, node tokens, the operator's token.
//!
//! Credits belong to `ledger`; sessions, device logins and partner secrets come beside these files.

pub mod account;
pub mod api_key;
pub mod node_token;
pub mod operator;
pub mod private_file;
mod scope;
pub mod token;

pub use scope::Scope;
