//! A sheet's `[bus]` table.

use serde::Deserialize;

/// Lengths in the sheet's metres.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bus {
    /// Front and rear end of the rows, and the floor under them; one entry for each deck.
    pub seats: Vec<[f32; 3]>,
    /// Borders between panes: x of each, and the panes' lower and upper edge; one entry for each row of panes.
    pub panes: Vec<Panes>,
    /// Heights of bright strips along the flank.
    pub rub_rails: Vec<f32>,
    /// Units on the roof: front and rear end, half width and top.
    pub roof_units: Vec<[f32; 4]>,
    /// Mirrors hanging from long arms before the corners of the screen: x, y and z of their middle.
    pub ears: Option<[f32; 3]>,
    /// Shut lines across the flank under the windows: x of each, lower and upper end.
    pub seams: Vec<[f32; 3]>,
    /// Louvres of the engine's bay on the flank: x of both ends, lower and upper edge.
    pub louvres: Vec<[f32; 4]>,
    /// Doors of two leaves: x of both ends, lower and upper edge.
    pub doors: Vec<[f32; 4]>,
    /// Height of the number plate's middle on the tail; none if 0.
    pub plate: f32,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Panes {
    pub x: Vec<f32>,
    pub low: f32,
    pub high: f32,
    /// Height of the bar under hinged upper panes; none if 0.
    pub hopper: f32,
}
