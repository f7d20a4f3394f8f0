//! `list_image_options`: everything that can be asked for, and what it costs.

use super::call::{Call, structured};
use super::definition::{Cost, Definition, nothing};
use crate::http::answers::image_options::{ImageOptionsResponse, options};
use crate::http::error::Problem;
use crate::http::openapi;
use rmcp::model::CallToolResult;

pub fn definition() -> Definition {
    Definition {
        name: "list_image_options",
        title: "List image options",
        cost: Cost::Free,
        scope: None,
        limits: "changes with releases only: ask once",
        about: "Views, colors and paints, sizes, frames, formats, prices, limits and the catalog's figures.",
        input: nothing(),
        output: openapi::schema("ImageOptionsResponse"),
        is_read_only: true,
    }
}

pub fn call(call: &Call<'_>) -> Result<CallToolResult, Problem> {
    structured(&ImageOptionsResponse { data: options(call.app), request_id: call.request_id.clone() })
}
