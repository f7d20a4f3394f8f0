//! `get_car_image`: one image to look at, small enough for a model's context, and its signed URL on
//! request.

use super::call::Call;
use super::definition::{Cost, Definition, idempotency_key};
use crate::accounts::Scope;
use crate::accounts::caller::Caller;
use crate::app::App;
use crate::delivery::urls::{LoadRefusal, Terms, UrlOrder};
use crate::delivery::{DeliveryOutcome, ImageRequest, KeyedRequest, Order, ReadyImage, ReplayedAnswer};
use crate::http::answers::image_urls::ImageUrlsResponse;
use crate::http::answers::vehicle_params::VehicleParams;
use crate::http::delivery_problem::{problem, refused_address, vehicle_not_found};
use crate::http::error::Problem;
use crate::http::openapi;
use crate::http::openapi::requests::picture;
use crate::ledger::idempotency::StoredAnswer;
use crate::ledger::{Credits, ImageSource};
use crate::named_requests::{NamedRequest, RequestStart, kept_or_given_up};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cyclorama_core::{Fit, Format, Framing};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

const NAME: &str = "get_car_image";

/// Longest side of the image that is shown, in pixels. Models scale images down to little more.
const SIDE_PX_MAX: u32 = 512;
/// Maximum size of the image that is shown, in bytes.
const BYTES_MAX: usize = 200_000;

pub fn definition() -> Definition {
    let mut input = json!(picture().build());
    for (name, rule) in [
        ("width", "Width of the box that the image fits into, in pixels. Above 512 only with `signed_url`."),
        ("height", "Height of the box that the image fits into, in pixels. Above 512 only with `signed_url`."),
        ("size", "Name for a width of 256, 512, 768 or 1024 px. Above 512 only with `signed_url`."),
        ("format", "Format of the image at the signed URL. Default: `png`. The image that is shown is always `webp`."),
    ] {
        input["properties"][name]["description"] = rule.into();
    }
    input["properties"]["signed_url"] = json!({
        "type": "boolean", "default": false,
        "description": "If true, also returns a URL for web pages that contains no key (1 hour, any number of loads), \
                        for the same credit.",
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
            "1 credit for each image, given back if its render fails; 0 if a call with this idempotency_key was \
             charged before",
        ),
        scope: Some(Scope::ImagesRead),
        limits: "shown as WebP of at most 512 px and 200 kB; an image that nobody requested before takes up to 2 \
                 minutes",
        about: "Shows a studio render of a vehicle on a transparent background. It is not a photograph and may be \
                wrong in detail. Make, model and year must be in the catalog: use resolve_vehicle first if they come \
                from free text. `color` is a preset or six hex digits, with `finish`; `fit`, `trim`, `padding`, \
                `background`, `shadow` and `scale` say how the image is framed.",
        input,
        output: json!({
            "type": "object",
            "properties": {
                "vehicle": vehicle,
                "image": {
                    "type": "object",
                    "description": "The image that is shown.",
                    "properties": {
                        "media_type": text("Always image/webp."), "width": whole(1, "In pixels."), "height": whole(1, "In \
                                                                                                                       pixels."),
                        "bytes": whole(1, "Size in bytes."),
                    },
                    "required": ["media_type", "width", "height", "bytes"],
                },
                "source": { "type": "string", "enum": ["cache", "generated"], "description": "`generated` for a cold \
                                                                                              render, otherwise \
                                                                                              `cache`. Both cost the \
                                                                                              same." },
                "credits_charged": whole(0, "Credits that this call was charged."),
                "credits_remaining": whole(0, "The balance after the charge."),
                "replayed": { "type": "boolean", "description": "True if an earlier call with this idempotency_key \
                                                                 was charged, and this one was not." },
                "signed_url": {
                    "type": "object",
                    "description": "Present only if it was requested.",
                    "properties": {
                        "url": { "type": "string", "format": "uri" }, "expires_at": { "type": "string", "format": "date-time" },
                        "max_uses": whole(0, "Maximum number of loads; 0 for any number."),
                    },
                    "required": ["url", "expires_at", "max_uses"],
                },
                "request_id": text("Id of this image for rate_image."),
            },
            "required": ["vehicle", "image", "source", "credits_charged", "credits_remaining", "replayed", "request_id"],
        }),
        is_read_only: false,
    }
}

pub async fn call(mut call: Call<'_>) -> Result<CallToolResult, Problem> {
    call.caller.require(Scope::ImagesRead)?;
    let key = call.take_idempotency_key()?;
    let wants_url = call.arguments.remove("signed_url") == Some(Value::Bool(true));
    let request = ImageRequest::parse_json(&call.arguments)
        .map_err(|wrong| Problem::bad_parameter(&wrong.parameter, wrong.detail))?;
    if !wants_url {
        refuse_what_is_not_shown(&call.arguments, &request)?;
    }
    let order =
        Order::find(&call.app.catalog.now(), &call.app.missing_vehicles, &request).map_err(vehicle_not_found)?;
    let order = if wants_url { order } else { in_webp(&order) };
    let fingerprint = call.fingerprint(&json!({ "image": order.meaning(), "signed_url": wants_url }));
    let named = NamedRequest { endpoint: NAME, key: key.as_deref(), fingerprint: &fingerprint, is_kept_whole: false };
    match wants_url {
        true => with_signed_url(call, &order, named).await,
        false => shown(call, &order, named).await,
    }
}

/// Refuses a larger image, or another format, without a signed URL: it would be charged but not
/// seen.
fn refuse_what_is_not_shown(arguments: &Map<String, Value>, request: &ImageRequest) -> Result<(), Problem> {
    if arguments.contains_key("format") && request.format != Format::Webp.into() {
        return Err(Problem::bad_parameter(
            "format",
            "`format`: the image is shown as webp; other formats need `signed_url`: true.",
        ));
    }
    let side = ["width", "height", "size"].into_iter().find(|name| arguments.contains_key(*name));
    let (width, height) = request.frame.size_px();
    match side.filter(|_| width.max(height) > SIDE_PX_MAX) {
        None => Ok(()),
        Some(name) => {
            let rule = format!(
                "`{name}`: the image is shown with at most {SIDE_PX_MAX} px; a larger one needs `signed_url`: true."
            );
            Err(Problem::bad_parameter(name, rule))
        }
    }
}

/// Returns the order in the format that is shown.
fn in_webp(order: &Order) -> Order {
    Order { format: Format::Webp, asked_format: Format::Webp.into(), ..order.clone() }
}

/// Returns the order of the copy that is shown.
fn as_shown(order: &Order) -> Order {
    let side = |side: Option<u32>| Some(side.unwrap_or(SIDE_PX_MAX).min(SIDE_PX_MAX));
    let (width, height) = match order.frame {
        // The image fills its box exactly, so its copy fills a smaller box of the same shape.
        Framing { fit: Fit::Contain | Fit::Cover, width: Some(width), height: Some(height), .. } => {
            let longer = width.max(height).max(SIDE_PX_MAX);
            let smaller = |side: u32| Some((side * SIDE_PX_MAX / longer).max(1));
            (smaller(width), smaller(height))
        }
        Framing { width, height, .. } => (side(width), side(height)),
    };
    let frame = Framing { width, height, ..order.frame };
    Order { frame, ..in_webp(order) }
}

/// Answers with the image alone. It is charged as by `GET /api/v1/images/car`.
async fn shown(call: Call<'_>, order: &Order, named: NamedRequest<'_>) -> Result<CallToolResult, Problem> {
    let Call { app, caller, request_id, .. } = call;
    let attempt = match app.named_requests.begin(caller, named).await? {
        RequestStart::Ours(attempt) => attempt,
        RequestStart::Done(kept) => {
            let told: ReplayedAnswer = read_kept(&kept)?;
            let receipt = Receipt { remaining: kept.credits_remaining.0, charged: 0, replayed: true, signed_url: None };
            let ready = ready(app, &as_shown(order)).await?.ok_or_else(not_rendered)?;
            return answer(order, &ready, told, receipt);
        }
    };
    let shown = as_shown(order);
    let asked =
        KeyedRequest { bytes_max: Some(BYTES_MAX), attempt: attempt.as_ref(), ..KeyedRequest::for_order(&shown) };
    let delivered = delivered(app, caller, &request_id, asked).await;
    let (ready, source, remaining) = kept_or_given_up(attempt, delivered).await?;
    let receipt = Receipt { remaining, charged: Credits::PER_PICTURE.0, replayed: false, signed_url: None };
    answer(order, &ready, ReplayedAnswer { request_id, source }, receipt)
}

/// Answers with the image and a signed URL of it, for one credit.
///
/// The image is made first, while the credit is on hold. After a failure, or if the client leaves,
/// nothing is charged, and no signed URL remains that nobody knows.
async fn with_signed_url(call: Call<'_>, order: &Order, named: NamedRequest<'_>) -> Result<CallToolResult, Problem> {
    let Call { app, caller, request_id, .. } = call;
    let attempt = match app.named_requests.begin(caller, named).await? {
        RequestStart::Ours(attempt) => attempt,
        RequestStart::Done(kept) => return again_with_signed_url(app, caller, order, &kept, named).await,
    };
    let (orders, terms) = (std::slice::from_ref(order), Terms::usual(&app.config.delivery));
    let unpaid = match app.mint.sign(caller, UrlOrder { request_id: &request_id, orders, terms }).await {
        Ok(unpaid) => unpaid,
        Err(error) => return kept_or_given_up(attempt, Err(problem(app, error))).await,
    };
    let made = json!(ImageUrlsResponse::of(&unpaid.minted, orders, terms, request_id.clone()));
    let shown = as_shown(order);
    let asked = KeyedRequest {
        bytes_max: Some(BYTES_MAX),
        attempt: attempt.as_ref(),
        address: unpaid.with_its_picture(made.to_string()),
        ..KeyedRequest::for_order(&shown)
    };
    let delivered = delivered(app, caller, &request_id, asked).await;
    let (ready, source, remaining) = kept_or_given_up(attempt, delivered).await?;
    let receipt =
        Receipt { remaining, charged: Credits::PER_PICTURE.0, replayed: false, signed_url: Some(signed_url(&made)) };
    answer(order, &ready, ReplayedAnswer { request_id, source }, receipt)
}

/// Repeats the answer to an earlier call with a signed URL.
async fn again_with_signed_url(
    app: &App,
    caller: &Caller,
    order: &Order,
    kept: &StoredAnswer,
    named: NamedRequest<'_>,
) -> Result<CallToolResult, Problem> {
    let made: Value = read_kept(kept)?;
    let shown = as_shown(order);
    let ready = match ready(app, &shown).await? {
        Some(ready) => ready,
        // The image is gone, or it was never made, because an earlier release charged before it was
        // made. A load of the signed URL makes it, as for anybody who opens the URL.
        None => {
            let token = made["data"][0]["url"].as_str().and_then(|url| url.rsplit('/').next()).unwrap_or_default();
            let load_id = made["request_id"].as_str().unwrap_or_default();
            if let Err(refused) = app.addresses.load(token, load_id, None, "").await {
                // The URL's credit was given back, so the same call may be made again.
                if matches!(&refused, LoadRefusal::Consumed)
                    || matches!(&refused, LoadRefusal::Delivery(no) if no.is_failed_render())
                {
                    app.named_requests.forget(caller, named).await?;
                }
                return Err(refused_address(app, refused));
            }
            self::ready(app, &shown).await?.ok_or_else(not_rendered)?
        }
    };
    let told = ReplayedAnswer {
        request_id: made["request_id"].as_str().unwrap_or_default().to_owned(),
        source: ImageSource::Cache,
    };
    let receipt = Receipt {
        remaining: kept.credits_remaining.0,
        charged: 0,
        replayed: true,
        signed_url: Some(signed_url(&made)),
    };
    answer(order, &ready, told, receipt)
}

fn signed_url(made: &Value) -> Value {
    let signed = &made["data"][0];
    json!({ "url": signed["url"], "expires_at": signed["expires_at"], "max_uses": signed["max_uses"] })
}

/// Delivers the image and charges it. Returns its bytes, its source and the balance after the
/// charge.
async fn delivered(
    app: &App,
    caller: &Caller,
    request_id: &str,
    asked: KeyedRequest<'_>,
) -> Result<(ReadyImage, ImageSource, i64), Problem> {
    let delivered = app.deliveries.deliver(caller, request_id, asked).await;
    match delivered.map_err(|error| problem(app, error))? {
        DeliveryOutcome::Image { ready, source, remaining } => Ok((ready, source, remaining.0)),
        // This happens only if validators were sent, and none were.
        DeliveryOutcome::NotModified { .. } => Err(Problem::internal()),
    }
}

/// Returns the bytes of an image that was charged before, to show it again.
async fn ready(app: &App, order: &Order) -> Result<Option<ReadyImage>, Problem> {
    app.pictures.ready_within(order, BYTES_MAX).await.map_err(|error| problem(app, error))
}

fn not_rendered() -> Problem {
    Problem::not_found("not_rendered", "This image has not been rendered yet.")
}

fn read_kept<T: DeserializeOwned>(kept: &StoredAnswer) -> Result<T, Problem> {
    serde_json::from_str(&kept.answer).map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "a stored answer could not be read");
        Problem::internal()
    })
}

/// The cost of a call, as its answer reports it.
struct Receipt {
    remaining: i64,
    charged: i64,
    replayed: bool,
    signed_url: Option<Value>,
}

fn answer(
    order: &Order,
    ready: &ReadyImage,
    told: ReplayedAnswer,
    receipt: Receipt,
) -> Result<CallToolResult, Problem> {
    let (media_type, framed) = (Format::Webp.media_type(), ready.framed);
    let mut answer = json!({
        "vehicle": VehicleParams::from(order),
        "image": { "media_type": media_type, "width": framed.width, "height": framed.height, "bytes": ready.bytes.len() },
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
