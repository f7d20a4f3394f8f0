//! A picture as JSON answers name it.

use crate::delivery::Order;
use serde::Serialize;

/// One picture in slugs, as the catalog and the enumerations spell it (specification section 2, VehicleParams).
#[derive(Debug, Serialize)]
pub struct VehicleParams {
    make: String,
    model: String,
    year: u16,
    view: &'static str,
    color: &'static str,
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
