//! `search_vehicles`: the catalog, browsed or searched.

use super::definition::{Cost, Definition};
use super::{Call, structured};
use crate::http::error::Problem;
use crate::http::openapi;
use crate::http::v1::vehicles::get::{VehiclesResponse, list};
use crate::http::v1::vehicles::query::VehiclesQuery;
use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};
use url::form_urlencoded;
use utoipa::IntoParams;

pub fn definition() -> Definition {
    let parameters = VehiclesQuery::into_params(|| None);
    let properties: Map<String, Value> =
        parameters.into_iter().map(|parameter| (parameter.name.clone(), json!(parameter.schema))).collect();
    Definition {
        name: "search_vehicles",
        title: "Search the vehicle catalog",
        cost: Cost::Free,
        scope: None,
        limits: "q of at most 200 characters, 25 results; the lists without q are sent whole",
        about: "Which vehicles can be rendered. With q, makes and models for what somebody types (year and limit narrow it); with make, \
                its models; with make and model, its years; with year, its makes; with nothing, the years.",
        input: json!({ "type": "object", "properties": properties, "additionalProperties": false }),
        output: openapi::schema("VehiclesResponse"),
        is_read_only: true,
    }
}

pub fn call(call: &Call<'_>) -> Result<CallToolResult, Problem> {
    let query = VehiclesQuery::read(Some(&query(&call.arguments)))?;
    let data = list(&call.app.catalog.now(), query)?;
    structured(&VehiclesResponse { data, request_id: call.request_id.clone() })
}

/// The arguments as the query that the JSON API takes.
fn query(arguments: &Map<String, Value>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in arguments {
        match value {
            Value::String(text) => query.append_pair(name, text),
            other => query.append_pair(name, &other.to_string()),
        };
    }
    query.finish()
}
