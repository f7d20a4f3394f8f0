//! The tools and the prompt that ask the client for input by their result. Every round is a
//! separate call.

use crate::Context;
use crate::values::{complete, one_field, question, text, typed};
use hmac::{Hmac, KeyInit, Mac};
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, InputRequiredResult};
use serde_json::{Value, json};
use sha2::Sha256;

/// Seals state with a MAC, so that it is accepted only as it was sent.
fn sealed(state: &str) -> String {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(b"a key of the fixture").unwrap_or_else(|_| unreachable!("any length is a key"));
    mac.update(state.as_bytes());
    format!("{state}.{}", hex::encode(mac.finalize().into_bytes()))
}

fn opened(given: &str) -> Result<&str, ErrorData> {
    let state = given.rsplit_once('.').map(|(state, _)| state).filter(|state| sealed(state) == given);
    state.ok_or_else(|| ErrorData::invalid_params("requestState was changed on the way", None))
}

pub fn asks(requests: Value, state: Option<&str>) -> Result<InputRequiredResult, ErrorData> {
    let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
    if let Some(state) = state {
        result["requestState"] = sealed(state).into();
    }
    typed(result)
}

pub fn elicitation(params: Value) -> Value {
    json!({ "method": "elicitation/create", "params": params })
}

fn sampling(words: &str, tokens: u32) -> Value {
    json!({ "method": "sampling/createMessage", "params": question(words, tokens) })
}

/// Answers a call of a tool that asks the client for input by its result. Every round is a separate
/// call. Returns `None` for any other tool.
pub fn in_rounds(request: &CallToolRequestParams, context: &Context) -> Result<Option<CallToolResponse>, ErrorData> {
    let given = json!(request.input_responses);
    let has = |name: &str| given[name].is_object();
    let state = request.request_state.as_deref().map(opened).transpose()?;
    let roots = || json!({ "method": "roots/list", "params": {} });
    let done = |words: String| complete::<CallToolResult>(text(words)).map(|result| Some(result.into()));
    let more = |requests: Value, state: Option<&str>| asks(requests, state).map(|result| Some(result.into()));
    match &*request.name {
        "test_input_required_result_elicitation" => match given["user_name"]["content"]["name"].as_str() {
            Some(name) => done(format!("Hello, {name}!")),
            None => more(json!({ "user_name": elicitation(one_field("What is your name?", "name", "string")) }), None),
        },
        "test_input_required_result_sampling" => match has("capital_question") {
            true => done(format!("The model said: {}", given["capital_question"]["content"])),
            false => more(json!({ "capital_question": sampling("What is the capital of France?", 100) }), None),
        },
        "test_input_required_result_list_roots" => match has("client_roots") {
            true => done(format!("The roots are: {}", given["client_roots"]["roots"])),
            false => more(json!({ "client_roots": roots() }), None),
        },
        "test_input_required_result_request_state" => match (has("confirm"), state) {
            (true, Some("confirming")) => done("state-ok".to_owned()),
            _ => more(
                json!({ "confirm": elicitation(one_field("Please confirm", "ok", "boolean")) }),
                Some("confirming"),
            ),
        },
        "test_input_required_result_tampered_state" => match (has("confirm"), state) {
            (true, Some("untouched")) => done("state-ok".to_owned()),
            _ => {
                more(json!({ "confirm": elicitation(one_field("Please confirm", "ok", "boolean")) }), Some("untouched"))
            }
        },
        "test_input_required_result_multiple_inputs" => {
            match has("user_name") && has("greeting") && has("client_roots") {
                true => done("All three were answered.".to_owned()),
                false => {
                    let name = elicitation(one_field("What is your name?", "name", "string"));
                    let requests = json!({ "user_name": name, "greeting": sampling("Generate a greeting", 50), "client_roots": roots() });
                    more(requests, Some("three"))
                }
            }
        }
        "test_input_required_result_multi_round" => match state {
            Some("round 1") if has("step1") => {
                let step = elicitation(one_field("Step 2: What is your favorite color?", "color", "string"));
                more(json!({ "step2": step }), Some("round 2"))
            }
            Some("round 2") if has("step2") => done("Both steps were answered.".to_owned()),
            _ => more(
                json!({ "step1": elicitation(one_field("Step 1: What is your name?", "name", "string")) }),
                Some("round 1"),
            ),
        },
        // This tool asks only for what the client declared that it can do.
        "test_input_required_result_capabilities" => {
            let can = json!(context.client_capabilities());
            let mut requests = json!({});
            if can["sampling"].is_object() {
                requests["sample"] = sampling("What is the capital of France?", 100);
            }
            if can["elicitation"].is_object() {
                requests["ask"] = elicitation(one_field("What is your name?", "name", "string"));
            }
            match has("sample") || has("ask") || requests == json!({}) {
                true => done("Nothing more is needed.".to_owned()),
                false => more(requests, None),
            }
        }
        _ => Ok(None),
    }
}
