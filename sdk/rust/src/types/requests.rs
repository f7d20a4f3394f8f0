//! Types of requests. `new` takes the required values; the other members are set as needed.

use super::words::{Background, Body, Color, Finish, Fit, Format, Scale, Shadow, SizePreset, View};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The value that stands for a model's newest year.
const LATEST: &str = "latest";

/// The error for a text that is not an [`AskedYear`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a year is a whole number or `{LATEST}`")]
pub struct NoYear;

/// A model year, or the newest that the model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub enum AskedYear {
    Year(i64),
    Latest,
}

impl Default for AskedYear {
    /// Year 0, which the service refuses, because a year is always required.
    fn default() -> Self {
        AskedYear::Year(0)
    }
}

impl From<i64> for AskedYear {
    fn from(year: i64) -> Self {
        AskedYear::Year(year)
    }
}

impl fmt::Display for AskedYear {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskedYear::Year(year) => write!(formatter, "{year}"),
            AskedYear::Latest => formatter.write_str(LATEST),
        }
    }
}

impl FromStr for AskedYear {
    type Err = NoYear;

    fn from_str(text: &str) -> Result<Self, NoYear> {
        match text {
            LATEST => Ok(AskedYear::Latest),
            digits => digits.parse().map(AskedYear::Year).map_err(|_| NoYear),
        }
    }
}

/// A year as documents and URLs have it.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Year(i64),
    Word(Word),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Latest,
}

impl From<Written> for AskedYear {
    fn from(written: Written) -> Self {
        match written {
            Written::Year(year) => AskedYear::Year(year),
            Written::Word(Word::Latest) => AskedYear::Latest,
        }
    }
}

impl From<AskedYear> for Written {
    fn from(year: AskedYear) -> Self {
        match year {
            AskedYear::Year(year) => Written::Year(year),
            AskedYear::Latest => Written::Word(Word::Latest),
        }
    }
}

/// An image request of `get_car_image` and similar methods.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Picture {
    /// Name or slug, as is `model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub make: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// A permanent id of make, model and body, in place of `make` and `model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vehicle: Option<String>,
    pub year: AskedYear,
    /// The model's usual body if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<View>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Color>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub w: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub h: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<SizePreset>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
    /// True if the image is trimmed to its visible part before it is fitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<bool>,
    /// Percentage of the longer side of the area that `trim` cuts out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub padding: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<Background>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow: Option<Shadow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// The finish of a color that is not a preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
    /// The `ETag` of an image that the caller has. If the image is still the same, it is not sent
    /// again, and the request is free.
    #[serde(skip_serializing)]
    pub if_none_match: Option<String>,
    /// The id of the request, for feedback and for emails to the operator.
    #[serde(skip_serializing)]
    pub request_id: Option<String>,
    /// The acceptable media types for [`Format::Auto`], such as `image/avif,image/webp`. Without it
    /// the service selects neither of these, because many programs read neither: the image is png,
    /// or jpg if a background is given.
    #[serde(skip_serializing)]
    pub accept: Option<String>,
}

impl Picture {
    pub fn new(make: impl Into<String>, model: impl Into<String>, year: impl Into<AskedYear>) -> Self {
        let (make, model) = (Some(make.into()), Some(model.into()));
        Picture { make, model, year: year.into(), ..Picture::default() }
    }

    /// An image of the vehicle with a permanent id, such as `cyv_0k3jq8z5m2v9t`.
    pub fn of_vehicle(id: impl Into<String>, year: impl Into<AskedYear>) -> Self {
        Picture { vehicle: Some(id.into()), year: year.into(), ..Picture::default() }
    }
}

/// The reason why `embed_car_image` may be free: a partner's signature, or that the image is cached
/// already.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grant {
    /// Only `cached`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exp: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sig: Option<String>,
}

/// One image of `create_image_urls`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub make: Option<String>,
    /// Another name of `make`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// A permanent id of make, model and body, in place of `make` and `model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vehicle: Option<String>,
    pub year: AskedYear,
    /// The model's usual body if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<View>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Color>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<SizePreset>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
    /// True if the image is trimmed to its visible part before it is fitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<bool>,
    /// Percentage of the longer side of the area that `trim` cuts out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub padding: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<Background>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow: Option<Shadow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// The finish of a color that is not a preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
}

impl ImageRequest {
    pub fn new(make: impl Into<String>, model: impl Into<String>, year: impl Into<AskedYear>) -> Self {
        let (make, model) = (Some(make.into()), Some(model.into()));
        ImageRequest { make, model, year: year.into(), ..ImageRequest::default() }
    }

    /// An image of the vehicle with a permanent id, such as `cyv_0k3jq8z5m2v9t`.
    pub fn of_vehicle(id: impl Into<String>, year: impl Into<AskedYear>) -> Self {
        ImageRequest { vehicle: Some(id.into()), year: year.into(), ..ImageRequest::default() }
    }
}

/// The same image, as a single delivery.
impl From<ImageRequest> for Picture {
    fn from(image: ImageRequest) -> Self {
        Picture {
            make: image.make.or(image.brand),
            model: image.model,
            vehicle: image.vehicle,
            year: image.year,
            body: image.body,
            view: image.view,
            color: image.color,
            w: image.width,
            h: image.height,
            size: image.size,
            format: image.format,
            fit: image.fit,
            trim: image.trim,
            padding: image.padding,
            background: image.background,
            shadow: image.shadow,
            scale: image.scale,
            finish: image.finish,
            ..Picture::default()
        }
    }
}

/// 1 to 50 images, and the lifetime of their signed URLs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageUrlsRequest {
    pub images: Vec<ImageRequest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<i64>,
    /// Maximum number of loads; 0 for any number. Previews in chats and email scanners count as
    /// loads, so use 3 or more for URLs that are sent there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_uses: Option<i64>,
    /// A request with the same key and body gets the same answer again for free, for a day. A new
    /// key is made if not given.
    #[serde(default, skip_serializing)]
    pub idempotency_key: Option<String>,
}

impl From<Vec<ImageRequest>> for ImageUrlsRequest {
    fn from(images: Vec<ImageRequest>) -> Self {
        ImageUrlsRequest { images, ..ImageUrlsRequest::default() }
    }
}

/// A request of `resolve_image`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResolveRequest {
    /// Free text, such as `navy 911 from behind`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// A vehicle identification number or its beginning, in place of `query`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub make: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl ResolveRequest {
    pub fn new(query: impl Into<String>) -> Self {
        ResolveRequest { query: Some(query.into()), ..ResolveRequest::default() }
    }

    /// A request by a vehicle identification number or its beginning.
    pub fn of_vin(vin: impl Into<String>) -> Self {
        ResolveRequest { vin: Some(vin.into()), ..ResolveRequest::default() }
    }
}

/// One row of `check_vehicles`: `make` and `model`, or `vehicle`, `vin` or `query`, with further
/// values that are known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CheckRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub make: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<AskedYear>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vin: Option<String>,
    /// A permanent id of make, model and body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vehicle: Option<String>,
    /// Free text, such as `golf estate 2015`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
}

/// The part of the catalog that `get_vehicles` returns: years (nothing set), makes of a year,
/// models of a make, years of a model, or the results of a search (`q`, within one `make` if it is
/// given).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VehiclesQuery {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<i64>,
    #[serde(rename(serialize = "makeId"), skip_serializing_if = "Option::is_none")]
    pub make_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub make: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Start and length of a page of the statement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StatementQuery {
    /// The id of the entry after which the page starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
}

/// Feedback about an image: the one of `request_id`, or of `make` and `model` (or `vehicle`) and
/// `year`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeedbackRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub make: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vehicle: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<View>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Color>,
    /// The finish of a color that is not a preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow: Option<Shadow>,
    /// 1 to 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<i64>,
    /// `good` or `bad`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// One event of `report_events`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Event {
    pub event: String,
    /// web, cli, mcp, api, system or sdk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anonymous_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub referrer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utm: Option<BTreeMap<String, String>>,
}
