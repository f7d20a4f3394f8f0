//! Requests that name themselves: done once, and answered again for nothing when they are sent again within a day.

use crate::accounts::caller::Caller;
use crate::clock::Clock;
use crate::db::Database;
use crate::ledger::ProcessId;
use crate::ledger::idempotency::{self, Attempt, Claimed, Kept, Named};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// What to do with a request that may name itself.
pub enum Begun {
    /// Do it; the answer is kept if there is an attempt.
    Ours(Option<Attempt>),
    /// It was done before.
    Done(Kept),
}

/// How a request names itself, if it does.
#[derive(Debug, Clone, Copy)]
pub struct NamedRequest<'a> {
    /// What it is kept under: one for what is the same thing to ask for, however it is asked.
    pub endpoint: &'static str,
    pub key: Option<&'a str>,
    pub fingerprint: &'a Fingerprint,
    /// The whole answer is kept. What is kept of a picture is that it was charged; its bytes are found by what the
    /// request is understood as.
    pub is_kept_whole: bool,
}

/// What tells a request from another of the same name.
///
/// It is taken of the request as it was understood: the order of members, blanks, the spelling of numbers, names and aliases, and defaults
/// that are written out make no other request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    of_meaning: String,
    of_text: String,
}

impl Fingerprint {
    /// `meaning` is what is asked for; `text` is the request as it was sent, which releases before this rule took for
    /// the fingerprint. What they kept is found by it, and what is not understood any more.
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

/// Why a named request is not done.
#[derive(Debug, thiserror::Error)]
pub enum NameError {
    #[error("a request of this name is being answered")]
    InUse,
    #[error("the name was used for another request")]
    OtherRequest,
    #[error("the database does not answer")]
    Database(#[from] sqlx::Error),
}

/// The names of requests, which all processes share. Cheap to clone.
#[derive(Debug, Clone)]
pub struct NamedRequests {
    pub db: Database,
    pub process: ProcessId,
    pub clock: Clock,
}

impl NamedRequests {
    /// Claims a request, if it is named.
    pub async fn begin(&self, caller: &Caller, named: NamedRequest<'_>) -> Result<Begun, NameError> {
        let NamedRequest { endpoint, key, fingerprint, is_kept_whole } = named;
        let Some(key) = key else { return Ok(Begun::Ours(None)) };
        let named = Named {
            account_id: &caller.account_id,
            endpoint,
            key,
            fingerprint: &fingerprint.of_meaning,
            text_fingerprint: &fingerprint.of_text,
            is_kept_whole,
        };
        match idempotency::claim(&self.db, &self.process, self.clock.now(), named).await? {
            Claimed::Ours(attempt) => Ok(Begun::Ours(Some(attempt))),
            Claimed::Done(kept) => Ok(Begun::Done(kept)),
            Claimed::Running => Err(NameError::InUse),
            Claimed::OtherRequest => Err(NameError::OtherRequest),
        }
    }

    /// The answer that was kept for a request which is refused now, because the catalog has changed since it was charged: the answer to the
    /// very same request, as it was sent. `None` where there is none, or no name.
    pub async fn kept_for(
        &self,
        caller: &Caller,
        endpoint: &'static str,
        key: Option<&str>,
        text: &[u8],
    ) -> Result<Option<Kept>, NameError> {
        let Some(key) = key else { return Ok(None) };
        let (named, text_sha256) = ((endpoint, key), text_sha256(text));
        match idempotency::known(&self.db, self.clock.now(), &caller.account_id, named, &text_sha256).await? {
            Some(Claimed::Done(kept)) => Ok(Some(kept)),
            Some(Claimed::Running) => Err(NameError::InUse),
            Some(Claimed::Ours(_) | Claimed::OtherRequest) | None => Ok(None),
        }
    }

    /// What a request was charged has been given back: its name may be used again.
    pub async fn forget(&self, caller: &Caller, named: NamedRequest<'_>) -> Result<(), NameError> {
        let Some(key) = named.key else { return Ok(()) };
        Ok(idempotency::forget(&self.db, &caller.account_id, named.endpoint, key).await?)
    }
}

/// Ends the attempt at a request that may name itself: its answer was kept with its charge, or its name may be used again.
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
