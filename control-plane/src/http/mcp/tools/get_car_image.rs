//! `get_car_image`: one picture to look at, small enough for a model's context, and its signed address where that is wanted.

use super::Call;
use super::definition::{Cost, Definition, idempotency_key};
use crate::accounts::Scope;
use crate::app::App;
use crate::delivery::urls::Refused;
use crate::delivery::{self, Delivered, ImageRequest, Order, Ready, Told, urls};
use crate::http::error::Problem;
use crate::http::openapi;
use crate::http::openapi::requests::picture;
use crate::http::v1::answer::{problem, vehicle_not_found};
use crate::http::v1::delivery::get::refusal;
use crate::http::v1::image_urls::post::{Made, make, understand};
use crate::http::v1::named_request::{Begun, NamedRequest, begin, forget};
use crate::http::v1::vehicle_params::VehicleParams;
use crate::ledger::Source;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cyclorama_core::Format;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

const NAME: &str = "get_car_image";

/// The largest picture shown: what models look at is scaled down to little more.
const SIDE_PX_MAX: u32 = 512;
const BYTES_MAX: usize = 200_000;

pub fn definition() -> Definition {
    let mut input = json!(picture().build());
    for (name, rule) in [
        ("width", "Width of the box the picture fits in, in pixels; above 512 only with `signed_url`."),
        ("height", "Height of the box the picture fits in, in pixels; above 512 only with `signed_url`."),
        ("size", "Shorthand for a width (256, 512, 768, 1024); above 512 only with `signed_url`."),
        ("format", "Of the signed URL's picture, `png` when not given; what is shown is always `webp`."),
    ] {
        input["properties"][name]["description"] = rule.into();
    }
    input["properties"]["signed_url"] = json!({
        "type": "boolean", "default": false,
        "description": "Also give a URL for web pages that holds no key (1 hour, any number of loads), for the same credit.",
    });
    input["properties"]["idempotency_key"] = idempotency_key();
    let vehicle = openapi::schema("VehicleParams");
    let text = |description: &str| json!({ "type": "string", "description": description });
    let whole =
        |least: u32, description: &str| json!({ "type": "integer", "minimum": least, "description": description });
    Definition {
        name: NAME,
        title: "Get a vehicle image",
        cost: Cost::Credits(
            "1 credit for each picture, given back when its render fails; 0 when idempotency_key names a call that was charged",
        ),
        scope: Some(Scope::ImagesRead),
        limits: "shown as WebP of at most 512 px and 200 kB; a picture that nobody asked for before takes up to 2 minutes",
        about: "Shows a studio render of a vehicle on a transparent background. It is not a photograph and may be wrong in detail. Make, \
                model and year must be in the catalog: use resolve_vehicle first when they come from free text.",
        input,
        output: json!({
            "type": "object",
            "properties": {
                "vehicle": vehicle,
                "image": {
                    "type": "object",
                    "description": "The picture that is shown.",
                    "properties": {
                        "media_type": text("Always image/webp."), "width": whole(1, "In pixels."), "height": whole(1, "In pixels."),
                        "bytes": whole(1, "Its size."),
                    },
                    "required": ["media_type", "width", "height", "bytes"],
                },
                "source": { "type": "string", "enum": ["cache", "generated"], "description": "Both cost the same." },
                "credits_charged": whole(0, "By this call."),
                "credits_remaining": whole(0, "The balance after the charge."),
                "replayed": { "type": "boolean", "description": "An earlier call with this idempotency_key was charged; this one was not." },
                "signed_url": {
                    "type": "object",
                    "description": "Only when asked for.",
                    "properties": {
                        "url": { "type": "string", "format": "uri" }, "expires_at": { "type": "string", "format": "date-time" },
                        "max_uses": whole(0, "0: any number of loads."),
                    },
                    "required": ["url", "expires_at", "max_uses"],
                },
                "request_id": text("Names this picture in rate_image."),
            },
            "required": ["vehicle", "image", "source", "credits_charged", "credits_remaining", "replayed", "request_id"],
        }),
        is_read_only: false,
    }
}

pub async fn call(mut call: Call<'_>) -> Result<CallToolResult, Problem> {
    call.caller.require(Scope::ImagesRead)?;
    let key = call.take_idempotency_key()?;
    let body = call.body();
    let named = NamedRequest { endpoint: NAME, key: key.as_deref(), body: &body };
    let wants_url = match call.arguments.remove("signed_url") {
        None => false,
        Some(Value::Bool(wanted)) => wanted,
        Some(_) => return Err(Problem::bad_parameter("signed_url", "`signed_url` is true or false.")),
    };
    let request = ImageRequest::parse_json(&call.arguments)
        .map_err(|wrong| Problem::bad_parameter(&wrong.parameter, wrong.detail))?;
    if !wants_url {
        refuse_what_is_not_shown(&call.arguments, &request)?;
    }
    let order = Order::find(&call.app.catalog.now(), &request).map_err(vehicle_not_found)?;
    match wants_url {
        true => with_signed_url(call, &order, named).await,
        false => shown(call, &as_shown(&order), named).await,
    }
}

/// A larger picture, or one in another format, would be paid for and not be seen.
fn refuse_what_is_not_shown(arguments: &Map<String, Value>, request: &ImageRequest) -> Result<(), Problem> {
    if arguments.contains_key("format") && request.format != Format::Webp {
        return Err(Problem::bad_parameter(
            "format",
            "`format`: the picture is shown as webp; other formats need `signed_url`: true.",
        ));
    }
    let side = ["width", "height", "size"].into_iter().find(|name| arguments.contains_key(*name));
    match side.filter(|_| request.side_px > SIDE_PX_MAX) {
        None => Ok(()),
        Some(name) => {
            let rule = format!(
                "`{name}`: the picture is shown with at most {SIDE_PX_MAX} px; a larger one needs `signed_url`: true."
            );
            Err(Problem::bad_parameter(name, rule))
        }
    }
}

/// The copy of a picture that is shown.
fn as_shown(order: &Order) -> Order {
    Order { format: Format::Webp, side_px: order.side_px.min(SIDE_PX_MAX), ..order.clone() }
}

/// Charged as by `GET /api/v1/images/car`.
async fn shown(call: Call<'_>, order: &Order, named: NamedRequest<'_>) -> Result<CallToolResult, Problem> {
    let Call { app, caller, request_id, .. } = call;
    let attempt = match begin(app, caller, named).await? {
        Begun::Ours(attempt) => attempt,
        Begun::Done(kept) => {
            let told: Told = serde_json::from_str(&kept.answer).map_err(|error| {
                tracing::error!(error = &error as &dyn std::error::Error, "a kept answer cannot be read");
                Problem::internal()
            })?;
            let receipt = Receipt { remaining: kept.credits_remaining.0, charged: 0, replayed: true, signed_url: None };
            return answer(order, copy(app, order).await?, told, receipt);
        }
    };
    let (_, delivered) = delivery::deliver(app, caller, &request_id, order, None, attempt.as_ref()).await;
    let (ready, source, remaining) = match delivered.map_err(|error| problem(app, error))? {
        Delivered::Image { ready, source, remaining } => (ready, source, remaining),
        Delivered::NotModified { .. } => return Err(Problem::internal()),
    };
    if let Some(attempt) = attempt {
        attempt.was_kept();
    }
    let receipt = Receipt { remaining: remaining.0, charged: 1, replayed: false, signed_url: None };
    let ready = small_enough(app, order, ready).await?;
    answer(order, ready, Told { request_id, source }, receipt)
}

/// Charged as by `POST /api/v1/image-urls`; the picture is the address's first load, which is free.
async fn with_signed_url(call: Call<'_>, order: &Order, named: NamedRequest<'_>) -> Result<CallToolResult, Problem> {
    let Call { app, caller, request_id, arguments } = call;
    let asked = understand(app, &Value::Object(arguments))?;
    let (_, made) = make(app, caller, request_id, &asked, named).await;
    let Made { answer: made, replayed } = made?;
    let signed = &made["data"][0];
    let token = signed["url"].as_str().and_then(|url| url.rsplit('/').next()).unwrap_or_default();
    let told = |source| Told { request_id: made["request_id"].as_str().unwrap_or_default().to_owned(), source };
    let loaded = match urls::load(app, token, &told(Source::Cache).request_id, None).await {
        Ok(loaded) => loaded,
        Err(refused) => {
            // Its credit is back: the same call may be made again.
            if matches!(&refused, Refused::Consumed)
                || matches!(&refused, Refused::Delivery(no) if no.is_failed_render())
            {
                forget(app, caller, named).await?;
            }
            return Err(refusal(app, refused));
        }
    };
    let source = loaded.image.map_or(Source::Cache, |(_, source)| source);
    let receipt = Receipt {
        remaining: made["billing"]["credits_remaining"].as_i64().unwrap_or_default(),
        charged: if replayed { 0 } else { 1 },
        replayed,
        signed_url: Some(
            json!({ "url": signed["url"], "expires_at": signed["expires_at"], "max_uses": signed["max_uses"] }),
        ),
    };
    let copied = copy(app, &as_shown(order)).await?;
    answer(order, copied, told(source), receipt)
}

/// The bytes to show of a picture that was paid for.
async fn copy(app: &App, order: &Order) -> Result<(Ready, u32), Problem> {
    let ready = ready(app, order).await?;
    small_enough(app, order, ready).await
}

async fn ready(app: &App, order: &Order) -> Result<Ready, Problem> {
    let missing = || Problem::not_found("not_rendered", "This picture has not been rendered yet.");
    delivery::ready(app, order).await.map_err(|error| problem(app, error))?.ok_or_else(missing)
}

/// The picture, or the largest smaller copy of it that models are to be sent, and its side in pixels.
async fn small_enough(app: &App, order: &Order, mut found: Ready) -> Result<(Ready, u32), Problem> {
    let mut smaller = order.clone();
    while found.bytes.len() > BYTES_MAX {
        // Four bytes a pixel end this at the latest below 224 px.
        smaller.side_px = smaller.side_px * 3 / 4;
        found = ready(app, &smaller).await?;
    }
    Ok((found, smaller.side_px))
}

/// What the call cost.
struct Receipt {
    remaining: i64,
    charged: i64,
    replayed: bool,
    signed_url: Option<Value>,
}

fn answer(
    order: &Order,
    (ready, side_px): (Ready, u32),
    told: Told,
    receipt: Receipt,
) -> Result<CallToolResult, Problem> {
    let media_type = Format::Webp.media_type();
    let mut answer = json!({
        "vehicle": VehicleParams::from(order),
        "image": { "media_type": media_type, "width": side_px, "height": side_px, "bytes": ready.bytes.len() },
        "source": told.source.as_str(),
        "credits_charged": receipt.charged,
        "credits_remaining": receipt.remaining,
        "replayed": receipt.replayed,
        "request_id": told.request_id,
    });
    if let Some(signed_url) = receipt.signed_url {
        answer["signed_url"] = signed_url;
    }
    let mut result = CallToolResult::structured(answer);
    result.content.insert(0, ContentBlock::image(STANDARD.encode(&ready.bytes), media_type));
    Ok(result)
}
