//! `/admin/accounts`: accounts, their credits and their keys.

pub mod create;
pub mod grant_credits;
pub mod keys;
pub mod purchase;
pub mod show;
pub mod statement;

use crate::accounts::account::AccountError;
use crate::http::error::Problem;

impl From<AccountError> for Problem {
    fn from(error: AccountError) -> Self {
        let detail = error.to_string();
        match error {
            AccountError::EmailTaken => Problem::conflict("email_taken", format!("{detail}.")),
            AccountError::NetworkFull => Problem::rate_limited(3600).with_code("rate_limited", format!("{detail}.")),
            AccountError::InvalidEmail(_) => Problem::bad_parameter("email", format!("email: {detail}.")),
            AccountError::Unknown(_) => Problem::not_found("unknown_account", format!("{detail}.")),
            AccountError::Ledger(cause) => cause.into(),
            AccountError::Database(cause) => cause.into(),
        }
    }
}
