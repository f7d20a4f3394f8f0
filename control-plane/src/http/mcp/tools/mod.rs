//! The tools: what each is called, costs, needs and takes, and which domain call it is.
//!
//! Arguments and answers have the shapes of the JSON API (its OpenAPI schemas, each by itself), so that one page describes both. A
//! failure is the problem document that the JSON API would send.

mod check_vehicles;
mod create_car_image_urls;
mod definition;
mod describe_api;
mod get_account;
mod get_car_image;
mod list_image_options;
mod rate_image;
mod resolve_vehicle;
mod search_vehicles;

pub use definition::Listed;

use super::arguments;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::http::error::Problem;
use crate::http::named_request::key_member;
use crate::named_requests::Fingerprint;
use definition::Definition;
use rmcp::model::{CallToolResult, Tool};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::LazyLock;

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
    pub fn of(
        tool: Named,
        app: &'a App,
        caller: &'a Caller,
        request_id: String,
        sent: Map<String, Value>,
    ) -> Result<Self, Problem> {
        let read = arguments::read(tool.schema(), sent.clone());
        let arguments = read.map_err(|bad| bad.with_items(tool.items()))?;
        Ok(Call { app, caller, request_id, arguments, sent })
    }

    /// Takes out the argument that names the call: the others are what is asked for.
    fn take_idempotency_key(&mut self) -> Result<Option<String>, Problem> {
        let key = self.arguments.remove("idempotency_key");
        key.map(|key| key_member("idempotency_key", &key)).transpose()
    }

    /// The fingerprint of a call that asks for `meaning`.
    fn fingerprint(&self, meaning: &Value) -> Fingerprint {
        Fingerprint::of(meaning, self.text().as_bytes())
    }

    /// The arguments as they were sent, without the name of the call.
    fn text(&self) -> String {
        let mut sent = self.sent.clone();
        sent.remove("idempotency_key");
        let mut sent = Value::Object(sent);
        sent.sort_all_objects();
        sent.to_string()
    }
}

/// One of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    GetCarImage,
    CreateCarImageUrls,
    ResolveVehicle,
    CheckVehicles,
    SearchVehicles,
    ListImageOptions,
    GetAccount,
    RateImage,
    DescribeApi,
}

impl Named {
    /// In the order in which somebody needs them.
    const ALL: [Named; 9] = [
        Named::DescribeApi,
        Named::ResolveVehicle,
        Named::CheckVehicles,
        Named::SearchVehicles,
        Named::ListImageOptions,
        Named::GetCarImage,
        Named::CreateCarImageUrls,
        Named::GetAccount,
        Named::RateImage,
    ];

    /// Of its arguments.
    fn schema(self) -> &'static Value {
        static NONE: Value = Value::Null;
        DEFINED.iter().find(|(tool, _)| *tool == self).map_or(&NONE, |(_, definition)| &definition.input)
    }

    /// The argument that is a list, where it has one.
    fn items(self) -> &'static str {
        match self {
            Named::CheckVehicles => "vehicles",
            _ => "images",
        }
    }

    fn definition(self) -> Definition {
        match self {
            Named::GetCarImage => get_car_image::definition(),
            Named::CreateCarImageUrls => create_car_image_urls::definition(),
            Named::ResolveVehicle => resolve_vehicle::definition(),
            Named::CheckVehicles => check_vehicles::definition(),
            Named::SearchVehicles => search_vehicles::definition(),
            Named::ListImageOptions => list_image_options::definition(),
            Named::GetAccount => get_account::definition(),
            Named::RateImage => rate_image::definition(),
            Named::DescribeApi => describe_api::definition(),
        }
    }

    pub async fn call(self, call: Call<'_>) -> Result<CallToolResult, Problem> {
        match self {
            Named::GetCarImage => get_car_image::call(call).await,
            Named::CreateCarImageUrls => create_car_image_urls::call(call).await,
            Named::ResolveVehicle => resolve_vehicle::call(&call),
            Named::CheckVehicles => check_vehicles::call(call).await,
            Named::SearchVehicles => search_vehicles::call(call).await,
            Named::ListImageOptions => list_image_options::call(&call),
            Named::GetAccount => get_account::call(call).await,
            Named::RateImage => rate_image::call(call).await,
            Named::DescribeApi => describe_api::call(&call),
        }
    }
}

static DEFINED: LazyLock<Vec<(Named, Definition)>> =
    LazyLock::new(|| Named::ALL.into_iter().map(|tool| (tool, tool.definition())).collect());

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| DEFINED.iter().map(|(_, definition)| definition.tool()).collect());

/// Every tool, as clients are told.
pub fn all() -> &'static [Tool] {
    &TOOLS
}

pub fn named(name: &str) -> Option<Named> {
    DEFINED.iter().find(|(_, definition)| definition.name == name).map(|(tool, _)| *tool)
}

/// Every tool in a line, for the pages that machines read.
pub fn listing() -> Vec<Listed> {
    DEFINED.iter().map(|(_, definition)| definition.listed()).collect()
}

/// An answer that is JSON and nothing else.
fn structured<T: Serialize>(answer: &T) -> Result<CallToolResult, Problem> {
    let value = serde_json::to_value(answer).map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "a tool's answer is no JSON");
        Problem::internal()
    })?;
    Ok(CallToolResult::structured(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_tool_says_what_it_costs_needs_and_takes() {
        let names: BTreeSet<&str> = all().iter().map(|tool| &*tool.name).collect();
        let expected = [
            "check_vehicles",
            "create_car_image_urls",
            "describe_api",
            "get_account",
            "get_car_image",
            "list_image_options",
            "rate_image",
            "resolve_vehicle",
            "search_vehicles",
        ];
        assert_eq!(names, BTreeSet::from(expected));
        for tool in all() {
            let name = &tool.name;
            assert_eq!(named(name).map(|found| found.definition().name), Some(&**name));
            assert!(tool.title.as_ref().is_some_and(|title| !title.is_empty()), "{name}");
            let description = tool.description.as_deref().unwrap_or_default();
            assert!(description.starts_with("Free.") || description.starts_with("Costs "), "{name}: {description}");
            for word in ["Scope: ", "Limits: "] {
                assert!(description.contains(word), "{name}: {description}");
            }
            let output = tool.output_schema.as_deref().unwrap_or_else(|| panic!("{name} has no output schema"));
            for schema in [&*tool.input_schema, output] {
                assert_eq!(schema["type"], "object", "{name}");
                assert!(!Value::Object(schema.clone()).to_string().contains("$ref"), "{name}");
            }
            assert_eq!(tool.input_schema["additionalProperties"], false, "{name}");
            // Hosts that hand tools to models take no alternatives at the top.
            for word in ["allOf", "anyOf", "oneOf"] {
                assert!(!tool.input_schema.contains_key(word), "{name}");
            }
            let hints = tool.annotations.as_ref().unwrap_or_else(|| panic!("{name} has no annotations"));
            let spends = description.starts_with("Costs ");
            let changes = spends || *name == "rate_image";
            assert_eq!(hints.read_only_hint, Some(!changes), "{name}");
            assert_eq!(hints.idempotent_hint, Some(!spends), "{name}");
            assert_eq!((hints.destructive_hint, hints.open_world_hint), (Some(false), Some(false)), "{name}");
            assert_eq!(tool.input_schema["properties"].get("idempotency_key").is_some(), spends, "{name}");
        }
    }
}
