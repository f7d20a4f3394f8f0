//! The triangle mesh of a vehicle, by material. The other modules of this folder build it,
//! and `studio` renders it.
//!
//! Axes: x = 0 at the front bumper and grows to the rear, y = 0 is the centre plane and grows to
//! the vehicle's right (passenger side of a left-hand-drive car), z = 0 is the ground and grows
//! upwards. All lengths are in metres.

/// The material of a surface. The optical constants (albedo, roughness, metal, emission) are
/// defined in the studio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Material {
    /// Has the requested paint. All other materials are independent of the paint.
    Paint = 0,
    /// Tinted panes: side windows behind the front doors, rear windows.
    Glass = 1,
    /// Piano-black trim, window bands, pillars, contrast roofs.
    GlossBlack = 2,
    /// Grained plastic: cladding, sills, lower bumpers.
    MattBlack = 3,
    /// Polished metal: grille surrounds, window lines, badges.
    Chrome = 4,
    /// Silver-painted metal or plastic: skid plates, rails, handles.
    Satin = 5,
    /// Mesh or slats behind a grille opening.
    Grille = 6,
    /// Clear outer lens of a lamp (transparent).
    LampLens = 7,
    /// Dark housing behind a lens.
    LampHousing = 8,
    /// Bright reflector or projector ring inside a head lamp.
    LampReflector = 9,
    /// Lit element: the light guide of a daytime running light.
    LampWhite = 10,
    LampRed = 11,
    LampAmber = 12,
    Tyre = 13,
    RimBright = 14,
    RimDark = 15,
    BrakeDisc = 16,
    /// Dashboard, floor mass, door cards: near black.
    Interior = 17,
    /// Seats.
    Seat = 18,
    /// Wheel arches, floor, everything under the car.
    Underbody = 19,
    /// Soft top of a convertible, tarpaulins.
    Fabric = 20,
    /// Shut lines between panels.
    PanelGap = 21,
    /// Glossy white whatever the paint: contrast roofs, stripes, refuse and ice-cream bodies.
    GlossWhite = 22,
    /// Clear panes: windscreens, windows of the front doors.
    ClearGlass = 23,
    /// Black ceramic print on the inside of bonded panes, along their edges.
    PaneBorder = 24,
    /// Dark glass of a light inside a lamp: the ball of a projector, the lens of a module.
    LampGlass = 25,
    /// Red outer lens of a tail lamp (transparent).
    LampRedLens = 26,
    /// The trough beside a light guide, which catches some of its light.
    LampGlow = 27,
    /// Satin grey plastic of a lamp's shell: steps, ribs and shrouds that neither
    /// mirror nor look like a hole.
    LampSatin = 28,
    /// A light guide beside its brightest line, or a dimmed one.
    LampGuide = 29,
    /// Frosted or finely ribbed clear plastic: reversing lamps and chambers of indicators.
    LampFrosted = 30,
    /// A lit red light guide.
    LampRedGuide = 31,
    /// Light grey cloth and plastic inside commercial cabs: rear wall, head lining, door cards.
    Lining = 32,
}

/// Triangles of one material. Normals have unit length and point outwards. Indices wind
/// counter-clockwise as seen from outside.
#[derive(Debug, Clone, Default)]
pub struct Surface {
    pub positions: Vec<[f32; 3]>,
    pub normals: Vec<[f32; 3]>,
    pub indices: Vec<u32>,
}

/// A whole vehicle, both halves, standing on z = 0. It has at most one surface per material, in the
/// order of [`Material`].
#[derive(Debug, Clone, Default)]
pub struct VehicleMesh {
    pub surfaces: std::collections::BTreeMap<Material, Surface>,
}

impl Surface {
    /// Appends `other` and renumbers its indices.
    pub fn append(&mut self, other: &Surface) {
        let base = self.positions.len() as u32;
        self.positions.extend_from_slice(&other.positions);
        self.normals.extend_from_slice(&other.normals);
        self.indices.extend(other.indices.iter().map(|i| i + base));
    }

    /// Returns the same surface on the other side of the centre plane: y is negated, and the
    /// winding stays outward.
    pub fn mirrored(&self) -> Surface {
        let flip = |v: &[f32; 3]| [v[0], -v[1], v[2]];
        Surface {
            positions: self.positions.iter().map(flip).collect(),
            normals: self.normals.iter().map(flip).collect(),
            indices: self.indices.chunks_exact(3).flat_map(|t| [t[0], t[2], t[1]]).collect(),
        }
    }

    pub fn triangle_count(&self) -> usize {
        self.indices.len() / 3
    }
}

impl VehicleMesh {
    pub fn add(&mut self, material: Material, surface: &Surface) {
        self.surfaces.entry(material).or_default().append(surface);
    }

    pub fn triangle_count(&self) -> usize {
        self.surfaces.values().map(Surface::triangle_count).sum()
    }
}
