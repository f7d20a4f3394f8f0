//! Records the feedback of clients about images.

use crate::accounts::caller::Caller;
use crate::app::App;
use crate::delivery::request::whole;
use crate::delivery::{ImageRequest, Order};
use crate::http::delivery_problem::vehicle_not_found;
use crate::http::error::Problem;
use crate::http::json;
use crate::renders::{Opinion, RatedImage, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

const REQUEST_ID_CHARS_MAX: usize = 128;
const REASON_CHARS_MAX: usize = 500;

/// The members of a body that can name an image without a request
/// id, spelled as in an image request.
const VEHICLE_MEMBERS: [&str; 10] =
    ["make", "model", "vehicle", "year", "body", "view", "color", "colour", "finish", "shadow"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FeedbackBody {
    request_id: Option<String>,
    rating: Option<Value>,
    verdict: Option<String>,
    reason: Option<String>,
    // The members from here on are checked as an image request.
    #[serde(rename = "make")]
    _make: Option<Value>,
    #[serde(rename = "model")]
    _model: Option<Value>,
    #[serde(rename = "vehicle")]
    _vehicle: Option<Value>,
    #[serde(rename = "body")]
    _body: Option<Value>,
    #[serde(rename = "year")]
    _year: Option<Value>,
    #[serde(rename = "view")]
    _view: Option<Value>,
    #[serde(rename = "color")]
    _color: Option<Value>,
    #[serde(rename = "colour")]
    _colour: Option<Value>,
    #[serde(rename = "finish")]
    _finish: Option<Value>,
    #[serde(rename = "shadow")]
    _shadow: Option<Value>,
}

#[derive(Debug, Serialize, ToSchema)]
struct Recorded {
    /// The id of the render.
    #[schema(format = Uuid)]
    asset_id: String,
    recorded: bool,
    /// True if this report put the render into review; otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    flagged: Option<bool>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct FeedbackResponse {
    data: Recorded,
    request_id: String,
}

/// Stores the feedback in the members of a body.
pub async fn record(
    app: &App,
    caller: &Caller,
    members: Map<String, Value>,
    request_id: String,
) -> Result<FeedbackResponse, Problem> {
    let (judged, opinion) = understand(app, caller, members).await?;
    let flagged = app.renders.judge(&caller.account_id, &judged, &opinion, app.clock.now()).await?;
    if flagged {
        tracing::warn!(render_id = judged.render_id, revision = judged.revision, "a render was put into review");
    }
    let data = Recorded { asset_id: judged.render_id, recorded: true, flagged: flagged.then_some(true) };
    Ok(FeedbackResponse { data, request_id })
}

async fn understand(
    app: &App,
    caller: &Caller,
    mut members: Map<String, Value>,
) -> Result<(RatedImage, Opinion), Problem> {
    let body: FeedbackBody = json::fit(members.clone(), "")?;
    members.retain(|name, _| VEHICLE_MEMBERS.contains(&name.as_str()));
    let opinion = opinion(&body)?;
    let judged = match (&body.request_id, members.is_empty()) {
        (Some(id), _) if id.is_empty() || id.chars().count() > REQUEST_ID_CHARS_MAX => {
            let detail = format!("`request_id` must have 1 to {REQUEST_ID_CHARS_MAX} characters.");
            return Err(Problem::bad_parameter("request_id", detail));
        }
        (Some(id), _) => {
            let has = |names: &[&str]| names.iter().all(|name| members.contains_key(*name));
            let order = match has(&["make", "model", "year"]) || has(&["vehicle", "year"]) {
                true => Some(order(app, &members)?),
                false => check_alone(&members).map(|()| None)?,
            };
            by_request(app, caller, id, order.as_ref()).await?
        }
        (None, false) => by_vehicle(app, &order(app, &members)?).await?,
        (None, true) => {
            return Err(Problem::bad_parameter(
                "request_id",
                "Name the image: send `request_id`, or `make`, `model` and `year`.",
            ));
        }
    };
    Ok((judged, opinion))
}

fn opinion(body: &FeedbackBody) -> Result<Opinion, Problem> {
    let wrong_verdict = |_| Problem::bad_parameter("verdict", "`verdict` must be good or bad.");
    let verdict = body.verdict.as_deref().map(str::parse::<Verdict>).transpose().map_err(wrong_verdict)?;
    let wrong_rating = || Problem::bad_parameter("rating", "`rating` must be a whole number from 1 to 5.");
    let rating = match &body.rating {
        Some(rating) => Some(whole(rating).filter(|rating| (1..=5).contains(rating)).ok_or_else(wrong_rating)? as i64),
        None => None,
    };
    if rating.is_none() && verdict.is_none() {
        return Err(Problem::bad_parameter("rating", "Send a `rating` from 1 to 5, or a `verdict` (good or bad)."));
    }
    // PostgreSQL stores no NUL in a text.
    let reason = body.reason.as_ref().map(|reason| reason.replace('\0', ""));
    if reason.as_ref().is_some_and(|reason| reason.chars().count() > REASON_CHARS_MAX) {
        return Err(Problem::bad_parameter(
            "reason",
            format!("`reason` must have at most {REASON_CHARS_MAX} characters."),
        ));
    }
    Ok(Opinion { rating, verdict, reason })
}

fn order(app: &App, members: &Map<String, Value>) -> Result<Order, Problem> {
    let request =
        ImageRequest::parse_json(members).map_err(|wrong| Problem::bad_parameter(&wrong.parameter, wrong.detail))?;
    Order::find(&app.catalog.now(), &app.missing_vehicles, &request).map_err(vehicle_not_found)
}

/// Checks vehicle members that stand beside a request id and do not name a vehicle by themselves:
/// each must still be a valid value.
fn check_alone(members: &Map<String, Value>) -> Result<(), Problem> {
    let mut whole = members.clone();
    let mut missing = vec![("year", Value::from(2000))];
    if !whole.contains_key("vehicle") {
        missing.extend([("make", Value::from("any")), ("model", Value::from("any"))]);
    }
    for (name, any) in missing {
        whole.entry(name).or_insert(any);
    }
    let checked = ImageRequest::parse_json(&whole);
    checked.map(drop).map_err(|wrong| Problem::bad_parameter(&wrong.parameter, wrong.detail))
}

async fn by_vehicle(app: &App, order: &Order) -> Result<RatedImage, Problem> {
    let kept = app.pictures.looks.kept_variant(order).await?;
    let picture = match &kept {
        Some(kept) => app.renders.find(kept).await?,
        None => None,
    };
    let missing = || {
        Problem::not_found("not_rendered", "This image has not been rendered yet.")
            .advise("", "Only an image that get_car_image has shown, or that a signed URL has delivered, can be rated.")
    };
    let picture = picture.ok_or_else(missing)?;
    Ok(RatedImage {
        render_id: picture.render_id,
        revision: picture.revision,
        vehicle_key: kept.map_or_else(|| order.variant.vehicle_key(), |kept| kept.vehicle_key()),
        view: order.variant.view.to_string(),
        color: order.variant.paint.to_string(),
    })
}

/// Returns the image of a request id. `order` selects one if the request made several.
async fn by_request(app: &App, caller: &Caller, id: &str, order: Option<&Order>) -> Result<RatedImage, Problem> {
    let mut candidates = match id.contains('\0') {
        true => Vec::new(),
        false => app.renders.judged_by_request(&caller.account_id, id).await?,
    };
    if candidates.is_empty() && !id.contains('\0') {
        candidates = minted(app, caller, id).await?;
    }
    if let Some(order) = order {
        let kept = app.pictures.looks.kept_variant(order).await?;
        candidates.retain(|judged| kept.as_ref().is_some_and(|kept| judged.shows(kept)));
    }
    let mut candidates = candidates.into_iter();
    let missing = || {
        Problem::not_found("unknown_request", "No image was delivered to this account with this `request_id`.")
            .advise("", "Use the `request_id` in the answer of get_car_image or create_car_image_urls.")
    };
    let judged = candidates.next().ok_or_else(missing)?;
    if candidates.next().is_some() {
        let detail = "This `request_id` made several URLs: send `make`, `model`, `year`, `view`, `color`, `finish` \
                      and `shadow` as well.";
        return Err(Problem::bad_parameter("request_id", detail));
    }
    Ok(judged)
}

/// Returns the images of the signed URLs that a request made, as far as they are rendered.
async fn minted(app: &App, caller: &Caller, id: &str) -> Result<Vec<RatedImage>, Problem> {
    let mut judged: Vec<RatedImage> = Vec::new();
    for (key, view, paint) in app.renders.minted_by_request(&caller.account_id, id).await? {
        let (Ok(key), Ok(view), Ok(paint)) = (key.parse(), view.parse(), paint.parse()) else { continue };
        let request = ImageRequest::of_stored(&key, view, paint);
        let Some(order) = Order::stored(&app.catalog.now(), &key, &request) else { continue };
        if let Ok(picture) = by_vehicle(app, &order).await
            && judged.iter().all(|other| other.render_id != picture.render_id)
        {
            judged.push(picture);
        }
    }
    Ok(judged)
}
