//! `rate_image`: records what a user thinks of an image.

use super::call::{Call, structured};
use super::definition::{Cost, Definition};
use crate::accounts::Scope;
use crate::http::answers::feedback;
use crate::http::error::Problem;
use crate::http::openapi;
use crate::http::openapi::requests::feedback_fields;
use rmcp::model::CallToolResult;
use serde_json::json;

pub fn definition() -> Definition {
    Definition {
        name: "rate_image",
        title: "Rate an image",
        cost: Cost::Free,
        scope: Some(Scope::AccountRead),
        limits: "rating 1 to 5, or a verdict; reason of at most 500 characters; one report for each account and \
                 image, the last one counts",
        about: "Reports what the user thinks of an image. Name it by the request_id that delivered it, or by make, \
                model and year (view, color, finish, shadow). Bad reports of several accounts put an image into \
                review.",
        input: json!(feedback_fields().build()),
        output: openapi::schema("FeedbackResponse"),
        is_read_only: false,
    }
}

pub async fn call(call: Call<'_>) -> Result<CallToolResult, Problem> {
    call.caller.require(Scope::AccountRead)?;
    structured(&feedback::record(call.app, call.caller, call.arguments.clone(), call.request_id.clone()).await?)
}
