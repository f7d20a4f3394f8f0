//! How a command ends: the exit statuses on which scripts decide, and hints
//! about what to do after a failure.
//!
//! Why: `docs/decisions/clients-and-cli.md` (Exit statuses of the customer commands).

use cyclorama_client::{Error, ErrorKind};
use serde_json::{Value, json};

/// The exit statuses as `--help` lists them.
pub const EXIT_STATUSES: &str = "\
Exit status:
  0  done
  1  failed
  2  wrong usage: an argument, or a list that cannot be read
  3  no credits left
  4  no key, an invalid key, or a key without the scope
  5  not found: no such vehicle or image
  6  try later: too many requests, no capacity, no response";

const FAILED: u8 = 1;
pub const WRONG_USAGE: u8 = 2;
const NO_CREDITS: u8 = 3;
const NO_KEY: u8 = 4;
const NOT_FOUND: u8 = 5;
const NOT_NOW: u8 = 6;

/// The arguments or the input cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongUsage(pub String);

/// A refusal of the operator's API. Without a status nothing has answered.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct OperatorRefusal {
    pub status: Option<u16>,
    pub message: String,
    #[source]
    pub cause: Option<reqwest::Error>,
}

#[derive(Debug, thiserror::Error)]
#[error("there is no key for {address}: run `cyclorama login --url {address}`, or set CYCLORAMA_KEY")]
pub struct NoKey {
    pub address: String,
}

/// There is no operator token, on a machine where no service has left one.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoToken(pub String);

/// The named thing does not exist.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotFound(pub String);

/// A batch that did not do all of its rows. `why` is the worst of the reasons.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct UnfinishedBatch {
    pub message: String,
    pub why: UnfinishedReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnfinishedReason {
    RowsFailed,
    NoCredits,
    KeyRefused,
    NotNow,
}

pub fn status(error: &anyhow::Error) -> u8 {
    for cause in error.chain() {
        if let Some(error) = cause.downcast_ref::<Error>() {
            return match error.kind() {
                ErrorKind::InsufficientCredits => NO_CREDITS,
                ErrorKind::Setup => WRONG_USAGE,
                ErrorKind::Unavailable => NOT_NOW,
                _ => error.status().map_or(FAILED, of_answer),
            };
        }
        if let Some(refused) = cause.downcast_ref::<OperatorRefusal>() {
            return refused.status.map_or(NOT_NOW, of_answer);
        }
        if cause.is::<WrongUsage>() {
            return WRONG_USAGE;
        }
        if cause.is::<NoKey>() || cause.is::<NoToken>() {
            return NO_KEY;
        }
        if cause.is::<NotFound>() {
            return NOT_FOUND;
        }
        if let Some(unfinished) = cause.downcast_ref::<UnfinishedBatch>() {
            return match unfinished.why {
                UnfinishedReason::RowsFailed => FAILED,
                UnfinishedReason::NoCredits => NO_CREDITS,
                UnfinishedReason::KeyRefused => NO_KEY,
                UnfinishedReason::NotNow => NOT_NOW,
            };
        }
    }
    FAILED
}

/// Returns the exit status for an HTTP status.
fn of_answer(status: u16) -> u8 {
    match status {
        400 | 413 | 414 | 422 => WRONG_USAGE,
        401 | 403 => NO_KEY,
        402 => NO_CREDITS,
        404 => NOT_FOUND,
        408 | 429 | 503 => NOT_NOW,
        _ => FAILED,
    }
}

/// Returns a hint about what to do, if the service gave one.
pub fn hint(error: &anyhow::Error) -> Option<String> {
    let error = error.chain().find_map(|cause| cause.downcast_ref::<Error>())?;
    if let Some(address) = error.document().get("links").and_then(|links| links["billing"].as_str()) {
        return Some(format!("Buy credits: {address}"));
    }
    if let Some(suggestion) = error.document().get("suggestion").and_then(Value::as_str) {
        return Some(format!("Did you mean: {suggestion}"));
    }
    let suggestions = error.document().get("suggestions")?.as_array()?.iter().take(5);
    let names: Vec<String> = suggestions.filter_map(suggestion).collect();
    (!names.is_empty()).then(|| format!("Did you mean: {}", names.join("; ")))
}

fn suggestion(hit: &Value) -> Option<String> {
    let text = |name: &str| hit[name].as_str();
    match (hit.as_str(), text("make_slug"), text("model_slug")) {
        (Some(words), ..) => Some(words.to_owned()),
        (None, Some(make), Some(model)) => Some(format!("{make} {model}")),
        (None, Some(make), None) => Some(make.to_owned()),
        _ => None,
    }
}

/// Returns the failure for programs: the service's problem document if there is one.
pub fn document(error: &anyhow::Error) -> Value {
    match error.chain().find_map(|cause| cause.downcast_ref::<Error>()) {
        Some(error) if !error.document().is_empty() => Value::Object(error.document().clone()),
        Some(error) => json!({ "code": error.code(), "detail": error.detail(), "status": error.status() }),
        None => json!({ "code": plain_code(error), "detail": format!("{error:#}") }),
    }
}

/// Returns the code of a failure that did not come from the service.
fn plain_code(error: &anyhow::Error) -> &'static str {
    match status(error) {
        WRONG_USAGE => "wrong_usage",
        NO_KEY => "no_key",
        NOT_FOUND => "not_found",
        NOT_NOW => "not_now",
        _ => "failed",
    }
}
