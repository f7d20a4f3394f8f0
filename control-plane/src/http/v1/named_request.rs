//! `Idempotency-Key`: a request that names itself is done once; sent again within a day it gets the same answer, free.

use crate::app::App;
use crate::http::error::Problem;
use crate::http::extract::Caller;
use crate::ledger::idempotency::{self, Attempt, Claimed, Kept, Named};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use sha2::{Digest, Sha256};

pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// On an answer that was given before.
pub const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

const KEY_CHARS_MAX: usize = 255;

/// What to do with a request that may name itself.
pub enum Begun {
    /// Do it; the answer is kept if there is an attempt.
    Ours(Option<Attempt>),
    /// It was done before.
    Done(Kept),
}

/// Looks at the header and claims the request it names. 400 for a key that is none, 409 while another request has it, 422 when it
/// came with another body.
pub async fn begin(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    endpoint: &'static str,
    body: &[u8],
) -> Result<Begun, Problem> {
    let Some(key) = key(headers)? else { return Ok(Begun::Ours(None)) };
    let body_sha256 = hex::encode(Sha256::digest(body));
    let named = Named { account_id: &caller.account_id, endpoint, key: &key, body_sha256: &body_sha256 };
    match idempotency::claim(&app.db, &app.process, app.clock.now(), named).await? {
        Claimed::Ours(attempt) => Ok(Begun::Ours(Some(attempt))),
        Claimed::Done(kept) => Ok(Begun::Done(kept)),
        Claimed::Running => Err(Problem::conflict(
            "idempotency_key_in_use",
            "A request with this Idempotency-Key is being answered: ask again in a moment.",
        )
        .retry_after(1)),
        Claimed::OtherBody => Err(Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "idempotency_key_reused",
            "This Idempotency-Key was used with another body within the last 24 hours: take a new key.",
        )),
    }
}

fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut given = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = given.next() else { return Ok(None) };
    let key = value.to_str().ok().map(str::trim).filter(|key| (1..=KEY_CHARS_MAX).contains(&key.len()));
    match (key, given.next()) {
        (Some(key), None) => Ok(Some(key.to_owned())),
        _ => Err(Problem::bad_parameter(
            "Idempotency-Key",
            format!("`Idempotency-Key` is one text of 1 to {KEY_CHARS_MAX} printable ASCII characters."),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

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
            let found = key(&headers).map_err(drop);
            assert_eq!(found, expected.map(|key| key.map(str::to_owned)), "{given:?}");
        }
    }
}
