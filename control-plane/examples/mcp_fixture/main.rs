//! A server with every feature of the protocol, for the protocol's official conformance suite. It
//! runs behind the same transport as `/api/mcp`, and is not part of the service.
//!
//! It prints its URL, and ends when its standard input ends.

#![allow(deprecated, reason = "the suite asks for what newer revisions no longer have")]

mod rounds;
mod tools;
mod values;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use cyclorama::mcp::{Messages, Transport};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, CompletionInfo,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use rounds::{asks, elicitation, in_rounds};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::AsyncReadExt;
use tokio::sync::broadcast;
use tools::TOOLS;
use values::{PNG, complete, one_field};

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
            // The sink sends only what the client subscribed to.
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

#[expect(clippy::disallowed_methods, reason = "serves a suite of tests on this machine")]
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let (changes, _) = broadcast::channel(16);
    let server = Everything { changes };
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:*")))
        .enforce_origin_validation();
    // Sessions are needed for what the older revision asks of a client while a tool runs.
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
