//! Compares operations and types of the client with the service's API document: for each schema, a
//! document with all members and one with the required members are made, and read and written by
//! the type of that name.

use cyclorama_client::types;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Operations for render nodes, which this client does not have.
const LEFT_OUT: &str = "/node/";
/// The request decides how these are read, see `get_vehicles`.
const BY_HAND: [&str; 2] = ["VehiclesResponse", "VehicleList"];

type ReadAndWrite = fn(Value) -> serde_json::Result<Value>;

fn read_and_write<Type: DeserializeOwned + Serialize>(document: Value) -> serde_json::Result<Value> {
    serde_json::to_value(serde_json::from_value::<Type>(document)?)
}

macro_rules! types {
    ($($name:ident),+ $(,)?) => { &[$((stringify!($name), read_and_write::<types::$name>)),+] };
}

const ANSWERED: &[(&str, ReadAndWrite)] = types!(
    Account,
    AccountResponse,
    AutoFormatOption,
    CatalogMake,
    CatalogModel,
    CatalogOptions,
    CatalogRelease,
    CatalogSearchHit,
    CatalogSource,
    CheckResponse,
    CheckedVehicle,
    CheckedVehicles,
    Checkout,
    CheckoutResponse,
    ColorOption,
    DecodedParts,
    DecodedVin,
    DeliveryTtl,
    DeliveryUrl,
    DeviceCodeResponse,
    DeviceTokenResponse,
    DisplayNames,
    EventsResponse,
    ExtractedWords,
    FeedbackResponse,
    FormatOption,
    FrameOptions,
    Health,
    ImageOptions,
    ImageOptionsResponse,
    ImageUrlBilling,
    ImageUrlResponse,
    ImageUrlsResponse,
    KeyView,
    LikenessSpan,
    LimitOptions,
    MakeList,
    MintBilling,
    ModelList,
    ModelYearList,
    ModelsOfIdList,
    MonthlyCap,
    OfferedBody,
    Pack,
    PaddingOptions,
    PaintOptions,
    Portal,
    PortalResponse,
    PriceOptions,
    Pricing,
    Recorded,
    ResolveCandidate,
    ResolveResponse,
    ResolvedParams,
    ResolvedPicture,
    SearchResults,
    ShownGeneration,
    SignedImage,
    SizeOptions,
    StatementLine,
    StatementResponse,
    StoredView,
    Usage30d,
    VehicleOfId,
    VehicleParams,
    VehicleResponse,
    ViewOption,
    VinResponse,
    YearList,
    YearRange,
);

const ASKED: &[(&str, ReadAndWrite)] = types!(ImageRequest, FeedbackRequest, ResolveRequest);

pub async fn check(url: &str, called: &BTreeSet<String>) {
    let document = cyclorama_tests::service::http_client().unwrap().get(format!("{url}/openapi.json")).send().await;
    let document: Value = document.unwrap().json().await.unwrap();
    let schemas = document["components"]["schemas"].as_object().unwrap();

    let mut answered = BTreeSet::new();
    let mut operations = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for operation in methods.as_object().unwrap().values().filter(|_| !path.starts_with(LEFT_OUT)) {
            operations.insert(operation["operationId"].as_str().unwrap().to_owned());
            for (status, answer) in operation["responses"].as_object().unwrap() {
                if status.starts_with('2') {
                    visit(schemas, answer, &mut answered);
                }
            }
        }
    }
    let missed: Vec<&String> = operations.difference(called).collect();
    assert!(missed.is_empty(), "operations that no scenario calls: {missed:?}");
    let known: BTreeSet<String> = ANSWERED.iter().map(|(name, _)| (*name).to_owned()).collect();
    answered.retain(|name| !BY_HAND.contains(&name.as_str()));
    assert_eq!(answered, known, "schemas of answers");

    for (name, read_and_write) in ANSWERED {
        let whole = sample(schemas, &schemas[*name], true);
        assert_eq!(read_and_write(whole.clone()).unwrap(), whole, "{name} with everything");
        read_and_write(sample(schemas, &schemas[*name], false)).unwrap_or_else(|error| panic!("{name}: {error}"));
        for required in schemas[*name]["required"].as_array().into_iter().flatten() {
            let mut less = whole.clone();
            less.as_object_mut().unwrap().remove(required.as_str().unwrap());
            assert!(read_and_write(less).is_err(), "{name} reads without {required}");
        }
    }
    for (name, read_and_write) in ASKED {
        let schema = match schemas[*name]["oneOf"].as_array() {
            Some(ways) => ways.last().unwrap(),
            None => &schemas[*name],
        };
        let whole = sample(schemas, schema, true);
        assert_eq!(read_and_write(whole.clone()).unwrap(), whole, "{name}");
    }
    let event = sample(schemas, &schemas["EventsRequest"]["properties"]["events"]["items"], true);
    assert_eq!(read_and_write::<types::Event>(event.clone()).unwrap(), event);
    let row = sample(schemas, &schemas["CheckRequest"]["properties"]["vehicles"]["items"], true);
    assert_eq!(read_and_write::<types::CheckRow>(row.clone()).unwrap(), row);
    parameters_are_members(&document, schemas);
}

/// Checks that parameters of URLs are members of the request types, except for those that belong to
/// another method or name the key.
fn parameters_are_members(document: &Value, schemas: &Map<String, Value>) {
    let asked = |path: &str, left_out: &[&str]| -> Value {
        let parameters = document["paths"][path]["get"]["parameters"].as_array().unwrap();
        let named = parameters.iter().map(|parameter| {
            let name = match parameter["name"].as_str().unwrap() {
                "If-None-Match" => "if_none_match",
                "X-Request-Id" => "request_id",
                "makeId" => "make_id",
                name => name,
            };
            let value = match name {
                // The value is a text in URLs.
                "trim" => json!(true),
                "year" => json!(2018),
                _ => sample(schemas, &parameter["schema"], true),
            };
            (name.to_owned(), value)
        });
        named.filter(|(name, _)| !left_out.contains(&name.as_str())).collect()
    };
    serde_json::from_value::<types::Picture>(asked("/api/v1/images/car", &["brand", "response"])).unwrap();
    let mut embedded = asked("/images/car.png", &["brand", "key"]);
    let grant: Value = ["mode", "exp", "sig"]
        .into_iter()
        .map(|name| embedded.as_object_mut().unwrap().remove_entry(name).unwrap())
        .collect();
    serde_json::from_value::<types::Grant>(grant).unwrap();
    serde_json::from_value::<types::Picture>(embedded).unwrap();
    serde_json::from_value::<types::VehiclesQuery>(asked("/api/v1/vehicles", &["if_none_match"])).unwrap();
    serde_json::from_value::<types::StatementQuery>(asked("/api/v1/account/statement", &["format"])).unwrap();
}

fn name_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next())
}

/// Collects every schema of which an answer consists.
fn visit(schemas: &Map<String, Value>, value: &Value, found: &mut BTreeSet<String>) {
    if let Some(name) = name_of(value)
        && found.insert(name.to_owned())
    {
        visit(schemas, &schemas[name], found);
    }
    match value {
        Value::Object(members) => members.values().for_each(|item| visit(schemas, item, found)),
        Value::Array(items) => items.iter().for_each(|item| visit(schemas, item, found)),
        _ => {}
    }
}

/// Makes a document of the schema: with every member, or with those that are required.
fn sample(schemas: &Map<String, Value>, schema: &Value, whole: bool) -> Value {
    if let Some(name) = name_of(schema) {
        return sample(schemas, &schemas[name], whole);
    }
    for way in ["oneOf", "anyOf", "allOf"] {
        if let Some(part) = schema[way].as_array().and_then(|ways| ways.iter().find(|part| part["type"] != "null")) {
            return sample(schemas, part, whole);
        }
    }
    if let Some(first) = schema["enum"].as_array().and_then(|choices| choices.first()) {
        return first.clone();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").unwrap(),
        kind => kind,
    };
    match kind.as_str().unwrap_or_default() {
        "string" => json!("x"),
        "integer" => json!(1),
        "number" => json!(0.5),
        "boolean" => json!(true),
        "array" => json!([sample(schemas, &schema["items"], whole)]),
        "object" if schema["additionalProperties"].is_object() => {
            json!({ "x": sample(schemas, &schema["additionalProperties"], whole) })
        }
        "object" => {
            let required: Vec<&Value> = schema["required"].as_array().into_iter().flatten().collect();
            let members = schema["properties"].as_object().into_iter().flatten();
            members
                .filter(|(name, _)| whole || required.iter().any(|required| *required == *name))
                .map(|(name, member)| (name.clone(), sample(schemas, member, whole)))
                .collect()
        }
        other => panic!("`{other}` of {schema}"),
    }
}
