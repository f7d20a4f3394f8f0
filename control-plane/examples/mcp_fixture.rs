//! A server with everything that the protocol has, for its official conformance suite: behind the same transport as `/api/mcp`. Not part
//! of the service. Prints its address; ends when its input does.

#![allow(deprecated, reason = "the suite asks for what newer revisions no longer have")]

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use cyclorama::http::mcp::transport::{Messages, Transport};
use hmac::{Hmac, KeyInit, Mac};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientResult, CompleteRequestParams,
    CompleteResult, CompletionInfo, CreateMessageRequest, CreateMessageRequestParams, ElicitRequest,
    ElicitRequestParams, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
    InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig,
    ServerRequest, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::Sha256;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::broadcast;

/// One red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// No sound at all.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

const PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Changed {
    Tools,
    Prompts,
}

#[derive(Clone)]
struct Everything {
    changes: broadcast::Sender<Changed>,
}

type Context = RequestContext<RoleServer>;

/// Answers are written as the protocol's JSON, which the SDK's types read.
fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A result that is all there is; older revisions are not told so, which the SDK sees to.
fn complete<T: DeserializeOwned>(mut result: Value) -> Result<T, ErrorData> {
    result["resultType"] = "complete".into();
    typed(result)
}

fn text(text: impl Into<String>) -> Value {
    json!({ "content": [{ "type": "text", "text": text.into() }] })
}

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
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

fn form(message: &str, schema: Value) -> Value {
    json!({ "mode": "form", "message": message, "requestedSchema": schema })
}

fn one_field(message: &str, name: &str, kind: &str) -> Value {
    form(message, json!({ "type": "object", "properties": { name: { "type": kind } }, "required": [name] }))
}

fn question(words: &str, tokens: u32) -> Value {
    json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": words } }], "maxTokens": tokens })
}

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

/// State that comes back as it was sent, or is refused.
fn sealed(state: &str) -> String {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(b"a key of the fixture").unwrap_or_else(|_| unreachable!("any length is a key"));
    mac.update(state.as_bytes());
    format!("{state}.{}", hex::encode(mac.finalize().into_bytes()))
}

fn opened(given: &str) -> Result<&str, ErrorData> {
    let state = given.rsplit_once('.').map(|(state, _)| state).filter(|state| sealed(state) == given);
    state.ok_or_else(|| ErrorData::invalid_params("requestState was changed on the way", None))
}

fn asks(requests: Value, state: Option<&str>) -> Result<InputRequiredResult, ErrorData> {
    let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
    if let Some(state) = state {
        result["requestState"] = sealed(state).into();
    }
    typed(result)
}

fn elicitation(params: Value) -> Value {
    json!({ "method": "elicitation/create", "params": params })
}

fn sampling(words: &str, tokens: u32) -> Value {
    json!({ "method": "sampling/createMessage", "params": question(words, tokens) })
}

/// The tools that ask the client by their result: every round is a call of its own.
fn in_rounds(request: &CallToolRequestParams, context: &Context) -> Result<Option<CallToolResponse>, ErrorData> {
    let given = json!(request.input_responses);
    let has = |name: &str| given[name].is_object();
    let state = request.request_state.as_deref().map(opened).transpose()?;
    let roots = || json!({ "method": "roots/list", "params": {} });
    let done = |words: String| complete::<CallToolResult>(text(words)).map(|result| Some(result.into()));
    let more = |requests: Value, state: Option<&str>| asks(requests, state).map(|result| Some(result.into()));
    match &*request.name {
        "test_input_required_result_elicitation" => match given["user_name"]["content"]["name"].as_str() {
            Some(name) => done(format!("Hello, {name}!")),
            None => more(json!({ "user_name": elicitation(one_field("What is your name?", "name", "string")) }), None),
        },
        "test_input_required_result_sampling" => match has("capital_question") {
            true => done(format!("The model said: {}", given["capital_question"]["content"])),
            false => more(json!({ "capital_question": sampling("What is the capital of France?", 100) }), None),
        },
        "test_input_required_result_list_roots" => match has("client_roots") {
            true => done(format!("The roots are: {}", given["client_roots"]["roots"])),
            false => more(json!({ "client_roots": roots() }), None),
        },
        "test_input_required_result_request_state" => match (has("confirm"), state) {
            (true, Some("confirming")) => done("state-ok".to_owned()),
            _ => more(
                json!({ "confirm": elicitation(one_field("Please confirm", "ok", "boolean")) }),
                Some("confirming"),
            ),
        },
        "test_input_required_result_tampered_state" => match (has("confirm"), state) {
            (true, Some("untouched")) => done("state-ok".to_owned()),
            _ => {
                more(json!({ "confirm": elicitation(one_field("Please confirm", "ok", "boolean")) }), Some("untouched"))
            }
        },
        "test_input_required_result_multiple_inputs" => {
            match has("user_name") && has("greeting") && has("client_roots") {
                true => done("All three were answered.".to_owned()),
                false => {
                    let name = elicitation(one_field("What is your name?", "name", "string"));
                    let requests = json!({ "user_name": name, "greeting": sampling("Generate a greeting", 50), "client_roots": roots() });
                    more(requests, Some("three"))
                }
            }
        }
        "test_input_required_result_multi_round" => match state {
            Some("round 1") if has("step1") => {
                let step = elicitation(one_field("Step 2: What is your favorite color?", "color", "string"));
                more(json!({ "step2": step }), Some("round 2"))
            }
            Some("round 2") if has("step2") => done("Both steps were answered.".to_owned()),
            _ => more(
                json!({ "step1": elicitation(one_field("Step 1: What is your name?", "name", "string")) }),
                Some("round 1"),
            ),
        },
        // Asks only for what the client said that it can do.
        "test_input_required_result_capabilities" => {
            let can = json!(context.client_capabilities());
            let mut requests = json!({});
            if can["sampling"].is_object() {
                requests["sample"] = sampling("What is the capital of France?", 100);
            }
            if can["elicitation"].is_object() {
                requests["ask"] = elicitation(one_field("What is your name?", "name", "string"));
            }
            match has("sample") || has("ask") || requests == json!({}) {
                true => done("Nothing more is needed.".to_owned()),
                false => more(requests, None),
            }
        }
        _ => Ok(None),
    }
}

impl Everything {
    async fn log(&self, context: &Context, words: &str) {
        let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(words));
        let is_newer = context.protocol_version().is_some_and(|version| version.as_str() >= "2026-07-28");
        // The newer revision wants to be asked for them.
        if !is_newer || context.meta.log_level().is_some() {
            let _ = context.peer.notify_logging_message(message).await;
        }
    }

    async fn answer(&self, request: &CallToolRequestParams, context: &Context) -> Result<Value, ErrorData> {
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
                // Nobody may be listening.
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

impl ServerHandler for Everything {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("cyclorama-fixture", "1"))
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: Context) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        TOOLS.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Result<CallToolResponse, ErrorData> {
        if let Some(response) = in_rounds(&request, &context)? {
            return Ok(response);
        }
        let result: CallToolResult = complete(self.answer(&request, &context).await?)?;
        Ok(result.into())
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn complete(&self, _: CompleteRequestParams, _: Context) -> Result<CompleteResult, ErrorData> {
        let values = ["paris", "park", "party"].map(str::to_owned).to_vec();
        let completion = CompletionInfo::new(values).map_err(|why| ErrorData::internal_error(why, None))?;
        Ok(CompleteResult::new(completion))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        complete(json!({ "resources": [
            { "uri": "test://static-text", "name": "Text", "description": "A text", "mimeType": "text/plain" },
            { "uri": "test://static-binary", "name": "Binary", "description": "A pixel", "mimeType": "image/png" },
            { "uri": "test://watched-resource", "name": "Watched", "description": "May change", "mimeType": "text/plain" },
        ] }))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        complete(json!({ "resourceTemplates": [
            { "uriTemplate": "test://template/{id}/data", "name": "Template", "description": "By id", "mimeType": "application/json" },
        ] }))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri, id) {
            ("test://static-text", _) => {
                json!({ "mimeType": "text/plain", "text": "This is the content of the static text resource." })
            }
            ("test://static-binary", _) => json!({ "mimeType": "image/png", "blob": PNG }),
            ("test://watched-resource", _) => json!({ "mimeType": "text/plain", "text": "Watched" }),
            (_, Some(id)) => {
                let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                json!({ "mimeType": "application/json", "text": data.to_string() })
            }
            _ => return Err(ErrorData::resource_not_found("Resource not found", Some(json!({ "uri": uri })))),
        };
        let mut contents = contents;
        contents["uri"] = uri.into();
        let result: ReadResourceResult = complete(json!({ "contents": [contents] }))?;
        Ok(result.into())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            let change = tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                change = changes.recv() => change,
            };
            // The sink keeps to what was asked for.
            let _ = match change {
                Ok(Changed::Tools) => subscription.sink().notify_tool_list_changed().await,
                Ok(Changed::Prompts) => subscription.sink().notify_prompt_list_changed().await,
                Err(_) => return Ok(()),
            };
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let argument = |name: &str| json!({ "name": name, "description": "Of the suite", "required": true });
        complete(json!({ "prompts": [
            { "name": "test_simple_prompt", "description": "Simple" },
            { "name": "test_prompt_with_arguments", "description": "With arguments", "arguments": [argument("arg1"), argument("arg2")] },
            { "name": "test_prompt_with_embedded_resource", "description": "With a resource", "arguments": [argument("resourceUri")] },
            { "name": "test_prompt_with_image", "description": "With a picture" },
            { "name": "test_input_required_result_prompt", "description": "Asks first" },
        ] }))
    }

    async fn get_prompt(&self, request: GetPromptRequestParams, _: Context) -> Result<GetPromptResponse, ErrorData> {
        let given = json!(request.arguments);
        let argument = |name: &str| given[name].as_str().unwrap_or_default().to_owned();
        let said = |content: Value| json!({ "role": "user", "content": content });
        let words = |words: String| said(json!({ "type": "text", "text": words }));
        let messages = match request.name.as_str() {
            "test_simple_prompt" => json!([words("This is a simple prompt for testing.".to_owned())]),
            "test_prompt_with_arguments" => {
                json!([words(format!(
                    "Prompt with arguments: arg1='{}', arg2='{}'",
                    argument("arg1"),
                    argument("arg2")
                ))])
            }
            "test_prompt_with_embedded_resource" => {
                let resource = json!({
                    "uri": argument("resourceUri"), "mimeType": "text/plain", "text": "Embedded resource content for testing.",
                });
                let first = said(json!({ "type": "resource", "resource": resource }));
                json!([first, words("Please process the embedded resource above.".to_owned())])
            }
            "test_prompt_with_image" => {
                let first = said(json!({ "type": "image", "data": PNG, "mimeType": "image/png" }));
                json!([first, words("Please analyze the image above.".to_owned())])
            }
            "test_input_required_result_prompt" => {
                match json!(request.input_responses)["user_context"]["content"]["context"].as_str() {
                    Some(context) => json!([words(format!("In the context of {context}."))]),
                    None => {
                        let asked = elicitation(one_field("What context should the prompt use?", "context", "string"));
                        return Ok(asks(json!({ "user_context": asked }), None)?.into());
                    }
                }
            }
            unknown => return Err(ErrorData::invalid_params(format!("Unknown prompt: {unknown}"), None)),
        };
        let result: GetPromptResult = complete(json!({ "messages": messages }))?;
        Ok(result.into())
    }
}

async fn message(State(transport): State<Transport>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap_or_default();
    match Messages::read(&body) {
        Ok(messages) => transport.answer(parts, messages).await,
        Err(refusal) => *refusal,
    }
}

async fn other(State(transport): State<Transport>, request: Request) -> Response {
    transport.other_method(request).await
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let (changes, _) = broadcast::channel(16);
    let server = Everything { changes };
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:*")))
        .enforce_origin_validation();
    // Sessions, for what the older revision asks of a client while a tool runs.
    let transport = Transport::new(move || server.clone(), Arc::new(LocalSessionManager::default()), config);
    let router = Router::new().route("/mcp", post(message).merge(get(other)).delete(other)).with_state(transport);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("http://127.0.0.1:{}/mcp", listener.local_addr()?.port());
    let ended = async {
        let _ = tokio::io::stdin().read_to_end(&mut Vec::new()).await;
    };
    tokio::select! {
        served = axum::serve(listener, router) => served?,
        () = ended => {}
    }
    Ok(())
}
