//! `describe_api`: the guide that machines read, and links to more.

use super::call::Call;
use super::definition::{Cost, Definition, ToolSummary, nothing};
use crate::http::error::Problem;
use crate::http::guide::guide;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;

pub fn definition() -> Definition {
    Definition {
        name: "describe_api",
        title: "Describe the API",
        cost: Cost::Free,
        scope: None,
        limits: "the answer changes with releases only: call it once",
        about: "Explains how this service works, what calls cost, which scopes they need, what to do about errors, \
                and how to do the same with plain HTTP. Start here.",
        input: nothing(),
        output: json!({
            "type": "object",
            "properties": {
                "guide": { "type": "string", "description": "The guide in Markdown, the same as /agents.md." },
                "links": { "type": "object", "additionalProperties": { "type": "string", "format": "uri" } },
                "request_id": { "type": "string" },
            },
            "required": ["guide", "links", "request_id"],
        }),
        is_read_only: true,
    }
}

/// Answers with the guide and the links. `tools` are all tools, for the guide.
pub fn call(call: &Call<'_>, tools: Vec<ToolSummary>) -> Result<CallToolResult, Problem> {
    let guide = guide(call.app, tools)?;
    let links: serde_json::Map<_, _> = [
        ("guide", "/agents.md"),
        ("openapi", "/openapi.json"),
        ("docs", "/docs"),
        ("errors", "/docs/errors"),
        ("pricing", "/pricing"),
    ]
    .into_iter()
    .map(|(name, path)| (name.to_owned(), format!("{}{path}", call.app.base_url).into()))
    .collect();
    let mut result =
        CallToolResult::structured(json!({ "guide": &guide, "links": links, "request_id": call.request_id }));
    // The content is the guide itself, because a text is read and not parsed.
    result.content = vec![ContentBlock::text(guide)];
    Ok(result)
}
