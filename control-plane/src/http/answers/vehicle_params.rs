//! The parameters of an image, as JSON responses state them.

use crate::delivery::Order;
use crate::delivery::request::background_name;
use crate::http::openapi::requests;
use cyclorama_core::{Fit, Framing, Scale};
use cyclorama_drawings::likeness;
use serde::Serialize;
use utoipa::ToSchema;

/// The parameters of one image, as slugs in the spelling of the catalog and the enumerations. From
/// `width` on, parameters that have their default are left out.
#[derive(Debug, Serialize, ToSchema)]
pub struct VehicleParams {
    make: String,
    model: String,
    year: u16,
    /// The permanent id of make, model and body, for `vehicle` of another request.
    #[schema(schema_with = requests::vehicle_id)]
    vehicle_id: String,
    #[schema(schema_with = requests::body)]
    body: &'static str,
    /// How close the image is to the real vehicle.
    #[schema(schema_with = requests::likeness)]
    likeness: &'static str,
    #[schema(schema_with = requests::view)]
    view: &'static str,
    #[schema(schema_with = requests::color)]
    color: String,
    #[schema(schema_with = requests::asked_format)]
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = requests::fit)]
    fit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trim: Option<bool>,
    /// Space on each side, in percent of the longer side of the trimmed image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 50)]
    padding: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(white|black|[0-9a-f]{6})$")]
    background: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = requests::shadow)]
    shadow: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = requests::scale)]
    scale: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = requests::finish)]
    finish: Option<&'static str>,
}

impl From<&Order> for VehicleParams {
    fn from(order: &Order) -> Self {
        let Framing { fit, width, height, trim, padding_percent, background, scale } = order.frame;
        let paint = order.variant.paint;
        VehicleParams {
            make: order.variant.make.clone(),
            model: order.variant.model.clone(),
            year: order.variant.year,
            vehicle_id: order.vehicle_id().to_string(),
            body: order.vehicle.body.as_str(),
            likeness: likeness(&order.vehicle).as_str(),
            view: order.variant.view.as_str(),
            color: paint.color(),
            format: order.asked_format.as_str(),
            width,
            height,
            fit: (fit != Fit::default()).then(|| fit.as_str()),
            trim: trim.then_some(true),
            padding: (padding_percent > 0).then_some(padding_percent),
            background: background.map(background_name),
            shadow: (!paint.shadow).then_some("off"),
            scale: (scale != Scale::default()).then(|| scale.as_str()),
            finish: paint.colour.named_finish().map(|finish| finish.as_str()),
        }
    }
}
