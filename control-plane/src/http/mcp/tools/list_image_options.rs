//! `list_image_options`: everything that can be requested, and its price.

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
        limits: "the answer changes with releases only: call it once",
        about: "Returns views, colors and paints, sizes, framing, formats, prices, limits and numbers about the \
                catalog.",
        input: nothing(),
        output: openapi::schema("ImageOptionsResponse"),
        is_read_only: true,
    }
}

pub fn call(call: &Call<'_>) -> Result<CallToolResult, Problem> {
    structured(&ImageOptionsResponse { data: options(call.app), request_id: call.request_id.clone() })
}
