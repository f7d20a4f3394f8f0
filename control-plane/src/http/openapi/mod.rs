//! The OpenAPI 3.1 document of the client API, made from the handlers' own annotations and from
//! what every operation has in common.

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

/// A failure (RFC 9457). It may have more members.
#[derive(Serialize, ToSchema)]
pub struct Problem {
    /// URL of a page that helps: `{base_url}/docs/errors#<status>`.
    #[schema(format = Uri, example = "https://images.example.com/docs/errors#400")]
    r#type: String,
    #[schema(example = "Bad Request")]
    title: String,
    #[schema(minimum = 400, maximum = 599, example = 400)]
    status: i32,
    /// An explanation for people, in one sentence. On 400 it names the parameter.
    #[schema(example = "`year` must be a whole number from 1990 to 2027, not `1989`")]
    detail: String,
    #[schema(example = "0193f6a2-7a3c-7e1b-9d2f-3f0f6f1f8e11")]
    request_id: String,
    /// Stable code of the failure, for programs.
    #[schema(example = "invalid_parameter")]
    code: String,
    /// The parameter or member at fault, on 400.
    #[schema(example = "year")]
    parameter: Option<String>,
    /// The index of the item at fault, in a batch.
    index: Option<i64>,
    /// The balance of the account, on 402.
    balance: Option<i64>,
    /// The credits that the request needs, on 402.
    required_credits: Option<i64>,
    /// The same as `balance`, on 402.
    credits_remaining: Option<i64>,
    /// Links to where more credits can be bought, on 402.
    #[schema(value_type = Option<std::collections::BTreeMap<String, String>>)]
    links: Option<std::collections::BTreeMap<String, String>>,
    /// The key's monthly cap, on 402 because of that cap.
    monthly_cap_credits: Option<i64>,
    /// The credits that the key has spent in this month, on 402 because of the key's monthly cap.
    monthly_cap_spent: Option<i64>,
    /// The time when the limit ends: on 402 because of the key's monthly cap, when the next month
    /// begins; on 429 because of a daily limit, and on 503 `daily_budget_spent`, when the next day
    /// (UTC) begins.
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
        (name = "Images", description = "Images, and signed URLs of images."),
        (name = "Catalog", description = "The vehicles that can be rendered, and how to find the one that is meant."),
        (name = "Feedback", description = "Ratings of images."),
        (name = "Account", description = "Balance, usage, statement and payment pages."),
        (name = "Device login", description = "An API key for a device, which a person approves in a browser."),
        (name = "Telemetry", description = "Events that pages, tools and SDKs report."),
        (name = "Service", description = "Health of the service."),
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

/// Returns the document as JSON for this deployment, with its base URL and the packs that it sells.
pub fn document(base_url: &str, packs: &[Pack]) -> serde_json::Value {
    static TEXT: LazyLock<serde_json::Value> =
        LazyLock::new(|| serde_json::to_value(Document::openapi()).unwrap_or_default());
    let mut document = TEXT.clone();
    document["servers"] = json!([{ "url": base_url }]);
    let credits = packs.iter().map(|pack| pack.credits).collect::<Vec<_>>();
    document["components"]["schemas"]["CheckoutRequest"]["properties"]["credits"]["enum"] = json!(credits);
    document
}

/// Returns one schema of the document by itself, with every reference replaced by what it refers
/// to.
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

/// Adds to the document what no handler should have to repeat.
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

/// Adds the headers of every response, and the body of every failure.
fn complete(operation: &mut Operation) {
    // This is the only body that may be left out. The annotations cannot say so of a body with two
    // forms.
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
        add("X-Request-Id", Type::String, "Id of this request, for support and feedback.");
        if may_be_limited && (is_keyed && status != 401 || status == 429) {
            add("RateLimit-Limit", Type::Integer, "Requests that are allowed in a window of 60 seconds.");
            add("RateLimit-Remaining", Type::Integer, "Requests that are left in this window.");
            add("RateLimit-Reset", Type::Integer, "Seconds until the window ends.");
            add("RateLimit-Policy", Type::String, "The limit and its window, as a structured field.");
            add(
                "RateLimit",
                Type::String,
                "The requests left and the time until the window ends, as a structured field.",
            );
        }
        match status {
            401 => add("WWW-Authenticate", Type::String, "Always `Bearer`."),
            402 => add("Link", Type::String, "Always `</pricing>; rel=payment`."),
            429 | 503 => {
                add("Retry-After", Type::Integer, "Seconds to wait. On 503 it is sent only if a retry may help.")
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
            402 => {
                "Too few credits (`insufficient_credits`), or the key's monthly cap is reached \
                 (`monthly_cap_reached`): stop. A person buys credits or raises the cap."
            }
            403 => "The key lacks a scope, or a signature or a signed URL is not valid.",
            404 => "The catalog does not have the vehicle in that year; `suggestions` lists similar ones.",
            409 => "The request conflicts with another one or with the present state.",
            410 => "The signed URL has been loaded as often as allowed, or is closed because its first load failed.",
            413 => "The body is too large.",
            429 => {
                "Too many requests in this minute, or a daily limit is reached (see `reset_at`); nothing was charged."
            }
            502 => {
                "The render failed; the credit was given back. For an image send the same request later; a signed URL \
                 is closed: create another one with a new `Idempotency-Key`."
            }
            503 => {
                "No capacity in time (`at_capacity`), the day's render budget is spent (`daily_budget_spent`), or a \
                 part of the service is down; nothing was charged, or it is given back."
            }
            _ => "Something went wrong; nothing was charged.",
        }
        .to_owned();
    }
    // A handler whose failures have another form describes that form itself.
    if !response.content.is_empty() {
        return;
    }
    let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    response.content.insert("application/problem+json".to_owned(), problem.into());
}
