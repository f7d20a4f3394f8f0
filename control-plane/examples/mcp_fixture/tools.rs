//! The tools of the conformance suite, and their answers.

use crate::values::{PNG, WAV, form, question, text, typed};
use crate::{Changed, Context, Everything};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientResult, CreateMessageRequest, CreateMessageRequestParams,
    ElicitRequest, ElicitRequestParams, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam,
    ServerRequest, Tool,
};
use serde_json::{Value, json};
use std::sync::LazyLock;
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(50);

pub static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let simple = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_logging",
        "test_error_handling",
        "test_tool_with_progress",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
        "test_reconnection",
        "test_missing_capability",
        "test_streaming_elicitation",
        "test_logging_tool",
        "test_trigger_tool_change",
        "test_trigger_prompt_change",
        "test_input_required_result_elicitation",
        "test_input_required_result_sampling",
        "test_input_required_result_list_roots",
        "test_input_required_result_request_state",
        "test_input_required_result_multiple_inputs",
        "test_input_required_result_multi_round",
        "test_input_required_result_tampered_state",
        "test_input_required_result_capabilities",
    ];
    let takes = |name: &str, argument: &str| {
        let schema =
            json!({ "type": "object", "properties": { argument: { "type": "string" } }, "required": [argument] });
        json!({ "name": name, "description": "Of the conformance suite.", "inputSchema": schema })
    };
    let mut tools: Vec<Value> = simple
        .iter()
        .map(|name| json!({ "name": name, "description": "Of the conformance suite.", "inputSchema": { "type": "object" } }))
        .collect();
    tools.push(takes("test_sampling", "prompt"));
    tools.push(takes("test_elicitation", "message"));
    tools.push(json!({
        "name": "test_x_mcp_header",
        "description": "Of the conformance suite.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "region": { "type": "string", "x-mcp-header": "Region" },
                "priority": { "type": "integer", "x-mcp-header": "Priority" },
            },
        },
    }));
    tools.push(json!({
        "name": "json_schema_2020_12_tool",
        "description": "Tool with JSON Schema 2020-12 features",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
                },
            },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" },
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        },
    }));
    tools.into_iter().filter_map(|tool| serde_json::from_value(tool).ok()).collect()
});

async fn elicit(context: &Context, params: Value) -> Result<String, ErrorData> {
    let params: ElicitRequestParams = typed(params)?;
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
    match context.peer.send_request(request).await {
        Ok(ClientResult::ElicitResult(result)) => {
            let action = json!(result.action);
            Ok(format!(
                "action={}, content={}",
                action.as_str().unwrap_or_default(),
                result.content.unwrap_or(Value::Null)
            ))
        }
        Ok(_) => Err(ErrorData::internal_error("no answer to an elicitation", None)),
        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
    }
}

async fn sample(context: &Context, words: &str) -> Result<String, ErrorData> {
    let params: CreateMessageRequestParams = typed(question(words, 100))?;
    let request = ServerRequest::CreateMessageRequest(CreateMessageRequest::new(params));
    match context.peer.send_request(request).await {
        Ok(ClientResult::CreateMessageResult(result)) => {
            let answer = json!(result);
            let content = &answer["content"];
            let said = content["text"].as_str().or(content[0]["text"].as_str()).unwrap_or_default();
            Ok(format!("LLM response: {said}"))
        }
        Ok(_) => Err(ErrorData::internal_error("no answer to a sampling request", None)),
        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
    }
}

impl Everything {
    async fn log(&self, context: &Context, words: &str) {
        let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(words));
        let is_newer = context.protocol_version().is_some_and(|version| version.as_str() >= "2026-07-28");
        // In the newer revision a server logs only if the client asked for it.
        if !is_newer || context.meta.log_level().is_some() {
            let _ = context.peer.notify_logging_message(message).await;
        }
    }

    pub async fn answer(&self, request: &CallToolRequestParams, context: &Context) -> Result<Value, ErrorData> {
        let argument = |name: &str| json!(request.arguments)[name].as_str().unwrap_or_default().to_owned();
        let resource = |uri: &str, media: &str, text: &str| json!({ "type": "resource", "resource": { "uri": uri, "mimeType": media, "text": text } });
        Ok(match &*request.name {
            "test_simple_text" => text("This is a simple text response for testing."),
            "test_image_content" => json!({ "content": [{ "type": "image", "data": PNG, "mimeType": "image/png" }] }),
            "test_audio_content" => json!({ "content": [{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }] }),
            "test_embedded_resource" => json!({
                "content": [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
            }),
            "test_multiple_content_types" => json!({ "content": [
                { "type": "text", "text": "Multiple content types test:" },
                { "type": "image", "data": PNG, "mimeType": "image/png" },
                resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
            ] }),
            "test_tool_with_logging" | "test_logging_tool" => {
                for words in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                    self.log(context, words).await;
                    tokio::time::sleep(PAUSE).await;
                }
                text("Three messages were logged.")
            }
            "test_error_handling" => {
                let mut failed = text("This tool intentionally returns an error for testing");
                failed["isError"] = true.into();
                failed
            }
            "test_tool_with_progress" => {
                for progress in [0.0, 50.0, 100.0] {
                    if let Some(token) = context.meta.get_progress_token() {
                        let param = ProgressNotificationParam::new(token, progress).with_total(100.0);
                        let _ = context.peer.notify_progress(param).await;
                    }
                    tokio::time::sleep(PAUSE).await;
                }
                text("All of it was done.")
            }
            "test_sampling" => text(sample(context, &argument("prompt")).await?),
            "test_elicitation" => {
                let schema = json!({
                    "type": "object",
                    "properties": {
                        "username": { "type": "string", "description": "User's response" },
                        "email": { "type": "string", "description": "User's email address" },
                    },
                    "required": ["username", "email"],
                });
                text(format!("User response: {}", elicit(context, form(&argument("message"), schema)).await?))
            }
            "test_elicitation_sep1034_defaults" => {
                let schema = json!({ "type": "object", "properties": {
                    "name": { "type": "string", "default": "John Doe" },
                    "age": { "type": "integer", "default": 30 },
                    "score": { "type": "number", "default": 95.5 },
                    "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
                    "verified": { "type": "boolean", "default": true },
                } });
                text(format!(
                    "Elicitation completed: {}",
                    elicit(context, form("Please look at the defaults", schema)).await?
                ))
            }
            "test_elicitation_sep1330_enums" => {
                let options = json!(["option1", "option2", "option3"]);
                let titled = |word: &str| -> Value {
                    ["First", "Second", "Third"].iter().enumerate()
                        .map(|(index, name)| json!({ "const": format!("value{}", index + 1), "title": format!("{name} {word}") }))
                        .collect()
                };
                let schema = json!({ "type": "object", "properties": {
                    "untitledSingle": { "type": "string", "enum": options },
                    "titledSingle": { "type": "string", "oneOf": titled("Option") },
                    "legacyEnum": { "type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"] },
                    "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
                    "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
                } });
                text(format!("Elicitation completed: {}", elicit(context, form("Please choose", schema)).await?))
            }
            "test_missing_capability" => {
                let can = json!(context.client_capabilities());
                if !can["sampling"].is_object() {
                    let wanted: ClientCapabilities = typed(json!({ "sampling": {} }))?;
                    return Err(ErrorData::missing_required_client_capability(wanted));
                }
                text("The client can sample.")
            }
            "test_trigger_tool_change" | "test_trigger_prompt_change" => {
                let changed =
                    if &*request.name == "test_trigger_tool_change" { Changed::Tools } else { Changed::Prompts };
                // The error is ignored: it means that no client is subscribed.
                let _ = self.changes.send(changed);
                text("Whoever listens has been told.")
            }
            "test_streaming_elicitation" | "test_reconnection" | "test_x_mcp_header" | "json_schema_2020_12_tool" => {
                text("Done.")
            }
            unknown => return Err(ErrorData::invalid_params(format!("Unknown tool: {unknown}"), None)),
        })
    }
}
