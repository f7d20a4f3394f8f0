//! The tools: the name, cost, scope and arguments of each, and the domain call that it makes.
//!
//! Arguments and answers have the shapes of the JSON API (its OpenAPI schemas, each without
//! references), so that one page describes both. A failure is the problem document that the JSON
//! API would send.

mod call;
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

pub use call::Call;
pub use definition::ToolSummary;

use crate::http::error::Problem;
use definition::Definition;
use rmcp::model::{CallToolResult, Tool};
use serde_json::Value;
use std::sync::LazyLock;

/// One of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolName {
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

impl ToolName {
    /// All tools, in the order in which a client needs them.
    const ALL: [ToolName; 9] = [
        ToolName::DescribeApi,
        ToolName::ResolveVehicle,
        ToolName::CheckVehicles,
        ToolName::SearchVehicles,
        ToolName::ListImageOptions,
        ToolName::GetCarImage,
        ToolName::CreateCarImageUrls,
        ToolName::GetAccount,
        ToolName::RateImage,
    ];

    /// Returns the schema of the tool's arguments.
    pub fn schema(self) -> &'static Value {
        static NONE: Value = Value::Null;
        DEFINED.iter().find(|(tool, _)| *tool == self).map_or(&NONE, |(_, definition)| &definition.input)
    }

    /// Returns the name of the argument that is a list, if the tool has one.
    pub fn items(self) -> &'static str {
        match self {
            ToolName::CheckVehicles => "vehicles",
            _ => "images",
        }
    }

    fn definition(self) -> Definition {
        match self {
            ToolName::GetCarImage => get_car_image::definition(),
            ToolName::CreateCarImageUrls => create_car_image_urls::definition(),
            ToolName::ResolveVehicle => resolve_vehicle::definition(),
            ToolName::CheckVehicles => check_vehicles::definition(),
            ToolName::SearchVehicles => search_vehicles::definition(),
            ToolName::ListImageOptions => list_image_options::definition(),
            ToolName::GetAccount => get_account::definition(),
            ToolName::RateImage => rate_image::definition(),
            ToolName::DescribeApi => describe_api::definition(),
        }
    }

    pub async fn call(self, call: Call<'_>) -> Result<CallToolResult, Problem> {
        match self {
            ToolName::GetCarImage => get_car_image::call(call).await,
            ToolName::CreateCarImageUrls => create_car_image_urls::call(call).await,
            ToolName::ResolveVehicle => resolve_vehicle::call(&call),
            ToolName::CheckVehicles => check_vehicles::call(call).await,
            ToolName::SearchVehicles => search_vehicles::call(call).await,
            ToolName::ListImageOptions => list_image_options::call(&call),
            ToolName::GetAccount => get_account::call(call).await,
            ToolName::RateImage => rate_image::call(call).await,
            ToolName::DescribeApi => describe_api::call(&call, listing()),
        }
    }
}

static DEFINED: LazyLock<Vec<(ToolName, Definition)>> =
    LazyLock::new(|| ToolName::ALL.into_iter().map(|tool| (tool, tool.definition())).collect());

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| DEFINED.iter().map(|(_, definition)| definition.tool()).collect());

/// Returns every tool as clients get it.
pub fn all() -> &'static [Tool] {
    &TOOLS
}

pub fn named(name: &str) -> Option<ToolName> {
    DEFINED.iter().find(|(_, definition)| definition.name == name).map(|(tool, _)| *tool)
}

/// Returns every tool in one line, for the pages that machines read.
pub fn listing() -> Vec<ToolSummary> {
    DEFINED.iter().map(|(_, definition)| definition.listed()).collect()
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
            // Hosts that pass tools on to models accept no alternatives at the top level.
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
