//! `check_vehicles`: which vehicles of a list there are, and what identification numbers say.

use super::call::{Call, structured};
use super::definition::{Cost, Definition};
use crate::accounts::Scope;
use crate::http::answers::vehicle_check;
use crate::http::error::Problem;
use crate::http::openapi;
use rmcp::model::CallToolResult;

pub fn definition() -> Definition {
    Definition {
        name: "check_vehicles",
        title: "Check a list of vehicles",
        cost: Cost::Free,
        scope: Some(Scope::AccountRead),
        limits: "1 to 100 rows",
        about: "Which of several vehicles there are: rows of make, model and year (body), vehicle (an id) and year, vin, or query. Each \
                comes back as `match` (use its vehicle_id and year in get_car_image), `suggestion` (the nearest and why: ask the \
                user), `miss` or `invalid`, with the views that are stored. A single row with `vin` decodes that number: `decoded` has \
                make, model, year and confidence, `vin_suggestion` the likely number where a character is wrong. Numbers are not kept.",
        input: openapi::schema("CheckRequest"),
        output: openapi::schema("CheckResponse"),
        is_read_only: true,
    }
}

pub async fn call(call: Call<'_>) -> Result<CallToolResult, Problem> {
    call.caller.require(Scope::AccountRead)?;
    structured(&vehicle_check::answer(call.app, call.arguments.clone(), call.request_id.clone()).await?)
}
