//! The OpenAPI 3.1 document of the client API, made from the handlers' own annotations, and what every operation has in common.

pub mod requests;

use super::auth::device;
use super::legacy;
use super::v1::{account, billing, delivery, events, feedback, image_urls, images, vehicles};
use crate::config::prices::Pack;
use serde::Serialize;
use serde_json::json;
use std::sync::LazyLock;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, HeaderBuilder, Ref, RefOr, Required, Response};
use utoipa::{Modify, OpenApi, ToSchema};

/// A failure (RFC 9457). More members may follow.
#[derive(Serialize, ToSchema)]
pub struct Problem {
    /// `{base_url}/docs/errors#<status>`: a page that helps.
    #[schema(format = Uri, example = "https://images.example.com/docs/errors#400")]
    r#type: String,
    #[schema(example = "Bad Request")]
    title: String,
    #[schema(minimum = 400, maximum = 599, example = 400)]
    status: i32,
    /// A sentence for people; names the parameter on 400.
    #[schema(example = "`year` is a whole number from 1990 to 2027, not `1989`")]
    detail: String,
    #[schema(example = "0193f6a2-7a3c-7e1b-9d2f-3f0f6f1f8e11")]
    request_id: String,
    /// Stable, for programs.
    #[schema(example = "invalid_parameter")]
    code: String,
    /// On 400: the parameter or member at fault.
    #[schema(example = "year")]
    parameter: Option<String>,
    /// In a batch: the item at fault.
    index: Option<i64>,
    /// On 402: the balance.
    balance: Option<i64>,
    /// On 402: what the request needs.
    required_credits: Option<i64>,
    /// On 402: the balance.
    credits_remaining: Option<i64>,
    /// On 402: where to buy more.
    #[schema(value_type = Option<std::collections::BTreeMap<String, String>>)]
    links: Option<std::collections::BTreeMap<String, String>>,
    /// On 402 because of the key's monthly cap: the cap.
    monthly_cap_credits: Option<i64>,
    /// On 402 because of the key's monthly cap: what the key has taken in this month.
    monthly_cap_spent: Option<i64>,
    /// On 503: when the budget of the day begins anew; on 402 because of the key's monthly cap: when the next month begins.
    #[schema(format = DateTime)]
    reset_at: Option<String>,
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Cyclorama", version = "2.0.0",
        description = "Studio renders of vehicles, up to 1024 px, on a transparent background: one credit each. Renders are not \
                       manufacturer photography and may contain visual inaccuracies.",
        license(name = "MIT OR Apache-2.0"),
    ),
    tags(
        (name = "Images", description = "Pictures, and signed addresses of pictures."),
        (name = "Catalog", description = "Which vehicles there are, and which one is meant."),
        (name = "Feedback", description = "What clients think of pictures."),
        (name = "Account", description = "Balance, use and statement."),
        (name = "Device login", description = "A key for a device, approved by a person in a browser."),
        (name = "Telemetry", description = "What pages and tools report of themselves."),
        (name = "Service", description = "The service itself."),
    ),
    paths(
        images::car::get, images::car::head, images::options::get, images::resolve::post,
        vehicles::get::get, vehicles::show::get, vehicles::check::post, vehicles::vin::get,
        image_urls::post::post, delivery::get::get, delivery::get::head,
        legacy::car::get, legacy::car::head, feedback::post::post, account::get::get, account::statement::get,
        billing::checkout::post, billing::portal::post,
        device::code::post, device::token::post, events::post::post, super::health::status,
    ),
    components(schemas(Problem)),
    modifiers(&Common),
)]
struct Document;

/// The document as JSON, for this deployment: its address, and the packs it sells.
pub fn document(base_url: &str, packs: &[Pack]) -> serde_json::Value {
    static TEXT: LazyLock<serde_json::Value> =
        LazyLock::new(|| serde_json::to_value(Document::openapi()).unwrap_or_default());
    let mut document = TEXT.clone();
    document["servers"] = json!([{ "url": base_url }]);
    let credits = packs.iter().map(|pack| pack.credits).collect::<Vec<_>>();
    document["components"]["schemas"]["CheckoutRequest"]["properties"]["credits"]["enum"] = json!(credits);
    document
}

/// A shape of the document by itself: what it refers to stands in its place.
pub fn schema(name: &str) -> serde_json::Value {
    let document = document("", &[]);
    inlined(&document["components"]["schemas"][name], &document)
}

fn inlined(schema: &serde_json::Value, document: &serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match schema {
        Value::Object(members) => match members.get("$ref").and_then(Value::as_str) {
            Some(place) => inlined(document.pointer(place.trim_start_matches('#')).unwrap_or(&Value::Null), document),
            None => members.iter().map(|(name, member)| (name.clone(), inlined(member, document))).collect(),
        },
        Value::Array(items) => items.iter().map(|item| inlined(item, document)).collect(),
        plain => plain.clone(),
    }
}

/// What no handler should have to repeat.
struct Common;

impl Modify for Common {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("cyc_...").build();
        components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
        components.add_security_scheme("apiKey", SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("x-api-key"))));
        for item in document.paths.paths.values_mut() {
            for operation in operations(item) {
                complete(operation);
            }
        }
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.head, &mut item.post].into_iter().flatten()
}

/// Headers of every answer, and the body of every failure.
fn complete(operation: &mut Operation) {
    // The one body that may be left out; the annotations cannot say so of a body with two forms.
    if operation.operation_id.as_deref() == Some("startDeviceLogin")
        && let Some(RefOr::T(body)) = &mut operation.request_body
    {
        body.required = Some(Required::False);
    }
    let is_keyed = operation.security.as_ref().is_some_and(|ways| ways.iter().all(|way| json!(way) != json!({})));
    let may_be_limited = operation.responses.responses.contains_key("429");
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        let status: u16 = status.parse().unwrap_or_default();
        let header = |kind, description: &str| {
            let schema = ObjectBuilder::new().schema_type(SchemaType::new(kind)).build();
            RefOr::T(HeaderBuilder::new().description(Some(description)).schema(Some(schema)).build())
        };
        let mut add = |name: &str, kind, description| {
            response.headers.entry(name.to_owned()).or_insert_with(|| header(kind, description));
        };
        add("X-Request-Id", Type::String, "Names this request, for support and feedback.");
        if may_be_limited && (is_keyed && status != 401 || status == 429) {
            add("RateLimit-Limit", Type::Integer, "Requests of a window of 60 s.");
            add("RateLimit-Remaining", Type::Integer, "Requests left in this window.");
            add("RateLimit-Reset", Type::Integer, "Seconds until the window ends.");
            add("RateLimit-Policy", Type::String, "The same window as a structured field.");
            add("RateLimit", Type::String, "The same window as a structured field.");
        }
        match status {
            401 => add("WWW-Authenticate", Type::String, "`Bearer`."),
            402 => add("Link", Type::String, "`</pricing>; rel=payment`."),
            429 | 503 => {
                add("Retry-After", Type::Integer, "Seconds to wait; on 503 only where a short retry is worth it.")
            }
            _ => {}
        }
        if status >= 400 {
            describe_failure(response, status);
        }
    }
}

fn describe_failure(response: &mut Response, status: u16) {
    if response.description.is_empty() {
        response.description = match status {
            400 => "A parameter is missing, out of range or unknown; `detail` and `parameter` name it.",
            401 => "The key is missing, invalid or revoked.",
            402 => "Fewer credits than the request needs, or more than the key may take in this month.",
            403 => "The key lacks a scope, or a signature or address is not good.",
            404 => "Not in the catalog for that year; `suggestions` names what is near.",
            409 => "Something else is in the way.",
            410 => "The address is used up.",
            413 => "The body is too large.",
            429 => "Too many requests in this minute; nothing was charged.",
            502 => "The render failed; the credit was given back.",
            503 => "A part of the service is down, or there is no capacity or budget; nothing was charged, or it is given back.",
            _ => "Something went wrong; nothing was charged.",
        }
        .to_owned();
    }
    // Where a handler's failures have a form of their own they say so.
    if !response.content.is_empty() {
        return;
    }
    let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    response.content.insert("application/problem+json".to_owned(), problem.into());
}
