//! What a tool is told by: one source for its description, its annotations, and the pages that list it.

use crate::accounts::Scope;
use crate::http::named_request::KEY_CHARS_MAX;
use rmcp::model::{Tool, ToolAnnotations};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What a call takes from the balance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    Free,
    /// In the words of a price list: `1 credit for each picture`.
    Credits(&'static str),
}

pub struct Definition {
    pub name: &'static str,
    pub title: &'static str,
    pub cost: Cost,
    /// `None`: any key.
    pub scope: Option<Scope>,
    pub limits: &'static str,
    /// What it does, and when to use it.
    pub about: &'static str,
    pub input: Value,
    pub output: Value,
    /// Whether it leaves something behind (a spent credit does).
    pub is_read_only: bool,
}

/// A tool in a line.
#[derive(Debug, Serialize)]
pub struct Listed {
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
            // The same call again is charged again, unless it names itself.
            .idempotent(self.cost == Cost::Free)
            .open_world(false);
        Tool::new(self.name, description, object(&self.input))
            .with_title(self.title)
            .with_raw_output_schema(object(&self.output))
            .with_annotations(hints)
    }

    pub fn listed(&self) -> Listed {
        Listed { name: self.name, cost: self.cost(), scope: self.scope(), about: self.about }
    }
}

fn object(schema: &Value) -> Arc<Map<String, Value>> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

/// The schema of a tool that takes nothing.
pub fn nothing() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

/// The schema of the argument that names a call.
pub fn idempotency_key() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": KEY_CHARS_MAX,
        "description": "Names this call, such as a UUID of yours: sent again within 24 hours with the same arguments it gets the same \
                        answer and is not charged again. Send one whenever you may retry.",
    })
}
