//! Schemas of requests for the OpenAPI document. They state the rules that `delivery::request`,
//! `delivery::urls` and the handlers check. Enumerations are those that the parsers know.

use crate::delivery::request::{NAME_CHARS_MAX, YEARS};
use cyclorama_core::frame::PADDING_PERCENT_MAX;
use cyclorama_core::{BodyClass, Colour, Finish, Fit, Format, MASTER_SIDE_PX, Scale, SizePreset, View};
use cyclorama_drawings::Likeness;
use std::borrow::Cow;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{
    AllOfBuilder, AnyOfBuilder, ArrayBuilder, Object, ObjectBuilder, OneOfBuilder, Ref, Schema, SchemaType, Type,
};
use utoipa::openapi::{RefOr, Required};
use utoipa::{IntoParams, PartialSchema, ToSchema};

/// Descriptions of width and height.
const WIDTH: &str = "Width of the box that the image fits into, in pixels. The image is never enlarged. Default: 1024.";
const HEIGHT: &str =
    "Height of the box that the image fits into, in pixels. The image is never enlarged. Default: 1024.";

/// Description of the member `max_uses`.
const USES: &str = "Maximum number of loads of each URL; with 0 a URL can be loaded any number of times. A load \
                    counts as soon as the service begins to send the image: chat previews and email scanners load a \
                    URL before its reader does, sometimes twice, and a range request or a download that is broken off \
                    counts in full. Allow at least 3 for URLs that are sent by chat or email. `HEAD` and 304 do not \
                    count.";

/// The query of an image's URL.
pub struct ImageQuery;

/// The query of `/images/car.png`.
pub struct LegacyQuery;

/// One image, as a JSON item.
pub struct ImageRequest;

/// Up to fifty images, and the terms of their signed URLs.
pub struct BatchImageUrlRequest;

/// The body of `POST /api/v1/image-urls`.
pub struct ImageUrlsRequest;

/// The body of `POST /api/v1/feedback`.
pub struct FeedbackRequest;

/// The body of `POST /api/v1/images/resolve`.
pub struct ResolveRequest;

/// The body of `POST /api/v1/vehicles/check`.
pub struct CheckRequest;

/// The body of `POST /api/v1/events`.
pub struct EventsRequest;

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::new(Type::String))
}

fn whole(minimum: i64, maximum: i64) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(SchemaType::new(Type::Integer))
        .minimum(Some(minimum as f64))
        .maximum(Some(maximum as f64))
}

fn one_of(names: impl Iterator<Item = &'static str>) -> ObjectBuilder {
    text().enum_values(Some(names))
}

fn name(example: &str) -> ObjectBuilder {
    // The name must have more than white space. U+0085 counts as white space here, but not in every
    // dialect of regular expressions.
    text().min_length(Some(1)).max_length(Some(NAME_CHARS_MAX)).pattern(Some("[^\\s\\x85]")).examples([example])
}

/// Returns an enumeration of the canonical names and the other names that are accepted.
fn spellings<T: Copy + 'static>(
    all: &'static [T],
    canonical: fn(T) -> &'static str,
    aliases: fn(T) -> &'static [&'static str],
) -> ObjectBuilder {
    let aliases = all.iter().flat_map(move |value| aliases(*value).iter().copied());
    one_of(all.iter().map(move |value| canonical(*value)).chain(aliases))
}

/// Returns the schema of a view as answers name it.
pub fn view() -> Object {
    one_of(View::ALL.iter().map(|view| view.as_str())).build()
}

/// Returns the schema of a colour as answers name it: a preset, or six hex digits.
pub fn color() -> Object {
    let presets = Colour::ALL.iter().map(|colour| colour.as_str()).collect::<Vec<_>>().join("|");
    text().pattern(Some(format!("^({presets}|[0-9a-f]{{6}})$"))).examples(["silver", "1f4e8c"]).build()
}

/// Returns the schema of one of the fifteen preset paints.
pub fn preset_color() -> Object {
    one_of(Colour::ALL.iter().map(|colour| colour.as_str())).build()
}

/// Returns the schema of a format as requests name it.
pub fn asked_format() -> Object {
    one_of(Format::ALL.iter().map(|format| format.as_str()).chain(["auto"])).build()
}

pub fn fit() -> Object {
    one_of(Fit::ALL.iter().map(|fit| fit.as_str())).build()
}

pub fn scale() -> Object {
    one_of(Scale::ALL.iter().map(|scale| scale.as_str())).build()
}

pub fn finish() -> Object {
    one_of(Finish::ALL.iter().map(|finish| finish.as_str())).build()
}

pub fn shadow() -> Object {
    one_of(["on", "off"].into_iter()).build()
}

/// Returns the schema of how like the real vehicle an image is, as answers name it.
pub fn likeness() -> Object {
    one_of(Likeness::ALL.iter().map(|likeness| likeness.as_str())).build()
}

/// Returns the schema of a format as answers name it.
pub fn format() -> Object {
    one_of(Format::ALL.iter().map(|format| format.as_str())).build()
}

/// Returns the schema of a body as answers name it.
pub fn body() -> Object {
    one_of(BodyClass::ALL.iter().map(|body| body.as_str())).build()
}

/// Returns the schema of a vehicle's permanent id.
pub fn vehicle_id() -> Object {
    text().pattern(Some(VEHICLE_ID)).examples(["cyv_0k3jq8z5m2v9t"]).build()
}

/// Returns the parameter `vehicle`, an id in the place of make and model, and the parameter `body`.
fn vehicle_and_body() -> Vec<(&'static str, ObjectBuilder)> {
    let id = text().pattern(Some(VEHICLE_ID)).description(Some(
        "Permanent id of make, model and body, in place of make and model. Every answer that names a vehicle has its \
         id.",
    ));
    let body = text().min_length(Some(1)).max_length(Some(30)).examples(["estate", "convertible"]).description(Some(
        "Body of a model that was sold with several: `sedan` or `saloon`, `hatchback`, `coupe`, `fastback`, \
         `convertible`, `wagon` or `estate`, `suv`, `off-roader`, `pickup`, `van`, `minivan`, `truck`, `bus`, \
         `motorcycle`, `scooter`, `trailer`, `rickshaw`, `other`. Default: the model's usual one. A body that the \
         model did not have in that year is answered with 404, and `bodies` lists those that it had.",
    ));
    vec![("vehicle", id), ("body", body)]
}

/// Returns the schema of a model year that may also be `latest`, the newest year of the model.
fn year_or_latest() -> Schema {
    let latest = one_of(["latest"].into_iter()).description(Some("The model's newest year in the catalog."));
    let either = OneOfBuilder::new().item(year().build()).item(latest.build()).description(Some(YEAR));
    Schema::OneOf(either.build())
}

/// Description of the member and the parameter `year`.
const YEAR: &str = "Model year, 1990 to 2027, or `latest`; the catalog ends in 2026, and a later year is 404.";

const VEHICLE_ID: &str = "^cyv_[0-9a-hjkmnp-tv-z]{13}$";

fn year() -> ObjectBuilder {
    whole(i64::from(*YEARS.start()), i64::from(*YEARS.end())).examples([2024])
}

/// Returns the schema of a side of the image, in pixels.
fn pixels() -> ObjectBuilder {
    whole(1, i64::from(MASTER_SIDE_PX))
}

/// Returns the parameters that every form of an image request has beside make, model and year. The
/// two forms have different names for width and height.
fn choices([width, height]: [&'static str; 2], is_json: bool) -> Vec<(&'static str, ObjectBuilder)> {
    vec![
        (
            "view",
            spellings(View::ALL, View::as_str, View::aliases)
                .description(Some("Camera position. Default: `front-3-4`.")),
        ),
        (
            "color",
            text().pattern(Some(COLOR)).examples(["silver", "grey", "1f4e8c"]).description(Some(
                "Paint: a preset, six hex digits with or without `#` (`1f4e8c`), or the CSS name of a colour. \
                 Default: `silver`.",
            )),
        ),
        (width, pixels().description(Some(WIDTH))),
        (height, pixels().description(Some(HEIGHT))),
        (
            "size",
            one_of(SizePreset::ALL.iter().map(|size| size.as_str())).description(Some(
                "Name for a width of 256, 512, 768 or 1024 px. Ignored if width or height is given.",
            )),
        ),
        (
            "format",
            one_of(
                Format::ALL.iter().flat_map(|format| [&[format.as_str()], format.aliases()].concat()).chain(["auto"]),
            )
            .description(Some(
                "Default: `png`. `auto` is AVIF or WebP if `Accept` names them, otherwise PNG, or JPG if `background` \
                 is a colour.",
            )),
        ),
        (
            "fit",
            spellings(Fit::ALL, Fit::as_str, Fit::aliases).description(Some(
                "`inside` (the default): as large as fits into the box. `contain`: exactly the box, with the whole \
                 vehicle in the middle. `cover`: exactly the box, filled; empty space is cut off first, the vehicle \
                 only if necessary. `contain` and `cover` need width and height; `size` does not replace them.",
            )),
        ),
        (
            "trim",
            match is_json {
                true => ObjectBuilder::new().schema_type(SchemaType::new(Type::Boolean)),
                false => one_of(["true", "false"].into_iter()),
            }
            .description(Some(
                "`true` cuts away the empty margin around the vehicle and its shadow, before the image is fitted into \
                 the box.",
            )),
        ),
        (
            "padding",
            whole(0, i64::from(PADDING_PERCENT_MAX)).description(Some(
                "Space on each side, in percent of the longer side of the trimmed image. The whole fits into the box. \
                 Needs `trim`.",
            )),
        ),
        (
            "background",
            text().pattern(Some(BACKGROUND)).examples(["white", "f4f4f2"]).description(Some(
                "The colour behind the vehicle: `transparent`, `white`, `black`, six hex digits, or the CSS name of a \
                 colour. Default: `transparent`, and `white` for `jpg`.",
            )),
        ),
        ("shadow", one_of(["on", "off"].into_iter()).description(Some("Shadow on the ground. Default: `on`."))),
        ("scale", spellings(Scale::ALL, Scale::as_str, Scale::aliases).description(Some(SCALE))),
        (
            "finish",
            spellings(Finish::ALL, Finish::as_str, Finish::aliases).description(Some(
                "How a custom paint reflects: a colour that is not a preset. Default: `metallic`. 400 with a preset.",
            )),
        ),
    ]
}

const SCALE: &str = "`fill` (the default): each vehicle fills the image. `true`: all vehicles have the same scale, 6.5 mm \
    per pixel at 1024 px, so that their sizes can be compared; a vehicle that is too long for that is shown as with \
    `fill`. `X-Image-Scale` has the millimetres per pixel of the delivered image.";

/// Pattern of a colour: presets, hex digits and names, in any case.
const COLOR: &str = "^(#?[0-9A-Fa-f]{6}|[A-Za-z]{3,20})$";
const BACKGROUND: &str = COLOR;

/// Returns a query parameter with a schema, whose description it repeats.
pub fn query(name: &str, schema: ObjectBuilder, required: bool) -> Parameter {
    let schema = schema.build();
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(if required { Required::True } else { Required::False })
        .description(schema.description.clone())
        .schema(Some(schema))
        .build()
}

/// Returns the parameters of every query for an image: make, model and year, and the choices.
pub fn picture_query() -> Vec<Parameter> {
    let make =
        name("porsche").description(Some("Name or slug of the make. `brand` is another name of this parameter."));
    let latest = text().pattern(Some("^([0-9]{4}|latest)$")).examples(["2024"]);
    let mut parameters = vec![
        query("make", make, false),
        query("model", name("911").description(Some("Name, slug or unique prefix of the model.")), false),
        query("year", latest.description(Some(YEAR)), true),
    ];
    parameters.extend(vehicle_and_body().into_iter().map(|(name, schema)| query(name, schema, false)));
    parameters.extend(choices(["w", "h"], false).into_iter().map(|(name, schema)| query(name, schema, false)));
    parameters
}

impl IntoParams for ImageQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let response = one_of(["image", "url"].into_iter())
            .description(Some("With `url` the answer is JSON with a signed URL in place of the bytes."));
        let mut parameters = picture_query();
        parameters.push(query("response", response, false));
        parameters
    }
}

impl IntoParams for LegacyQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mode = one_of(["cached"].into_iter())
            .description(Some("With `cached` only images that exist are delivered. Free, and never renders."));
        let exp = whole(0, 999_999_999_999)
            .description(Some("With `sig`: the time when the URL expires, in unix seconds, at most 30 days ahead."));
        let sig = text().pattern(Some("^[0-9a-f]{64}$")).description(Some(
            "HMAC-SHA256 of `/images/car.png?<query without sig, sorted by key>` under a partner secret, in \
             lower-case hex.",
        ));
        let key = text()
            .deprecated(Some(utoipa::openapi::Deprecated::True))
            .description(Some("An API key. It is accepted only if the deployment allows keys in URLs."));
        let mut parameters = picture_query();
        parameters.extend([
            query("mode", mode, false),
            query("exp", exp, false),
            query("sig", sig, false),
            query("key", key, false),
        ]);
        parameters
    }
}

/// Returns an object that takes these properties and no others.
fn object(properties: Vec<(&'static str, RefOr<Schema>)>) -> ObjectBuilder {
    properties
        .into_iter()
        .fold(ObjectBuilder::new(), |object, (name, schema)| object.property(name, schema))
        .additional_properties(Some(utoipa::openapi::schema::AdditionalProperties::FreeForm(false)))
}

fn requires(names: &[&str]) -> Schema {
    names.iter().fold(ObjectBuilder::new(), |object, name| object.required(*name)).build().into()
}

fn built(properties: Vec<(&'static str, ObjectBuilder)>) -> Vec<(&'static str, RefOr<Schema>)> {
    properties.into_iter().map(|(name, schema)| (name, schema.build().into())).collect()
}

/// Returns the schema of one image, which has its make only as `make`.
pub fn picture() -> ObjectBuilder {
    let make = name("ford").description(Some("Name or slug of the make."));
    let model = name("mustang").description(Some("Name, slug or unique prefix of the model."));
    let mut properties = vec![("make", make), ("model", model)];
    properties.extend(vehicle_and_body());
    properties.extend(choices(["width", "height"], true));
    let mut properties = built(properties);
    properties.push(("year", year_or_latest().into()));
    object(properties).required("year")
}

impl PartialSchema for ImageRequest {
    fn schema() -> RefOr<Schema> {
        let mut properties = vec![("make", name("ford")), ("model", name("mustang"))];
        properties.push(("brand", name("ford").description(Some("Another name of `make`: send one of the two."))));
        properties.extend(vehicle_and_body());
        properties.extend(choices(["width", "height"], true));
        let mut properties = built(properties);
        properties.push(("year", year_or_latest().into()));
        let fields = object(properties).required("year").build();
        let names = OneOfBuilder::new()
            .item(requires(&["make", "model"]))
            .item(requires(&["brand", "model"]))
            .item(requires(&["vehicle"]));
        let make = Schema::OneOf(names.build());
        AllOfBuilder::new()
            .item(fields)
            .item(make)
            .examples([
                serde_json::json!({ "make": "ford", "model": "mustang", "year": 2024, "color": "red", "width": 512 }),
            ])
            .into()
    }
}

impl ToSchema for ImageRequest {
    fn name() -> Cow<'static, str> {
        "ImageRequest".into()
    }
}

impl PartialSchema for BatchImageUrlRequest {
    fn schema() -> RefOr<Schema> {
        let images = ArrayBuilder::new()
            .items(RefOr::<Schema>::Ref(Ref::from_schema_name("ImageRequest")))
            .min_items(Some(1))
            .max_items(Some(50))
            .build();
        let ttl = whole(60, 604_800).default(Some(3600.into())).description(Some(
            "Lifetime of the URLs in seconds; a value outside 60 to 604800 is 400. If the operator allows less, the \
             nearest allowed value is used without an error, and `expires_at` says so.",
        ));
        let uses = whole(0, 1000).default(Some(0.into())).description(Some(USES));
        let mut properties: Vec<(&str, RefOr<Schema>)> = vec![("images", Schema::from(images).into())];
        properties.extend(built(vec![("ttl_seconds", ttl), ("max_uses", uses)]));
        let image =
            serde_json::json!({ "make": "ford", "model": "mustang", "year": 2024, "format": "webp", "width": 512 });
        object(properties)
            .required("images")
            .examples([serde_json::json!({ "images": [image], "ttl_seconds": 3600, "max_uses": 10 })])
            .into()
    }
}

impl ToSchema for BatchImageUrlRequest {
    fn name() -> Cow<'static, str> {
        "BatchImageUrlRequest".into()
    }
}

impl PartialSchema for ImageUrlsRequest {
    fn schema() -> RefOr<Schema> {
        OneOfBuilder::new()
            .item(RefOr::<Schema>::Ref(Ref::from_schema_name("ImageRequest")))
            .item(RefOr::<Schema>::Ref(Ref::from_schema_name("BatchImageUrlRequest")))
            .into()
    }
}

impl ToSchema for ImageUrlsRequest {
    fn name() -> Cow<'static, str> {
        "ImageUrlsRequest".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((ImageRequest::name().into(), ImageRequest::schema()));
        schemas.push((BatchImageUrlRequest::name().into(), BatchImageUrlRequest::schema()));
    }
}

/// Returns the members of a feedback report. [`FeedbackRequest`] adds which of them belong
/// together.
pub fn feedback_fields() -> ObjectBuilder {
    // A report is about the image before it is framed, so it has no framing.
    let looks = ["view", "color", "finish", "shadow"];
    let looks = choices(["width", "height"], true).into_iter().filter(|(name, _)| looks.contains(name));
    let request_id = text()
        .min_length(Some(1))
        .max_length(Some(128))
        .description(Some("Id of the request that delivered the image, or that made its URL."));
    let mut fields =
        vec![("request_id", request_id), ("make", name("ford")), ("model", name("mustang")), ("year", year())];
    fields.extend([
        ("vehicle", text().pattern(Some(VEHICLE_ID))),
        ("body", text().min_length(Some(1)).max_length(Some(30))),
    ]);
    fields.extend(looks);
    fields.extend([
        ("rating", whole(1, 5).description(Some("1 is the worst; 1 and 2 count as bad."))),
        ("verdict", one_of(["good", "bad"].into_iter())),
        ("reason", text().max_length(Some(500))),
    ]);
    object(built(fields))
}

impl PartialSchema for FeedbackRequest {
    fn schema() -> RefOr<Schema> {
        let fields = feedback_fields();
        let image = AnyOfBuilder::new()
            .item(requires(&["request_id"]))
            .item(requires(&["make", "model", "year"]))
            .item(requires(&["vehicle", "year"]));
        let opinion = AnyOfBuilder::new().item(requires(&["rating"])).item(requires(&["verdict"]));
        AllOfBuilder::new()
            .item(fields.build())
            .item(Schema::AnyOf(image.build()))
            .item(Schema::AnyOf(opinion.build()))
            .examples([
                serde_json::json!({ "request_id": "order-1234", "verdict": "bad", "reason": "the wheels float" }),
            ])
            .into()
    }
}

impl ToSchema for FeedbackRequest {
    fn name() -> Cow<'static, str> {
        "FeedbackRequest".into()
    }
}

impl PartialSchema for CheckRequest {
    fn schema() -> RefOr<Schema> {
        let free = |most: usize| text().max_length(Some(most));
        let mut row = built(vec![
            ("make", free(NAME_CHARS_MAX)),
            ("model", free(NAME_CHARS_MAX)),
            ("body", free(30)),
            (
                "vin",
                free(40).description(Some(
                    "A vehicle identification number (VIN) or its beginning. It is neither logged nor stored.",
                )),
            ),
            (
                "vehicle",
                free(40).description(Some(
                    "Permanent id of a vehicle. Needs `year`, and cannot be used with `make` or `model`.",
                )),
            ),
            ("query", free(200).description(Some("The vehicle in free text."))),
        ]);
        row.push(("year", year_or_latest().into()));
        let rows = ArrayBuilder::new()
            .items(RefOr::<Schema>::from(Schema::from(object(row).build())))
            .min_items(Some(1))
            .max_items(Some(100));
        let example = serde_json::json!({ "vehicles": [
            { "make": "volkswagen", "model": "golf", "year": 2015, "body": "estate" }, { "query": "ford mustang 2020" },
        ] });
        object(vec![("vehicles", Schema::from(rows.build()).into())]).required("vehicles").examples([example]).into()
    }
}

impl ToSchema for CheckRequest {
    fn name() -> Cow<'static, str> {
        "CheckRequest".into()
    }
}

/// Maximum length of free text that names a vehicle, in characters.
pub const QUERY_CHARS_MAX: usize = 200;

/// Maximum length of a make or model beside the free text, in characters.
pub const NARROWING_CHARS_MAX: usize = 60;

/// Returns the members of a request to resolve. [`ResolveRequest`] adds which of them belong
/// together.
pub fn resolve_fields() -> ObjectBuilder {
    let narrows = |what: &str| {
        let description = format!("Narrows the search to this {what}.");
        text().max_length(Some(NARROWING_CHARS_MAX)).description(Some(description))
    };
    let query = text().min_length(Some(1)).max_length(Some(QUERY_CHARS_MAX)).pattern(Some("[^\\s\\x85]"));
    let query = query.description(Some("Description of the image, in any words and order."));
    let vin = text().min_length(Some(1)).max_length(Some(40)).description(Some(
        "In place of `query`: a vehicle identification number (VIN) or its beginning. It is neither logged nor stored.",
    ));
    let year = year()
        .description(Some("Model year, in place of the one in the text. With `vin`: the model year, if it is known."));
    let narrowed = [("make", narrows("make")), ("model", narrows("model"))];
    let properties = [("query", query), ("vin", vin), ("year", year)].into_iter().chain(narrowed);
    object(built(properties.collect()))
}

impl PartialSchema for ResolveRequest {
    fn schema() -> RefOr<Schema> {
        let either = OneOfBuilder::new().item(requires(&["query"])).item(requires(&["vin"]));
        AllOfBuilder::new()
            .item(resolve_fields().build())
            .item(Schema::OneOf(either.build()))
            .examples([serde_json::json!({ "query": "navy blue vw golf 2019 from behind" })])
            .into()
    }
}

impl ToSchema for ResolveRequest {
    fn name() -> Cow<'static, str> {
        "ResolveRequest".into()
    }
}

impl PartialSchema for EventsRequest {
    fn schema() -> RefOr<Schema> {
        use crate::telemetry::event::{EVENT_PATTERN, ID_CHARS_MAX, SOURCES, URL_CHARS_MAX};
        let id = || text().max_length(Some(ID_CHARS_MAX));
        let url = || text().max_length(Some(URL_CHARS_MAX));
        let texts = ObjectBuilder::new()
            .additional_properties(Some(utoipa::openapi::schema::AdditionalProperties::RefOr(text().build().into())));
        let free = ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::Object))
            .additional_properties(Some(utoipa::openapi::schema::AdditionalProperties::FreeForm(true)));
        let event = built(vec![
            ("event", text().pattern(Some(EVENT_PATTERN)).examples(["page_view"])),
            ("source", one_of(SOURCES.iter().copied())),
            ("anonymous_id", id()),
            ("session_id", id()),
            ("properties", free),
            ("url", url().description(Some("Stored without its query and fragment."))),
            ("referrer", url().description(Some("Stored without its query and fragment."))),
            ("utm", texts),
        ]);
        let event =
            event.into_iter().fold(ObjectBuilder::new(), |object, (name, schema)| object.property(name, schema));
        let events = ArrayBuilder::new()
            .items(RefOr::T(Schema::from(event.required("event").build())))
            .min_items(Some(1))
            .max_items(Some(20));
        ObjectBuilder::new()
            .property("events", Schema::from(events.build()))
            .required("events")
            .examples([serde_json::json!({ "events": [{ "event": "page_view", "source": "web", "url": "https://shop.example/cars" }] })])
            .into()
    }
}

impl ToSchema for EventsRequest {
    fn name() -> Cow<'static, str> {
        "EventsRequest".into()
    }
}
