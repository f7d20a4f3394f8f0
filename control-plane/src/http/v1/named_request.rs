//! `Idempotency-Key`, and `idempotency_key` of tools: a request that names itself is done once; sent again within a day it gets the same answer, free.

use crate::accounts::caller::Caller;
use crate::app::App;
use crate::http::error::Problem;
use crate::ledger::idempotency::{self, Attempt, Claimed, Kept, Named};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use serde_json::Value;
use sha2::{Digest, Sha256};

pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// On an answer that was given before.
pub const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

pub const KEY_CHARS_MAX: usize = 255;

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
    /// The whole answer is kept. What is kept of a picture is that it was charged; its bytes are found by what the request is understood as.
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
    /// `meaning` is what is asked for; `text` is the request as it was sent, which releases before this rule took for the fingerprint. What they
    /// kept is found by it, and what is not understood any more.
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

/// The answer that was kept for a request which is refused now, because the catalog has changed since it was charged: the answer to the very same
/// request, as it was sent. `None` where there is none, or no name; 409 while it is being answered.
pub async fn kept_for(
    app: &App,
    caller: &Caller,
    endpoint: &'static str,
    key: Option<&str>,
    text: &[u8],
) -> Result<Option<Kept>, Problem> {
    let Some(key) = key else { return Ok(None) };
    let named = (endpoint, key);
    match idempotency::known(&app.db, app.clock.now(), &caller.account_id, named, &text_sha256(text)).await? {
        Some(Claimed::Done(kept)) => Ok(Some(kept)),
        Some(Claimed::Running) => Err(in_use()),
        Some(Claimed::Ours(_) | Claimed::OtherRequest) | None => Ok(None),
    }
}

fn in_use() -> Problem {
    Problem::conflict(
        "idempotency_key_in_use",
        "A request with this idempotency key is being answered: ask again in a moment.",
    )
    .retry_after(1)
}

/// Claims a request, if it is named. 409 while another one has its name, 422 when that asked for something else.
pub async fn begin(
    app: &App,
    caller: &Caller,
    NamedRequest { endpoint, key, fingerprint, is_kept_whole }: NamedRequest<'_>,
) -> Result<Begun, Problem> {
    let Some(key) = key else { return Ok(Begun::Ours(None)) };
    let named = Named {
        account_id: &caller.account_id,
        endpoint,
        key,
        fingerprint: &fingerprint.of_meaning,
        text_fingerprint: &fingerprint.of_text,
        is_kept_whole,
    };
    match idempotency::claim(&app.db, &app.process, app.clock.now(), named).await? {
        Claimed::Ours(attempt) => Ok(Begun::Ours(Some(attempt))),
        Claimed::Done(kept) => Ok(Begun::Done(kept)),
        Claimed::Running => Err(in_use()),
        Claimed::OtherRequest => Err(Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "idempotency_key_reused",
            "This idempotency key was used for another request within the last 24 hours: take a new key.",
        )),
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

/// What a request was charged has been given back: its name may be used again.
pub async fn forget(app: &App, caller: &Caller, named: NamedRequest<'_>) -> Result<(), Problem> {
    let Some(key) = named.key else { return Ok(()) };
    Ok(idempotency::forget(&app.db, &caller.account_id, named.endpoint, key).await?)
}

/// The key of the header; 400 for one that is none.
pub fn key_of(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut given = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = given.next() else { return Ok(None) };
    match (value.to_str().ok().and_then(key_in), given.next()) {
        (Some(key), None) => Ok(Some(key.to_owned())),
        _ => Err(bad_key("Idempotency-Key")),
    }
}

/// The key of a member of a body; 400 for one that is none.
pub fn key_member(name: &str, value: &Value) -> Result<String, Problem> {
    value.as_str().and_then(key_in).map(str::to_owned).ok_or_else(|| bad_key(name))
}

fn key_in(text: &str) -> Option<&str> {
    let key = text.trim();
    let is_printable = key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    ((1..=KEY_CHARS_MAX).contains(&key.len()) && is_printable).then_some(key)
}

fn bad_key(name: &str) -> Problem {
    let rule = format!("`{name}` is one text of 1 to {KEY_CHARS_MAX} printable ASCII characters.");
    Problem::bad_parameter(name, rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_fingerprint_is_the_meanings() {
        let of = |meaning: Value, text: &[u8]| Fingerprint::of(&meaning, text).of_meaning;
        let one = of(serde_json::json!({ "a": 1, "b": { "c": 2, "d": 3 } }), b"x");
        assert_eq!(one, of(serde_json::json!({ "b": { "d": 3, "c": 2 }, "a": 1 }), b"y"));
        assert_ne!(one, of(serde_json::json!({ "a": 1, "b": { "c": 2, "d": 4 } }), b"x"));
    }

    #[test]
    fn keys_are_short_texts() {
        let long = "x".repeat(256);
        for (given, expected) in [
            (vec![], Ok(None)),
            (vec!["a b"], Ok(Some("a b"))),
            (vec!["\"quoted\""], Ok(Some("\"quoted\""))),
            (vec![&long[1..]], Ok(Some(&long[1..]))),
            (vec![long.as_str()], Err(())),
            (vec![""], Err(())),
            (vec!["  "], Err(())),
            (vec!["a", "b"], Err(())),
            (vec!["ü"], Err(())),
        ] {
            let mut headers = HeaderMap::new();
            for text in &given {
                headers.append(IDEMPOTENCY_KEY, HeaderValue::from_bytes(text.as_bytes()).expect("a header"));
            }
            let found = key_of(&headers).map_err(drop);
            assert_eq!(found, expected.map(|key| key.map(str::to_owned)), "{given:?}");
        }
    }
}
