//! Builds the protocol's JSON, and reads it into the SDK's types.

use rmcp::ErrorData;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A PNG of one red pixel, in Base64.
pub const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A WAV file without any sound, in Base64.
pub const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// Reads the protocol's JSON, in which all answers are written, into a type of the SDK.
pub fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// Reads a result that is complete. Clients of older revisions do not get `resultType`: the SDK
/// takes care of that.
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
