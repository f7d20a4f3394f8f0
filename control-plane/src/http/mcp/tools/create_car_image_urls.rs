//! `create_car_image_urls`: signed URLs for web pages.

use super::call::{Call, structured};
use super::definition::{Cost, Definition, idempotency_key};
use crate::accounts::Scope;
use crate::http::answers::image_urls::{ImageUrlsOutcome, make, understand};
use crate::http::error::Problem;
use crate::http::openapi;
use crate::http::openapi::requests::picture;
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

const NAME: &str = "create_car_image_urls";

pub fn definition() -> Definition {
    let mut input = openapi::schema("BatchImageUrlRequest");
    input["properties"]["images"]["items"] = json!(picture().build());
    input["properties"]["idempotency_key"] = idempotency_key();
    let mut output = openapi::schema("ImageUrlsResponse");
    output["properties"]["replayed"] = json!({
        "type": "boolean", "description": "True if an earlier call with this idempotency_key was charged, and this \
                                           one was not.",
    });
    output["properties"]["billing"]["properties"]["credits_charged"]["minimum"] = json!(0);
    Definition {
        name: NAME,
        title: "Create signed image URLs",
        cost: Cost::Credits("1 credit for each URL, charged now; loading them is free until they expire"),
        scope: Some(Scope::ImagesRead),
        limits: "1 to 50 images a call; URLs expire after 60 seconds to 7 days (ttl_seconds, by default 1 hour)",
        about: "Creates URLs for web pages and documents. They contain no key. Every image is checked before anything \
                is charged, and the whole call is one charge. An image is rendered when its URL is first loaded, \
                which may take up to 2 minutes. If the first load fails, the URL is closed and its credit \
                given back: call again with a new idempotency_key. With `format` `auto` each load gets AVIF or WebP \
                if `Accept` names them; with `fit` `contain` and `cover` the image is exactly the box.",
        input,
        output,
        is_read_only: false,
    }
}

pub async fn call(mut call: Call<'_>) -> Result<CallToolResult, Problem> {
    call.caller.require(Scope::ImagesRead)?;
    let key = call.take_idempotency_key()?;
    if !call.arguments.contains_key("images") {
        return Err(Problem::bad_parameter("images", "`images` is required: a list of 1 to 50 images."));
    }
    let understood = understand(call.app, &Value::Object(call.arguments.clone()));
    let text = call.text();
    let made = make(call.app, call.caller, call.request_id, understood, key.as_deref(), text.as_bytes()).await;
    let ImageUrlsOutcome { mut answer, replayed } = made?;
    answer["replayed"] = replayed.into();
    if replayed {
        answer["billing"]["credits_charged"] = 0.into();
    }
    structured(&answer)
}
