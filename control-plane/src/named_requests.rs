//! Requests with an idempotency key: each is carried out once, and gets its stored answer without a
//! charge when it is sent again within a day.

use crate::accounts::caller::Caller;
use crate::clock::Clock;
use crate::db::Database;
use crate::ledger::ProcessId;
use crate::ledger::idempotency::{self, Attempt, IdempotencyClaim, IdempotentRequest, StoredAnswer};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Result of beginning a request that may have an idempotency key.
pub enum RequestStart {
    /// The caller carries the request out. If there is an attempt, the answer is stored.
    Ours(Option<Attempt>),
    /// The request was carried out before.
    Done(StoredAnswer),
}

/// The idempotency key of a request, if it has one, and what identifies the request.
#[derive(Debug, Clone, Copy)]
pub struct NamedRequest<'a> {
    /// The name under which keys are stored: the same for all requests of the same purpose,
    /// however they are made.
    pub endpoint: &'static str,
    pub key: Option<&'a str>,
    pub fingerprint: &'a Fingerprint,
    /// True if the whole answer is stored. For an image only the charge is stored; its bytes are
    /// found again from the parsed request.
    pub is_kept_whole: bool,
}

/// Distinguishes a request from others with the same key.
///
/// It is computed from the parsed request: the order of members, white space, the spelling of
/// numbers, names and aliases, and defaults that are written out do not make another request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    of_meaning: String,
    of_text: String,
}

impl Fingerprint {
    /// Computes the fingerprint. `meaning` is the parsed request. `text` is the request as it was
    /// sent, of which earlier releases made the fingerprint. The answers that those stored are
    /// found by it, and also the answer to a request that is no longer understood.
    pub fn of(meaning: &Value, text: &[u8]) -> Self {
        let mut meaning = meaning.clone();
        meaning.sort_all_objects();
        let of_meaning = format!("2:{}", hex::encode(Sha256::digest(meaning.to_string())));
        Fingerprint { of_meaning, of_text: text_sha256(text) }
    }
}

fn text_sha256(text: &[u8]) -> String {
    hex::encode(Sha256::digest(text))
}

/// The reason why a request with an idempotency key is not carried out.
#[derive(Debug, thiserror::Error)]
pub enum NameError {
    #[error("a request with this name is in progress")]
    InUse,
    #[error("the name was used before for another request")]
    OtherRequest,
    #[error("the database did not respond")]
    Database(#[from] sqlx::Error),
}

/// The idempotency keys of requests, which all processes share. Cheap to clone.
#[derive(Debug, Clone)]
pub struct NamedRequests {
    pub db: Database,
    pub process: ProcessId,
    pub clock: Clock,
}

impl NamedRequests {
    /// Claims the key of a request, if it has one.
    pub async fn begin(&self, caller: &Caller, named: NamedRequest<'_>) -> Result<RequestStart, NameError> {
        let NamedRequest { endpoint, key, fingerprint, is_kept_whole } = named;
        let Some(key) = key else { return Ok(RequestStart::Ours(None)) };
        let named = IdempotentRequest {
            account_id: &caller.account_id,
            endpoint,
            key,
            fingerprint: &fingerprint.of_meaning,
            text_fingerprint: &fingerprint.of_text,
            is_kept_whole,
        };
        match idempotency::claim(&self.db, &self.process, self.clock.now(), named).await? {
            IdempotencyClaim::Ours(attempt) => Ok(RequestStart::Ours(Some(attempt))),
            IdempotencyClaim::Done(kept) => Ok(RequestStart::Done(kept)),
            IdempotencyClaim::Running => Err(NameError::InUse),
            IdempotencyClaim::OtherRequest => Err(NameError::OtherRequest),
        }
    }

    /// Returns the stored answer to a request that is refused now because the catalog has changed
    /// since it was charged. The stored request must be exactly the same text. Returns `None` if
    /// there is no answer or no key.
    pub async fn kept_for(
        &self,
        caller: &Caller,
        endpoint: &'static str,
        key: Option<&str>,
        text: &[u8],
    ) -> Result<Option<StoredAnswer>, NameError> {
        let Some(key) = key else { return Ok(None) };
        let (named, text_sha256) = ((endpoint, key), text_sha256(text));
        match idempotency::known(&self.db, self.clock.now(), &caller.account_id, named, &text_sha256).await? {
            Some(IdempotencyClaim::Done(kept)) => Ok(Some(kept)),
            Some(IdempotencyClaim::Running) => Err(NameError::InUse),
            Some(IdempotencyClaim::Ours(_) | IdempotencyClaim::OtherRequest) | None => Ok(None),
        }
    }

    /// Deletes the stored answer of a request whose charge has been given back, so that its
    /// key may be used again.
    pub async fn forget(&self, caller: &Caller, named: NamedRequest<'_>) -> Result<(), NameError> {
        let Some(key) = named.key else { return Ok(()) };
        Ok(idempotency::forget(&self.db, &caller.account_id, named.endpoint, key).await?)
    }
}

/// Ends the attempt at a request that may have an idempotency key: on success the answer was stored
/// with its charge, on failure the key may be used again.
pub async fn kept_or_given_up<T, E>(attempt: Option<Attempt>, ended: Result<T, E>) -> Result<T, E> {
    match (attempt, &ended) {
        (Some(attempt), Ok(_)) => attempt.was_kept(),
        (Some(attempt), Err(_)) => attempt.give_up().await,
        (None, _) => {}
    }
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_the_meanings() {
        let of = |meaning: Value, text: &[u8]| Fingerprint::of(&meaning, text).of_meaning;
        let one = of(serde_json::json!({ "a": 1, "b": { "c": 2, "d": 3 } }), b"x");
        assert_eq!(one, of(serde_json::json!({ "b": { "d": 3, "c": 2 }, "a": 1 }), b"y"));
        assert_ne!(one, of(serde_json::json!({ "a": 1, "b": { "c": 2, "d": 4 } }), b"x"));
    }
}
