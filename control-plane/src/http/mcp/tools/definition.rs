//! The definition of a tool: the one source for its description, its annotations, and the pages
//! that list it.

use crate::accounts::Scope;
use crate::http::named_request::KEY_CHARS_MAX;
use rmcp::model::{Tool, ToolAnnotations};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The cost of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    Free,
    /// The cost in the words of a price list: `1 credit for each picture`.
    Credits(&'static str),
}

pub struct Definition {
    pub name: &'static str,
    pub title: &'static str,
    pub cost: Cost,
    /// Scope that the key needs. With `None` every key may call the tool.
    pub scope: Option<Scope>,
    pub limits: &'static str,
    /// What the tool does, and when to use it.
    pub about: &'static str,
    pub input: Value,
    pub output: Value,
    /// True if a call leaves nothing behind (a spent credit is something).
    pub is_read_only: bool,
}

/// A tool in one line of a list.
#[derive(Debug, Serialize)]
pub struct ToolSummary {
    name: &'static str,
    cost: String,
    scope: &'static str,
    about: &'static str,
}

impl Definition {
    fn cost(&self) -> String {
        match self.cost {
            Cost::Free => "Free".to_owned(),
            Cost::Credits(words) => format!("Costs {words}"),
        }
    }

    fn scope(&self) -> &'static str {
        self.scope.map_or("none", |scope| scope.as_str())
    }

    pub fn tool(&self) -> Tool {
        let description = format!("{}. Scope: {}. Limits: {}. {}", self.cost(), self.scope(), self.limits, self.about);
        let hints = ToolAnnotations::with_title(self.title)
            .read_only(self.is_read_only)
            .destructive(false)
            // A repeated call is charged again, unless it has an idempotency key.
            .idempotent(self.cost == Cost::Free)
            .open_world(false);
        Tool::new(self.name, description, object(&self.input))
            .with_title(self.title)
            .with_raw_output_schema(object(&self.output))
            .with_annotations(hints)
    }

    pub fn listed(&self) -> ToolSummary {
        ToolSummary { name: self.name, cost: self.cost(), scope: self.scope(), about: self.about }
    }
}

fn object(schema: &Value) -> Arc<Map<String, Value>> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

/// Returns the schema of a tool that takes no arguments.
pub fn nothing() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

/// Returns the schema of the argument `idempotency_key`.
pub fn idempotency_key() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": KEY_CHARS_MAX,
        "description": "A key for this call, such as a new UUID. The same call with the same key within 24 hours gets \
                        the same answer and is not charged again. Send a key whenever you may retry.",
    })
}
