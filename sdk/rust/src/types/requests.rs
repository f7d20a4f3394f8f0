//! What the service is asked. `new` takes what is required; the rest is set where it is wanted.

use super::words::{Background, Color, Finish, Fit, Format, Scale, Shadow, SizePreset, View};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A picture of `get_car_image` and its kin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Picture {
    /// Name or slug, as `model`.
    pub make: String,
    pub model: String,
    pub year: i64,
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
    /// Whether the picture is cut to what is seen before it is fitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<bool>,
    /// Per cent of the longer side of what `trim` cuts out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub padding: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<Background>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow: Option<Shadow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// Of a color that is no preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
    /// The validator of a picture at hand: that one is not sent again, and free.
    #[serde(skip_serializing)]
    pub if_none_match: Option<String>,
    /// What the request is called in feedback and letters to the operator.
    #[serde(skip_serializing)]
    pub request_id: Option<String>,
    /// What is welcome with [`Format::Auto`], such as `image/avif,image/webp`. Anything is welcome without it, which means neither of
    /// these, since many a program reads neither: the picture is png, or jpg where a background is given.
    #[serde(skip_serializing)]
    pub accept: Option<String>,
}

impl Picture {
    pub fn new(make: impl Into<String>, model: impl Into<String>, year: i64) -> Self {
        Picture { make: make.into(), model: model.into(), year, ..Picture::default() }
    }
}

/// What lets `embed_car_image` be free: a partner's signature, or what is cached already.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grant {
    /// `cached` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exp: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sig: Option<String>,
}

/// One picture of `create_image_urls`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub make: Option<String>,
    /// Another name of `make`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    pub model: String,
    pub year: i64,
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
    /// Whether the picture is cut to what is seen before it is fitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<bool>,
    /// Per cent of the longer side of what `trim` cuts out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub padding: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<Background>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow: Option<Shadow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// Of a color that is no preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
}

impl ImageRequest {
    pub fn new(make: impl Into<String>, model: impl Into<String>, year: i64) -> Self {
        ImageRequest { make: Some(make.into()), model: model.into(), year, ..ImageRequest::default() }
    }
}

/// The same picture as a delivery of its own.
impl From<ImageRequest> for Picture {
    fn from(image: ImageRequest) -> Self {
        Picture {
            make: image.make.or(image.brand).unwrap_or_default(),
            model: image.model,
            year: image.year,
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

/// 1 to 50 pictures, and how long their addresses last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageUrlsRequest {
    pub images: Vec<ImageRequest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<i64>,
    /// 0: as often as one likes. Previews of chats and scanners of mail are loads, too: 3 or more for what is sent there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_uses: Option<i64>,
    /// The same key and body again is the same answer for nothing, for a day. A new one is made when not given.
    #[serde(default, skip_serializing)]
    pub idempotency_key: Option<String>,
}

impl From<Vec<ImageRequest>> for ImageUrlsRequest {
    fn from(images: Vec<ImageRequest>) -> Self {
        ImageUrlsRequest { images, ..ImageUrlsRequest::default() }
    }
}

/// What `resolve_image` reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResolveRequest {
    /// Free text, such as `navy 911 from behind`.
    pub query: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub make: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl ResolveRequest {
    pub fn new(query: impl Into<String>) -> Self {
        ResolveRequest { query: query.into(), ..ResolveRequest::default() }
    }
}

/// Which part of the catalog `get_vehicles` gives: years (nothing set), makes of a year, models of a make, years of a model, or what a
/// search (`q`) finds.
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

/// Where a page of the statement begins, and how long it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StatementQuery {
    /// The id of an entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
}

/// How good a picture is: the one of `request_id`, or of `make`, `model` and `year`.
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
    pub year: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<View>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Color>,
    /// Of a color that is no preset.
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

/// What `report_events` takes.
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
