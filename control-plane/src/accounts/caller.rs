//! The holder of the API key of one HTTP request: the key's account, scopes and limits.

use super::api_key::ActiveKey;
use super::scope::Scope;
use crate::ledger::Window;
use std::sync::{Arc, Mutex, PoisonError};

/// The holder of the API key of one HTTP request. The key is valid.
#[derive(Debug, Clone)]
pub struct Caller {
    pub account_id: String,
    pub key_id: String,
    pub scopes: Vec<Scope>,
    pub rate_limit_per_minute: i64,
    /// Limit of all keys of the account together that have no limit of their own. `None` if
    /// this key has its own.
    pub account_limit_per_minute: Option<i64>,
    /// True if the key has a monthly cap.
    pub is_capped: bool,
    /// True if this request is counted in the key's window already, so that its further steps
    /// are not counted again.
    pub is_counted: bool,
    /// Receives the window in which this request is counted.
    pub window: KeyWindow,
}

/// The window of a key, as the meter last reported it for one request. All clones share one value.
#[derive(Debug, Clone, Default)]
pub struct KeyWindow(Arc<Mutex<Option<Window>>>);

impl KeyWindow {
    /// Sets the window; `None` if the meter did not answer.
    pub fn set(&self, window: Option<Window>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = window;
    }

    /// Returns the window; `None` if the request was not counted, or the meter did not answer.
    pub fn get(&self) -> Option<Window> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Limits in requests per minute, for keys that have no limit of their own.
#[derive(Debug, Clone, Copy)]
pub struct UsualLimits {
    pub key_per_minute: i64,
    pub account_per_minute: i64,
}

/// Error of a request whose key lacks the necessary scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the key lacks the scope {0}")]
pub struct MissingScope(pub Scope);

impl Caller {
    /// Returns the holder of this key, whose request is not counted yet. The answer to the request
    /// reads its window from `window`.
    pub fn new(key: ActiveKey, usual: UsualLimits, window: KeyWindow) -> Self {
        Caller {
            account_id: key.account_id,
            key_id: key.key_id,
            is_capped: key.is_capped,
            is_counted: false,
            window,
            scopes: key.scopes,
            account_limit_per_minute: match key.rate_limit_per_minute {
                None => Some(usual.account_per_minute),
                Some(_) => None,
            },
            rate_limit_per_minute: key.rate_limit_per_minute.unwrap_or(usual.key_per_minute),
        }
    }

    /// Returns an error unless the key has the scope.
    pub fn require(&self, scope: Scope) -> Result<(), MissingScope> {
        match self.scopes.contains(&scope) {
            true => Ok(()),
            false => Err(MissingScope(scope)),
        }
    }
}
