//! `resolve_vehicle`: turns words, or a vehicle identification number, into the parameters of one
//! image.

use super::call::{Call, structured};
use super::definition::{Cost, Definition};
use crate::accounts::Scope;
use crate::http::answers::resolution;
use crate::http::error::Problem;
use crate::http::openapi;
use crate::http::openapi::requests::resolve_fields;
use rmcp::model::CallToolResult;
use serde_json::json;

pub fn definition() -> Definition {
    Definition {
        name: "resolve_vehicle",
        title: "Resolve a vehicle description",
        cost: Cost::Free,
        scope: Some(Scope::AccountRead),
        limits: "query of 1 to 200 characters, or vin of 8 to 17",
        about: "Turns free text such as `navy blue vw golf 2019 from behind`, or a vehicle identification number \
                (`vin` in place of `query`, not stored), into the exact arguments of get_car_image. Use `params` if \
                `confidence` is high; otherwise show `candidates` to the user before you spend credits.",
        input: json!(resolve_fields().build()),
        output: openapi::schema("ResolveResponse"),
        is_read_only: true,
    }
}

pub fn call(call: &Call<'_>) -> Result<CallToolResult, Problem> {
    call.caller.require(Scope::AccountRead)?;
    structured(&resolution::answer(call.app, call.arguments.clone(), call.request_id.clone())?)
}
