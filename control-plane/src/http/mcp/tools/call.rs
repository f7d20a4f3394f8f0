//! A call of a tool, and the form of most answers.

use crate::accounts::caller::Caller;
use crate::app::App;
use crate::http::error::Problem;
use crate::http::mcp::arguments;
use crate::http::named_request::key_member;
use crate::named_requests::Fingerprint;
use rmcp::model::CallToolResult;
use serde::Serialize;
use serde_json::{Map, Value};

/// A tool's call.
pub struct Call<'a> {
    pub app: &'a App,
    pub caller: &'a Caller,
    /// Names this call where it is recorded, and in its answer.
    pub request_id: String,
    /// Read by the types that the tool declares.
    pub arguments: Map<String, Value>,
    /// As they were sent.
    sent: Map<String, Value>,
}

impl<'a> Call<'a> {
    /// Reads the arguments of a tool's call.
    ///
    /// `schema` is that of the tool's arguments, `items` the argument that is a list, where it has one.
    pub fn of(
        (schema, items): (&Value, &str),
        app: &'a App,
        caller: &'a Caller,
        request_id: String,
        sent: Map<String, Value>,
    ) -> Result<Self, Problem> {
        let read = arguments::read(schema, sent.clone());
        let arguments = read.map_err(|bad| bad.with_items(items))?;
        Ok(Call { app, caller, request_id, arguments, sent })
    }

    /// Takes out the argument that names the call: the others are what is asked for.
    pub(super) fn take_idempotency_key(&mut self) -> Result<Option<String>, Problem> {
        let key = self.arguments.remove("idempotency_key");
        key.map(|key| key_member("idempotency_key", &key)).transpose()
    }

    /// The fingerprint of a call that asks for `meaning`.
    pub(super) fn fingerprint(&self, meaning: &Value) -> Fingerprint {
        Fingerprint::of(meaning, self.text().as_bytes())
    }

    /// The arguments as they were sent, without the name of the call.
    pub(super) fn text(&self) -> String {
        let mut sent = self.sent.clone();
        sent.remove("idempotency_key");
        let mut sent = Value::Object(sent);
        sent.sort_all_objects();
        sent.to_string()
    }
}

/// An answer that is JSON and nothing else.
pub(super) fn structured<T: Serialize>(answer: &T) -> Result<CallToolResult, Problem> {
    let value = serde_json::to_value(answer).map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "a tool's answer is no JSON");
        Problem::internal()
    })?;
    Ok(CallToolResult::structured(value))
}
