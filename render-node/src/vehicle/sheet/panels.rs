//! A sheet's `[panels]` table, and the names of flaps.

use serde::Deserialize;

/// What is said of a sheet's panels; what is left out follows from the body and its year.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Panels {
    /// The joint from the wheel arch to the lamp.
    pub front_joint: Option<bool>,
    pub rear_joint: Option<bool>,
    /// An empty plate on its holder.
    pub front_plate: Option<bool>,
    /// The same in a recess.
    pub rear_plate: Option<bool>,
    /// A plate on the rear bumper, where there is none in a recess.
    pub bumper_plate: Option<bool>,
    /// The strip over the rear plate shines.
    pub chrome_strip: Option<bool>,
    /// Height of the rear plate's middle, metres of the sheet.
    pub rear_plate_z: Option<f32>,
    pub sensors: Option<bool>,
    pub tow_cover: Option<bool>,
    pub reflectors: Option<bool>,
    pub lip: Option<bool>,
    /// A black field at the lower edge of the rear bumper, with fins.
    pub valance: Option<bool>,
    /// The fuel flap is on the left flank.
    pub flap_left: Option<bool>,
}

/// Names of flaps that sheets draw.
pub const FLAPS: [&str; 4] = ["fuel", "filler", "charge", "charging"];
