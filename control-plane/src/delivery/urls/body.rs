//! The body of `POST /api/v1/image-urls` as a validated [`MintRequest`]: one ImageRequest, or a
//! batch object.
//!
//! Pure: the catalog decides if the vehicles exist.

use crate::config::delivery::DeliverySettings;
use crate::delivery::request::{kind_of, whole};
use crate::delivery::urls::Terms;
use crate::delivery::{BadParameter, ImageRequest};
use serde_json::{Map, Value};

/// Maximum number of images in a batch.
pub const IMAGES_MAX: usize = 50;
const TTL_SECONDS: std::ops::RangeInclusive<u64> = 60..=604_800;
const USES_MAX: u64 = 1000;

/// The validated body, in either form.
#[derive(Debug, PartialEq, Eq)]
pub struct MintRequest {
    pub images: Vec<ImageRequest>,
    pub terms: Terms,
    /// True for a batch: errors then name the item that they are about.
    pub is_batch: bool,
}

/// An error, and the item that it is about.
#[derive(Debug, PartialEq, Eq)]
pub struct BadBody {
    pub index: Option<usize>,
    pub wrong: BadParameter,
}

fn refused(parameter: &str, detail: impl Into<String>) -> BadBody {
    BadBody { index: None, wrong: BadParameter::new(parameter, detail) }
}

impl MintRequest {
    /// Reads the body in either form. A valid `ttl_seconds` outside `bounds` is clamped to them.
    /// Fails with [`BadBody`] for the first parameter that is wrong.
    pub fn read(body: &Value, bounds: &DeliverySettings) -> Result<Self, BadBody> {
        let Value::Object(body) = body else {
            return Err(refused(
                "body",
                "the `body` must be a JSON object: one image, or `images` with a list of images",
            ));
        };
        if body.contains_key("images") { Self::batch(body, bounds) } else { Self::single(body, bounds) }
    }

    fn single(body: &Map<String, Value>, bounds: &DeliverySettings) -> Result<Self, BadBody> {
        if let Some(key) = ["ttl_seconds", "max_uses"].into_iter().find(|key| body.contains_key(*key)) {
            return Err(refused(
                key,
                format!("`{key}` can only be used with `images`: {{\"images\": [...], \"{key}\": ...}}"),
            ));
        }
        let image = ImageRequest::parse_json(body).map_err(|wrong| BadBody { index: None, wrong })?;
        Ok(MintRequest { images: vec![image], terms: Terms::usual(bounds), is_batch: false })
    }

    fn batch(body: &Map<String, Value>, bounds: &DeliverySettings) -> Result<Self, BadBody> {
        let mut terms = Terms::usual(bounds);
        let mut images = Vec::new();
        for (key, value) in body {
            match key.as_str() {
                "images" => images = list(value)?,
                "ttl_seconds" => {
                    let ttl = whole(value).filter(|ttl| TTL_SECONDS.contains(ttl)).ok_or_else(|| {
                        let (low, high) = (TTL_SECONDS.start(), TTL_SECONDS.end());
                        refused(key, format!("`ttl_seconds` must be a whole number from {low} to {high}"))
                    })?;
                    terms.ttl_seconds = ttl.clamp(bounds.ttl_seconds_min, bounds.ttl_seconds_max) as i64;
                }
                "max_uses" => {
                    let uses = whole(value).filter(|uses| *uses <= USES_MAX);
                    let wrong = || refused(key, format!("`max_uses` must be a whole number from 0 to {USES_MAX}"));
                    terms.max_uses = uses.ok_or_else(wrong)? as i64;
                }
                unknown => {
                    let shown: String = unknown.chars().take(40).collect();
                    let detail =
                        format!("`{shown}` is not a member of a batch, which takes images, ttl_seconds and max_uses");
                    return Err(refused(&shown, detail));
                }
            }
        }
        Ok(MintRequest { images, terms, is_batch: true })
    }
}

fn list(value: &Value) -> Result<Vec<ImageRequest>, BadBody> {
    let items = value.as_array().filter(|items| (1..=IMAGES_MAX).contains(&items.len()));
    let items =
        items.ok_or_else(|| refused("images", format!("`images` must be a list of 1 to {IMAGES_MAX} images")))?;
    let item = |(index, item): (usize, &Value)| {
        let found = match item {
            Value::Object(item) => ImageRequest::parse_json(item).map_err(|wrong| {
                // The error names the item's path, because the caller sent many items.
                let (member, path) =
                    (format!("`{}`", wrong.parameter), format!("`images[{index}].{}`", wrong.parameter));
                BadParameter { detail: wrong.detail.replacen(&member, &path, 1), ..wrong }
            }),
            other => {
                let detail = format!("`images[{index}]` must be an object, not {}", kind_of(other));
                Err(BadParameter::new("images", detail))
            }
        };
        found.map_err(|wrong| BadBody { index: Some(index), wrong })
    };
    items.iter().enumerate().map(item).collect()
}

impl Terms {
    /// Returns the terms that apply where the caller gives none.
    pub fn usual(bounds: &DeliverySettings) -> Self {
        Terms { ttl_seconds: bounds.ttl_seconds_default as i64, max_uses: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclorama_core::{Colour, Format, View};
    use serde_json::json;

    const BOUNDS: DeliverySettings = DeliverySettings {
        ttl_seconds_min: 300,
        ttl_seconds_max: 7200,
        ttl_seconds_default: 3600,
        allow_legacy_query_keys: false,
    };

    fn read(body: Value) -> Result<MintRequest, BadBody> {
        MintRequest::read(&body, &BOUNDS)
    }

    #[test]
    fn one_image_and_a_batch_of_it_are_the_same_picture() {
        let image = json!({ "brand": "Porsche", "model": "911", "year": 2024, "view": "hero", "color": "red", "width": 300,
                            "height": 200, "format": "jpeg" });
        let one = read(image.clone()).expect("reads");
        let batch = read(json!({ "images": [image] })).expect("reads");
        assert_eq!((one.is_batch, batch.is_batch), (false, true));
        assert_eq!(one.images, batch.images);
        let image = &one.images[0];
        let expected = (View::FrontThreeQuarter, Colour::Red.into(), Format::Jpg.into());
        assert_eq!((image.view, image.paint, image.format), expected);
        assert_eq!((image.frame.width, image.frame.height), (Some(300), Some(200)));
        assert_eq!(one.terms, Terms { ttl_seconds: 3600, max_uses: 0 });
    }

    #[test]
    fn terms_are_checked_and_lifetimes_brought_within_the_deployments_bounds() {
        let terms = |ttl: Value, uses: Value| {
            let image = json!({ "make": "a", "model": "b", "year": 2000 });
            read(json!({ "images": [image], "ttl_seconds": ttl, "max_uses": uses })).map(|wanted| wanted.terms)
        };
        for (ttl, lives) in [(60, 300), (300, 300), (3000, 3000), (604_800, 7200)] {
            assert_eq!(terms(json!(ttl), json!(1000)), Ok(Terms { ttl_seconds: lives, max_uses: 1000 }));
        }
        for wrong in [json!(59), json!(604_801), json!("3600"), json!(3600.5), json!(-1), json!(null)] {
            assert_eq!(terms(wrong.clone(), json!(0)).expect_err("ttl").wrong.parameter, "ttl_seconds", "{wrong}");
        }
        for wrong in [json!(1001), json!(-1), json!("1"), json!(1.5), json!(null)] {
            assert_eq!(terms(json!(60), wrong.clone()).expect_err("uses").wrong.parameter, "max_uses", "{wrong}");
        }
    }

    #[test]
    fn every_refusal_names_its_field_and_its_item() {
        let good = json!({ "make": "a", "model": "b", "year": 2000 });
        let too_many = vec![good.clone(); 51];
        for (body, index, parameter) in [
            (json!([]), None, "body"),
            (json!({}), None, "make"),
            (json!({ "make": "a", "model": "b", "year": "2000" }), None, "year"),
            (json!({ "make": "a", "model": "b", "year": 2000, "w": 7 }), None, "w"),
            (json!({ "make": "a", "model": "b", "year": 2000, "width": 0 }), None, "width"),
            (json!({ "make": "a", "model": "b", "year": 2000, "height": 1.5 }), None, "height"),
            (json!({ "make": "a", "model": "b", "year": 2000, "response": "url" }), None, "response"),
            (json!({ "make": 7, "model": "b", "year": 2000 }), None, "make"),
            (json!({ "make": "a", "model": "b", "year": 2000, "color": null }), None, "color"),
            (json!({ "make": "a", "model": "b", "year": 2000, "max_uses": 1 }), None, "max_uses"),
            (json!({ "images": [] }), None, "images"),
            (json!({ "images": too_many }), None, "images"),
            (json!({ "images": good }), None, "images"),
            (json!({ "images": [good, good], "ttl": 60 }), None, "ttl"),
            (json!({ "images": [good, 7] }), Some(1), "images"),
            (json!({ "images": [good, { "make": "a", "brand": "a", "model": "b", "year": 2000 }] }), Some(1), "brand"),
            (json!({ "images": [{ "make": "a", "model": "b", "year": 1989 }, good] }), Some(0), "year"),
        ] {
            let refusal = read(body.clone()).expect_err("refused");
            assert_eq!((refusal.index, refusal.wrong.parameter.as_str()), (index, parameter), "{body}");
            let path = match (index, parameter) {
                (None, parameter) => parameter.to_owned(),
                (Some(index), "images") => format!("images[{index}]"),
                (Some(index), parameter) => format!("images[{index}].{parameter}"),
            };
            assert!(refusal.wrong.detail.contains(&format!("`{path}`")), "{body}: {}", refusal.wrong.detail);
        }
    }
}
