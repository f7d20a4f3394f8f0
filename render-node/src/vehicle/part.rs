//! Parts into which the skin of a body is divided.

use crate::vehicle::mesh::Material;
use crate::vehicle::parts::grille::Fill;
use crate::vehicle::sheet::{DrawnIn, Lamp};

/// A part of the skin.
#[derive(Debug, Clone)]
pub struct Part {
    pub material: Material,
    pub shape: PartShape,
}

#[derive(Debug, Clone)]
pub enum PartShape {
    /// Level with the skin.
    Skin,
    /// On the skin with a rounded section: the frame of an opening, or a bar across it.
    Bead {
        height: f32,
        /// Distance from its edges over which the bead is rounded.
        radius: f32,
    },
    Inset {
        depth: f32,
        wall: Material,
        /// Filling between the walls, if the inset is a grille or an intake.
        fill: Option<Fill>,
    },
    /// A lamp. `material` is that of the lens.
    Lamp { lamp: Lamp, view: DrawnIn },
    /// A shut line: a groove in the skin with rounded edges.
    Groove {
        depth: f32,
        /// True for the groove of a flap, which only one of the two flanks has.
        on_one_side: bool,
    },
    /// Set back behind a rounded edge, straight back as a pressed panel is. `lean` is how much
    /// deeper the floor lies for each metre down from the middle.
    Recess { depth: f32, lean: f32, wall: Material },
    /// Removed: a wheel arch (0 front, 1 rear).
    Arch(usize),
}

/// Width over which the edge of a lens is rounded, and the slope of the rounding.
pub const LENS_ROUND_M: f32 = 0.009;
