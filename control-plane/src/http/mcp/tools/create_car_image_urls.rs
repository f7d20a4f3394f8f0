//! `create_car_image_urls`: signed addresses for web pages.

use super::call::{Call, structured};
use super::definition::{Cost, Definition, idempotency_key};
use crate::accounts::Scope;
use crate::http::answers::image_urls::{Made, make, understand};
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
        "type": "boolean", "description": "An earlier call with this idempotency_key was charged; this one was not.",
    });
    output["properties"]["billing"]["properties"]["credits_charged"]["minimum"] = json!(0);
    Definition {
        name: NAME,
        title: "Create signed image URLs",
        cost: Cost::Credits("1 credit for each URL, charged now; loading them is free until they expire"),
        scope: Some(Scope::ImagesRead),
        limits: "1 to 50 images a call; URLs live 60 seconds to 7 days (ttl_seconds, 1 hour when not given)",
        about: "Makes URLs for web pages and documents that hold no key. Every image is checked before anything is charged, and the \
                whole call is one charge. A picture is rendered at its URL's first load, which may take up to 2 minutes. With `format` \
                `auto` each load is answered in the best format that the browser names; `fit` `contain` and `cover` make exactly the box.",
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
    let Made { mut answer, replayed } = made?;
    answer["replayed"] = replayed.into();
    if replayed {
        answer["billing"]["credits_charged"] = 0.into();
    }
    structured(&answer)
}
