//! The protocol's JSON, which the SDK's types read.

use rmcp::ErrorData;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// One red pixel.
pub const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// No sound at all.
pub const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// Answers are written as the protocol's JSON, which the SDK's types read.
pub fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A result that is all there is; older revisions are not told so, which the SDK sees to.
pub fn complete<T: DeserializeOwned>(mut result: Value) -> Result<T, ErrorData> {
    result["resultType"] = "complete".into();
    typed(result)
}

pub fn text(text: impl Into<String>) -> Value {
    json!({ "content": [{ "type": "text", "text": text.into() }] })
}

pub fn form(message: &str, schema: Value) -> Value {
    json!({ "mode": "form", "message": message, "requestedSchema": schema })
}

pub fn one_field(message: &str, name: &str, kind: &str) -> Value {
    form(message, json!({ "type": "object", "properties": { name: { "type": kind } }, "required": [name] }))
}

pub fn question(words: &str, tokens: u32) -> Value {
    json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": words } }], "maxTokens": tokens })
}
