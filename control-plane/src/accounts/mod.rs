//! Accounts and credentials: accounts, the users who sign in to them and how
//! (passwords, providers), their API keys and partner secrets, device logins, node
//! tokens, and the operator's token.
//!
//! Credits belong to `ledger`; cookies and forms to `http::web`.

pub mod account;
pub mod api_key;
pub mod attempts;
pub mod caller;
pub mod device_login;
pub mod form_answers;
pub mod identity;
pub mod node_token;
pub mod openid;
pub mod operator;
pub mod partner_secret;
pub mod password;
pub mod private_file;
mod scope;
pub mod session;
pub mod sign_up_counts;
mod tidy;
pub mod token;
pub mod user;
mod user_code;

pub use scope::Scope;
pub use tidy::start_tidying;
pub use user_code::UserCode;
