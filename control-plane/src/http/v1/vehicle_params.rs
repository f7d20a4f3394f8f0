//! A picture as JSON answers name it.

use crate::delivery::Order;
use crate::http::openapi::requests;
use serde::Serialize;
use utoipa::ToSchema;

/// One picture in slugs, as the catalog and the enumerations spell it.
#[derive(Debug, Serialize, ToSchema)]
pub struct VehicleParams {
    make: String,
    model: String,
    year: u16,
    #[schema(schema_with = requests::view)]
    view: &'static str,
    #[schema(schema_with = requests::color)]
    color: &'static str,
    #[schema(schema_with = requests::format)]
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
}

impl From<&Order> for VehicleParams {
    fn from(order: &Order) -> Self {
        VehicleParams {
            make: order.variant.make.clone(),
            model: order.variant.model.clone(),
            year: order.variant.year,
            view: order.variant.view.as_str(),
            color: order.variant.colour.as_str(),
            format: order.format.as_str(),
            width: order.width,
            height: order.height,
        }
    }
}
