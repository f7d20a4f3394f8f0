//! A sheet's `[panels]` table, and the names of flaps.

use serde::Deserialize;

/// Choices about a sheet's panels. A choice that is absent follows from the body and its year.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Panels {
    /// True if there is a joint from the wheel arch to the front lamp.
    pub front_joint: Option<bool>,
    pub rear_joint: Option<bool>,
    /// True if there is an empty plate on its holder at the front.
    pub front_plate: Option<bool>,
    /// True if there is an empty plate in a recess at the rear.
    pub rear_plate: Option<bool>,
    /// True if there is a plate on the rear bumper, where there is none in a recess.
    pub bumper_plate: Option<bool>,
    /// True if the strip over the rear plate is bright.
    pub chrome_strip: Option<bool>,
    /// Height of the rear plate's middle, in metres of the sheet.
    pub rear_plate_z: Option<f32>,
    pub sensors: Option<bool>,
    pub tow_cover: Option<bool>,
    pub reflectors: Option<bool>,
    pub lip: Option<bool>,
    /// True if there is a black field with fins at the lower edge of the rear bumper.
    pub valance: Option<bool>,
    /// True if the fuel flap is on the left flank.
    pub flap_left: Option<bool>,
}

/// Names of the flaps that sheets draw.
pub const FLAPS: [&str; 4] = ["fuel", "filler", "charge", "charging"];
