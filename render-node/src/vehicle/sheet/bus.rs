//! A sheet's `[bus]` table.

use serde::Deserialize;

/// The parts of a bus. Lengths are in the sheet's metres.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bus {
    /// Rows of seats: x of their front and rear end, and the height of the floor under
    /// them. One entry for each deck.
    pub seats: Vec<[f32; 3]>,
    /// Rows of panes.
    pub panes: Vec<Panes>,
    /// Heights of bright strips along the flank.
    pub rub_rails: Vec<f32>,
    /// Units on the roof: x of the front and rear end, half width, and z of the top.
    pub roof_units: Vec<[f32; 4]>,
    /// Mirrors that hang from long arms in front of the corners of the
    /// screen: x, y and z of their middle.
    pub ears: Option<[f32; 3]>,
    /// Shut lines across the flank under the windows: x, lower and upper end of each.
    pub seams: Vec<[f32; 3]>,
    /// Louvres of the engine's bay on the flank: x of both ends, lower and upper edge.
    pub louvres: Vec<[f32; 4]>,
    /// Doors of two leaves: x of both ends, lower and upper edge.
    pub doors: Vec<[f32; 4]>,
    /// Height of the number plate's middle on the tail. There is none if 0.
    pub plate: f32,
}

/// A row of panes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Panes {
    /// x of the borders between the panes.
    pub x: Vec<f32>,
    /// z of the panes' lower edge.
    pub low: f32,
    /// z of the panes' upper edge.
    pub high: f32,
    /// Height of the bar under hinged upper panes. There is none if 0.
    pub hopper: f32,
}
