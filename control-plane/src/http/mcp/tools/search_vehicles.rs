//! `search_vehicles`: browses or searches the catalog.

use super::call::{Call, structured};
use super::definition::{Cost, Definition};
use crate::delivery::request::vehicle_id;
use crate::http::answers::vehicle;
use crate::http::answers::vehicle_list::{VehiclesResponse, list};
use crate::http::answers::vehicles_query::VehiclesQuery;
use crate::http::error::Problem;
use crate::http::openapi;
use crate::http::openapi::requests;
use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};
use url::form_urlencoded;
use utoipa::IntoParams;

/// Name of the argument that selects one vehicle by its id.
const VEHICLE: &str = "vehicle";

pub fn definition() -> Definition {
    let parameters = VehiclesQuery::into_params(|| None);
    let mut properties: Map<String, Value> =
        parameters.into_iter().map(|parameter| (parameter.name.clone(), json!(parameter.schema))).collect();
    properties.insert(
        VEHICLE.to_owned(),
        json!({
            "type": "string", "pattern": requests::vehicle_id().pattern,
            "description": "Permanent id of one vehicle. Every answer that names a vehicle has its id. Send no other \
                            argument with it.",
        }),
    );
    let mut output = openapi::schema("VehiclesResponse");
    let lists = output["properties"]["data"].take();
    let one = openapi::schema("VehicleResponse")["properties"]["data"].take();
    output["properties"]["data"] = json!({ "anyOf": [lists, one] });
    Definition {
        name: "search_vehicles",
        title: "Search the vehicle catalog",
        cost: Cost::Free,
        scope: None,
        limits: "q of at most 200 characters, 25 results; the lists without q are sent in full",
        about: "Lists the vehicles that can be rendered. With q: makes and models that fit a search text (make, year \
                and limit narrow it). With make: its models. With make and model: its years, bodies and generations. \
                With vehicle (an id from any answer): that vehicle, its bodies and its stored images. With year: its \
                makes. Without arguments: the years.",
        input: json!({ "type": "object", "properties": properties, "additionalProperties": false }),
        output,
        is_read_only: true,
    }
}

pub async fn call(mut call: Call<'_>) -> Result<CallToolResult, Problem> {
    if let Some(id) = call.arguments.remove(VEHICLE) {
        if let Some((other, _)) = call.arguments.iter().next() {
            return Err(Problem::bad_parameter(
                other,
                format!("`{other}` cannot be used with `vehicle`: send one of the two."),
            ));
        }
        let id = vehicle_id(id.as_str().unwrap_or_default());
        let id = id.map_err(|wrong| Problem::bad_parameter(&wrong.parameter, wrong.detail))?;
        return structured(&vehicle::answer(call.app, id, call.request_id).await?);
    }
    let query = VehiclesQuery::read(Some(&query(&call.arguments)))?;
    let data = list(&call.app.catalog.now(), query)?;
    structured(&VehiclesResponse { data, request_id: call.request_id.clone() })
}

/// Returns the arguments as the query that the JSON API takes.
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
