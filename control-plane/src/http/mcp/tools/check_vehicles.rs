//! `check_vehicles`: which vehicles of a list are in the catalog, and what identification numbers
//! mean.

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
        about: "Checks which of several vehicles the catalog has. Rows have make, model and year (and body), vehicle \
                (an id) and year, vin, or query. The result of each is `match` (use its vehicle_id and year in \
                get_car_image), `suggestion` (another vehicle and the reason: ask the user), `miss` or `invalid`, \
                with the views that are stored. A single row with `vin` decodes that number (VIN): `decoded` has \
                make, model, year and confidence, `vin_suggestion` the likely VIN if a character is wrong. VINs are \
                neither logged nor stored.",
        input: openapi::schema("CheckRequest"),
        output: openapi::schema("CheckResponse"),
        is_read_only: true,
    }
}

pub async fn call(call: Call<'_>) -> Result<CallToolResult, Problem> {
    call.caller.require(Scope::AccountRead)?;
    structured(&vehicle_check::answer(call.app, call.arguments.clone(), call.request_id.clone()).await?)
}
