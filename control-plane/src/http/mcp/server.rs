//! The server that the SDK calls: its name, its tools, and a tool's answer or the problem in its
//! place.

use super::tools::{self, Call};
use super::transport::TakesEvents;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::http::request_id::RequestId;
use crate::turns::places::TurnRef;
use crate::turns::waiting::with_turn;
use axum::http::request::Parts;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, ErrorCode,
    Implementation, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use std::convert::Infallible;
use std::time::Duration;

/// How long clients may cache the list of tools, in milliseconds. Tools change with a release of
/// the service.
const TOOLS_TTL_MS: u64 = 60 * 60 * 1000;

/// Pause between two progress notifications. A cold render takes up to two minutes.
const PROGRESS_EVERY: Duration = Duration::from_secs(3);

const INSTRUCTIONS: &str = "Studio renders of vehicles by make, model and year. get_car_image and \
                            create_car_image_urls spend credits of the key's account: 1 for each image or URL; every \
                            other tool is free. Resolve free text with resolve_vehicle first, and several vehicles \
                            with check_vehicles. Send an idempotency_key with calls that spend credits. If a problem \
                            has status 402, ask the user instead of retrying. describe_api explains the rest.";

/// The server that answers one message.
pub struct Server {
    app: App,
}

impl Server {
    pub fn new(app: App) -> Self {
        Server { app }
    }
}

impl Server {
    /// Sends progress notifications while the client's image is being made, if the client asked for
    /// them: many clients give up on a silent call. Never returns.
    async fn tell_progress(&self, context: &RequestContext<RoleServer>) -> Infallible {
        let Some(token) = context.meta.get_progress_token() else { return std::future::pending().await };
        let total = self.app.config.farm.render_wait().as_secs_f64();
        let mut seconds = 0.0;
        loop {
            tokio::time::sleep(PROGRESS_EVERY).await;
            seconds += PROGRESS_EVERY.as_secs_f64();
            let progress = ProgressNotificationParam::new(token.clone(), seconds)
                .with_total(total.max(seconds))
                .with_message("The image is being rendered.");
            // A client that no longer listens is noticed elsewhere.
            let _ = context.peer.notify_progress(progress).await;
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let name = Implementation::new("cyclorama", env!("CARGO_PKG_VERSION"))
            .with_title("Cyclorama")
            .with_website_url(&self.app.base_url);
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(name)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = ListToolsResult::with_all_items(tools::all().to_vec());
        listed.ttl_ms = Some(TOOLS_TTL_MS);
        // The list is the same for every key, but it still requires one.
        listed.cache_scope = Some(CacheScope::Private);
        Ok(listed)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::all().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let parts = context.extensions.get::<Parts>();
        let Some((parts, caller)) = parts.and_then(|parts| Some((parts, parts.extensions.get::<Caller>()?))) else {
            tracing::error!("a tool was called without a caller");
            return Err(ErrorData::internal_error("Something went wrong in the service; nothing was charged.", None));
        };
        let Some(tool) = tools::named(&request.name) else {
            return Err(ErrorData::invalid_params(format!("Unknown tool: {}", request.name), None));
        };
        let id = request_id(parts);
        let call = Call::of(
            (tool.schema(), tool.items()),
            &self.app,
            caller,
            id.clone(),
            request.arguments.unwrap_or_default(),
        );
        let takes_events = parts.extensions.get::<TakesEvents>().is_some_and(|takes| takes.0);
        // The SDK calls tools in separate tasks, to which the turn is passed on here.
        let turn = parts.extensions.get::<TurnRef>().cloned().unwrap_or_default();
        let called = with_turn(turn, async { tool.call(call?).await });
        tokio::pin!(called);
        let answered = tokio::select! {
            answered = &mut called => answered,
            // The client has left. Its credits on hold are released.
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("The call was cancelled.", None)),
            never = self.tell_progress(&context), if takes_events => match never {},
        };
        let result = answered.unwrap_or_else(|problem| {
            let mut document = problem.tool_document(&self.app.base_url, &id);
            if let Some(seconds) = problem.retry_after_seconds() {
                document["retry_after_seconds"] = seconds.into();
            }
            CallToolResult::structured_error(document)
        });
        Ok(result.into())
    }

    /// Answers a request whose method the SDK does not know. The SDK also treats a known method as
    /// unknown if its parameters have another form.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let known = ["initialize", "server/discover", "tools/list", "tools/call"];
        let params = request.params.as_ref().unwrap_or(&Value::Null);
        Err(match known.contains(&request.method.as_str()) {
            true if request.method == "tools/call" && !params["name"].is_string() => {
                ErrorData::invalid_params("`name` of tools/call must be a string: the name of a tool.", None)
            }
            true if request.method == "tools/call" && !params["arguments"].is_object() => {
                let detail = "`arguments` of tools/call must be an object, or its JSON as a string.";
                ErrorData::invalid_params(detail, None)
            }
            true => ErrorData::invalid_params(
                format!("The parameters of {} do not have the expected form.", request.method),
                None,
            ),
            false => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None),
        })
    }
}

/// Returns the id of one message's answer: the id of the request or, in an array, an id of its own.
fn request_id(parts: &Parts) -> String {
    parts.extensions.get::<RequestId>().map_or_else(|| RequestId::fresh().0, |id| id.0.clone())
}
