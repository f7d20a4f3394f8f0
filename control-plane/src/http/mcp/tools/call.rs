//! The call of a tool, and the form of most answers.

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
    /// Id of this call in records and in its answer.
    pub request_id: String,
    /// Arguments, read by the types that the tool declares.
    pub arguments: Map<String, Value>,
    /// Arguments as they were sent.
    sent: Map<String, Value>,
}

impl<'a> Call<'a> {
    /// Reads the arguments of a tool's call.
    ///
    /// `schema` is the schema of the tool's arguments. `items` is the name of the argument that is
    /// a list, if the tool has one.
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

    /// Removes the idempotency key from the arguments and returns it. The other arguments are what
    /// the call asks for.
    pub(super) fn take_idempotency_key(&mut self) -> Result<Option<String>, Problem> {
        let key = self.arguments.remove("idempotency_key");
        key.map(|key| key_member("idempotency_key", &key)).transpose()
    }

    /// Returns the fingerprint of this call. `meaning` is what its arguments ask for.
    pub(super) fn fingerprint(&self, meaning: &Value) -> Fingerprint {
        Fingerprint::of(meaning, self.text().as_bytes())
    }

    /// Returns the arguments as they were sent, without the idempotency key and in sorted order.
    pub(super) fn text(&self) -> String {
        let mut sent = self.sent.clone();
        sent.remove("idempotency_key");
        let mut sent = Value::Object(sent);
        sent.sort_all_objects();
        sent.to_string()
    }
}

/// Returns an answer that is JSON and nothing else.
pub(super) fn structured<T: Serialize>(answer: &T) -> Result<CallToolResult, Problem> {
    let value = serde_json::to_value(answer).map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "the answer of a tool is not JSON");
        Problem::internal()
    })?;
    Ok(CallToolResult::structured(value))
}
