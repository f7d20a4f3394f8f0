//! A picture as JSON answers name it.

use crate::delivery::Order;
use crate::delivery::request::background_name;
use crate::http::openapi::requests;
use cyclorama_core::{Fit, Frame, Scale};
use cyclorama_drawings::likeness;
use serde::Serialize;
use utoipa::ToSchema;

/// One picture in slugs, as the catalog and the enumerations spell it. What has its default is left out from `width` on.
#[derive(Debug, Serialize, ToSchema)]
pub struct VehicleParams {
    make: String,
    model: String,
    year: u16,
    /// The permanent id of make, model and body: `vehicle` of another request.
    #[schema(schema_with = requests::vehicle_id)]
    vehicle_id: String,
    #[schema(schema_with = requests::body)]
    body: &'static str,
    /// How like the real vehicle the picture is.
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
    /// Per cent of the longer side of what was cut out.
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
        let Frame { fit, width, height, trim, padding_percent, background, scale } = order.frame;
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
