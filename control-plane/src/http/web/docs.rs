//! `GET /openapi.json` and `GET /docs`: the OpenAPI document, and the same document as a page to
//! read, without a script.

use super::pages;
use super::visit::PageSession;
use crate::app::App;
use crate::http::error::Problem;
use crate::http::openapi;
use crate::plural;
use axum::extract::State;
use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::{Arc, OnceLock};

pub async fn document(State(app): State<App>) -> Response {
    // Tools that run in browsers read the document from other origins.
    let headers = [(CACHE_CONTROL, "public, max-age=300"), (ACCESS_CONTROL_ALLOW_ORIGIN, "*")];
    (headers, Json(openapi::document(&app.base_url, &app.config.prices.packs))).into_response()
}

/// The part of the page that is the same for everybody. It is made once for a router, at the first
/// request, because that takes some milliseconds.
#[derive(Debug, Clone, Default)]
pub struct Made(Arc<OnceLock<String>>);

#[derive(Serialize)]
struct Page<'a> {
    /// The reference as HTML.
    reference: &'a str,
}

pub async fn get(
    State(app): State<App>,
    Extension(Made(made)): Extension<Made>,
    visit: PageSession,
) -> Result<Response, Problem> {
    let reference = match made.get() {
        Some(reference) => reference,
        None => {
            let document = openapi::document(&app.base_url, &app.config.prices.packs);
            let reference = pages::fragment("reference.html", &ApiReference::of(&document, &app.base_url))?;
            made.get_or_init(|| reference)
        }
    };
    Ok(visit.page("docs.html", &Page { reference }))
}

#[derive(Debug, Serialize)]
struct ApiReference {
    title: String,
    version: String,
    base_url: String,
    groups: Vec<OperationGroup>,
    schemas: Vec<Schema>,
}

/// The operations of one tag.
#[derive(Debug, Serialize)]
struct OperationGroup {
    name: String,
    description: String,
    operations: Vec<OperationDoc>,
}

#[derive(Debug, Serialize)]
struct OperationDoc {
    id: String,
    method: String,
    path: String,
    summary: String,
    description: Vec<Span>,
    /// Access that a caller needs: a key with a scope, or nothing.
    access: String,
    parameters: Vec<Field>,
    body: Option<BodyDoc>,
    responses: Vec<ResponseDoc>,
}

#[derive(Debug, Serialize)]
struct BodyDoc {
    description: Vec<Span>,
    kind: TypeDoc,
    example: Option<String>,
}

#[derive(Debug, Serialize)]
struct ResponseDoc {
    status: String,
    description: Vec<Span>,
    kinds: Vec<(String, TypeDoc)>,
}

#[derive(Debug, Serialize)]
struct Schema {
    name: String,
    description: Vec<Span>,
    fields: Vec<Field>,
    kind: TypeDoc,
}

/// A parameter of an operation, or a member of an object.
#[derive(Debug, Serialize)]
struct Field {
    name: String,
    place: String,
    required: bool,
    deprecated: bool,
    kind: TypeDoc,
    description: Vec<Span>,
}

/// A type in words, with the name of the schema that it links to.
#[derive(Debug, Serialize)]
struct TypeDoc {
    text: String,
    schema: Option<String>,
}

/// A piece of the document's text: words, or code between backticks.
#[derive(Debug, Serialize)]
struct Span {
    text: String,
    code: bool,
}

impl ApiReference {
    fn of(document: &Value, base_url: &str) -> Self {
        let schemas = &document["components"]["schemas"];
        let groups = items(&document["tags"]).iter().map(|tag| OperationGroup {
            name: text(&tag["name"]),
            description: text(&tag["description"]),
            operations: operations(document, &tag["name"]),
        });
        ApiReference {
            title: text(&document["info"]["title"]),
            version: text(&document["info"]["version"]),
            base_url: base_url.to_owned(),
            groups: groups.filter(|group| !group.operations.is_empty()).collect(),
            schemas: members(schemas)
                .map(|(name, schema)| Schema {
                    name: name.clone(),
                    description: spans(&schema["description"]),
                    fields: fields(schema),
                    kind: kind(schema),
                })
                .collect(),
        }
    }
}

/// Ids of the operations that most readers look for. They come first, and the others follow by
/// path.
const FIRST: [&str; 5] = ["getCarImage", "headCarImage", "createImageUrls", "loadDelivery", "checkDelivery"];

fn operations(document: &Value, tag: &Value) -> Vec<OperationDoc> {
    let mut found = Vec::new();
    for (path, item) in members(&document["paths"]) {
        for method in ["get", "head", "post"] {
            let operation = &item[method];
            if !items(&operation["tags"]).contains(tag) {
                continue;
            }
            let parameters = items(&operation["parameters"]).iter().map(|parameter| Field {
                name: text(&parameter["name"]),
                place: text(&parameter["in"]),
                required: parameter["required"] == true,
                deprecated: parameter["deprecated"] == true || parameter["schema"]["deprecated"] == true,
                kind: kind(&parameter["schema"]),
                description: spans(&parameter["description"]),
            });
            found.push(OperationDoc {
                id: text(&operation["operationId"]),
                method: method.to_uppercase(),
                path: path.clone(),
                summary: text(&operation["summary"]),
                description: spans(&operation["description"]),
                access: access(&operation["security"]),
                parameters: parameters.collect(),
                body: body(document, &operation["requestBody"]),
                responses: members(&operation["responses"])
                    .map(|(status, answer)| ResponseDoc {
                        status: status.clone(),
                        description: spans(&answer["description"]),
                        kinds: members(&answer["content"])
                            .map(|(media, content)| (media.clone(), kind(&content["schema"])))
                            .collect(),
                    })
                    .collect(),
            });
        }
    }
    found.sort_by_key(|operation| FIRST.iter().position(|id| *id == operation.id).unwrap_or(FIRST.len()));
    found
}

fn body(document: &Value, body: &Value) -> Option<BodyDoc> {
    let schema = &body["content"]["application/json"]["schema"];
    if schema.is_null() {
        return None;
    }
    Some(BodyDoc { description: spans(&body["description"]), kind: kind(schema), example: example(document, schema) })
}

/// Returns the first example of the schema, or of a schema that it is made of.
fn example(document: &Value, schema: &Value) -> Option<String> {
    let schema = match name_of(schema) {
        Some(name) => &document["components"]["schemas"][name],
        None => schema,
    };
    if let [example, ..] = items(&schema["examples"]) {
        return serde_json::to_string_pretty(example).ok();
    }
    ["oneOf", "anyOf"].iter().flat_map(|way| items(&schema[way])).find_map(|part| example(document, part))
}

fn access(security: &Value) -> String {
    let ways = items(security);
    let scopes = ways.iter().flat_map(members).flat_map(|(_, scopes)| items(scopes)).map(text).next();
    match scopes {
        Some(scope) if ways.iter().any(|way| way.as_object().is_some_and(Map::is_empty)) => {
            format!("Requires a grant, or an API key with the scope {scope}")
        }
        Some(scope) => format!("Requires an API key with the scope {scope}"),
        None => "Requires no key".to_owned(),
    }
}

/// Returns the members of an object. For an object made of several parts, returns those of all
/// parts.
fn fields(schema: &Value) -> Vec<Field> {
    let required = items(&schema["required"]);
    let own = members(&schema["properties"]).map(|(name, member)| Field {
        name: name.clone(),
        place: String::new(),
        required: required.iter().any(|required| required == name),
        deprecated: member["deprecated"] == true,
        kind: kind(member),
        description: spans(&member["description"]),
    });
    own.chain(items(&schema["allOf"]).iter().flat_map(fields)).collect()
}

/// Describes a schema in a few words.
fn kind(schema: &Value) -> TypeDoc {
    if let Some(name) = name_of(schema) {
        return TypeDoc { text: name.to_owned(), schema: Some(name.to_owned()) };
    }
    let plain = |text: String| TypeDoc { text, schema: None };
    let choices = items(&schema["enum"]);
    if !choices.is_empty() {
        return plain(choices.iter().map(text).collect::<Vec<_>>().join(", "));
    }
    for way in ["oneOf", "anyOf"] {
        let parts: Vec<TypeDoc> = items(&schema[way]).iter().filter(|part| part["type"] != "null").map(kind).collect();
        if let [one] = parts.as_slice() {
            return TypeDoc { text: one.text.clone(), schema: one.schema.clone() };
        }
        if !parts.is_empty() {
            return plain(parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(" or "));
        }
    }
    // `null` beside another type only says that the member may be absent.
    let name = match &schema["type"] {
        Value::Array(types) => types.iter().find(|kind| *kind != "null").map(text).unwrap_or_default(),
        kind => text(kind),
    };
    if name == "array" {
        let item = kind(&schema["items"]);
        return TypeDoc { text: format!("list of {}", item.text), schema: item.schema };
    }
    let bound = |name: &str| schema[name].as_f64();
    let length = |name: &str| schema[name].as_u64();
    let format = schema["format"].as_str().filter(|format| !format.starts_with("int") && *format != "double");
    plain(match (name.as_str(), bound("minimum"), bound("maximum"), length("maxLength")) {
        ("string", _, _, Some(most)) => format!("string, at most {}", plural::count(most, "character")),
        ("string", ..) => format.map_or("string".to_owned(), |format| format!("string ({format})")),
        (name, Some(least), Some(most), _) => format!("{name}, {least} to {most}"),
        (name, Some(least), None, _) => format!("{name}, at least {least}"),
        ("", ..) => "object".to_owned(),
        (name, ..) => name.to_owned(),
    })
}

fn name_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/components/schemas/")
}

fn spans(value: &Value) -> Vec<Span> {
    let text = value.as_str().unwrap_or_default();
    let part = |(place, text): (usize, &str)| Span { text: text.to_owned(), code: place % 2 == 1 };
    text.split('`').enumerate().map(part).filter(|span| !span.text.is_empty()).collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_in_words() {
        for (schema, words) in [
            (json!({ "type": "string" }), "string"),
            (json!({ "type": ["string", "null"], "format": "uuid" }), "string (uuid)"),
            (json!({ "type": "string", "maxLength": 80 }), "string, at most 80 characters"),
            (json!({ "type": "integer", "format": "int64", "minimum": 1, "maximum": 5 }), "integer, 1 to 5"),
            (json!({ "type": "string", "enum": ["a", "b"] }), "a, b"),
            (json!({ "type": "array", "items": { "$ref": "#/components/schemas/Pack" } }), "list of Pack"),
            (json!({ "oneOf": [{ "type": "null" }, { "$ref": "#/components/schemas/Pack" }] }), "Pack"),
        ] {
            assert_eq!(kind(&schema).text, words, "{schema}");
        }
    }

    #[test]
    fn code_stands_between_backticks() {
        let spans = spans(&json!("Send `key`, or `mode=cached`."));
        let code: Vec<&str> = spans.iter().filter(|span| span.code).map(|span| span.text.as_str()).collect();
        assert_eq!((spans.len(), code), (5, vec!["key", "mode=cached"]));
    }
}
