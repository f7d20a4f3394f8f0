//! The caller of a request with an API key: the key's account, scopes and limits.

use super::api_key::ActiveKey;
use super::scope::Scope;
use crate::ledger::Window;
use std::sync::{Arc, Mutex, PoisonError};

/// The holder of a valid API key.
#[derive(Debug, Clone)]
pub struct Caller {
    pub account_id: String,
    pub key_id: String,
    pub scopes: Vec<Scope>,
    pub rate_limit_per_minute: i64,
    /// Of all keys of the account together that have no limit of their own, as this one has none.
    pub account_limit_per_minute: Option<i64>,
    /// Whether the key has a monthly cap.
    pub is_capped: bool,
    /// Whether this request is in the key's window already: what it does then is not counted again.
    pub is_counted: bool,
    /// Where the window goes that this request is counted in.
    pub window: KeyWindow,
}

/// The window of a key, as the meter has last told it for one request. Its clones are one.
#[derive(Debug, Clone, Default)]
pub struct KeyWindow(Arc<Mutex<Option<Window>>>);

impl KeyWindow {
    /// `None`: the meter did not answer.
    pub fn set(&self, window: Option<Window>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = window;
    }

    /// `None`: the request was not counted, or the meter did not answer.
    pub fn get(&self) -> Option<Window> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Requests in a minute, for keys that have no limit of their own.
#[derive(Debug, Clone, Copy)]
pub struct UsualLimits {
    pub key_per_minute: i64,
    pub account_per_minute: i64,
}

/// The key may not do this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the key lacks the scope {0}")]
pub struct MissingScope(pub Scope);

impl Caller {
    /// The holder of this key, whose request is not counted yet. `window` is where the request's answer looks for its window.
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

    /// Refused unless the key has the scope.
    pub fn require(&self, scope: Scope) -> Result<(), MissingScope> {
        match self.scopes.contains(&scope) {
            true => Ok(()),
            false => Err(MissingScope(scope)),
        }
    }
}
