//! Parts of a body's skin.

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
    /// In the skin.
    Skin,
    /// On the skin with a rounded section: the frame of an opening, a bar across it.
    Bead {
        height: f32,
        /// How far from its edges it is rounded.
        radius: f32,
    },
    Inset {
        depth: f32,
        wall: Material,
        /// What is between its walls, if it is a grille or an intake.
        fill: Option<Fill>,
    },
    /// `material` is the lens's.
    Lamp { lamp: Lamp, view: DrawnIn },
    /// A shut line: a groove in the skin with rounded edges.
    Groove {
        depth: f32,
        /// That of a flap, which only one of the two flanks has.
        on_one_side: bool,
    },
    /// Set back behind a rounded edge, straight back as a pressed panel is; `lean` is by how much deeper the floor lies for each metre
    /// down from the middle.
    Recess { depth: f32, lean: f32, wall: Material },
    /// Taken away: a wheel arch (0 front, 1 rear).
    Arch(usize),
}

/// The edge of a lens is rounded over this width, by this slope.
pub const LENS_ROUND_M: f32 = 0.009;
