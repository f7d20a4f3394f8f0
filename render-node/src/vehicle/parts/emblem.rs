//! The mount of a make's badge: a small metal rim in the badge's outline round a slightly domed face. No sign, no lettering.

use glam::{Vec2, Vec3};
use serde::Deserialize;

use super::solid::{CREASE_DEGREES, Solid};
use crate::vehicle::mesh::{Material, VehicleMesh};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outline {
    Ring,
    Oval,
    /// Wide and low with round ends.
    Bar,
    Square,
    Shield,
    Triangle,
    Diamond,
    Wings,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emblem {
    pub outline: Outline,
    /// Metres.
    pub width: f32,
    /// Height as a share of the width; the outline's own if absent.
    #[serde(default)]
    pub aspect: Option<f32>,
    #[serde(default = "rim")]
    pub rim: Material,
    #[serde(default = "face")]
    pub face: Material,
}

fn rim() -> Material {
    Material::Chrome
}

fn face() -> Material {
    Material::RimDark
}

/// Corners of the outlines for x >= 0, from the top down, in shares of half width and half height.
const SQUARE: [[f32; 2]; 5] = [[0.84, 1.0], [0.95, 0.95], [1.0, 0.84], [1.0, -0.84], [0.84, -1.0]];
const SHIELD: [[f32; 2]; 7] =
    [[0.5, 0.97], [0.92, 1.0], [1.0, 0.92], [0.98, 0.1], [0.8, -0.42], [0.45, -0.8], [0.1, -0.99]];
const TRIANGLE: [[f32; 2]; 5] = [[0.1, 0.98], [0.18, 0.86], [0.98, -0.84], [0.96, -0.95], [0.86, -1.0]];
const DIAMOND: [[f32; 2]; 4] = [[0.08, 0.97], [0.96, 0.09], [0.96, -0.09], [0.08, -0.97]];
const WINGS: [[f32; 2]; 8] =
    [[0.12, 1.0], [0.2, 0.72], [0.7, 0.86], [0.98, 0.62], [0.94, 0.3], [0.62, -0.3], [0.26, -0.55], [0.14, -1.0]];
/// Points of one quarter of a round outline.
const QUARTER: usize = 12;

impl Emblem {
    pub fn height(&self) -> f32 {
        let usual = match self.outline {
            Outline::Ring | Outline::Square => 1.0,
            Outline::Oval => 0.46,
            Outline::Bar => 0.32,
            Outline::Shield => 1.28,
            Outline::Triangle => 0.9,
            Outline::Diamond => 1.25,
            Outline::Wings => 0.36,
        };
        self.width * self.aspect.unwrap_or(usual)
    }

    /// The outline once round, in metres about its middle.
    fn points(&self) -> Vec<Vec2> {
        let half = Vec2::new(self.width, self.height()) * 0.5;
        let drawn = |right: &[[f32; 2]]| -> Vec<Vec2> {
            let left = right.iter().rev().map(|[x, y]| [-x, *y]);
            right.iter().copied().chain(left).map(|p| Vec2::from(p) * half).collect()
        };
        let round = |radius: Vec2, core: Vec2| -> Vec<Vec2> {
            (0..4 * QUARTER)
                .map(|i| {
                    let way = Vec2::from_angle(-(i as f32 + 0.5) * std::f32::consts::FRAC_PI_2 / QUARTER as f32);
                    way * radius + core * way.signum()
                })
                .collect()
        };
        match self.outline {
            Outline::Ring | Outline::Oval => round(half, Vec2::ZERO),
            Outline::Bar => {
                let radius = half.min_element() * 0.7;
                round(Vec2::splat(radius), half - radius)
            }
            Outline::Square => drawn(&SQUARE),
            Outline::Shield => drawn(&SHIELD),
            Outline::Triangle => drawn(&TRIANGLE),
            Outline::Diamond => drawn(&DIAMOND),
            Outline::Wings => drawn(&WINGS),
        }
    }
}

/// How far the mount reaches into the skin, and the rim's height and width.
const SUNK_M: f32 = 0.016;
const RIM_HEIGHT_M: f32 = 0.005;
const RIM_WIDTH_M: f32 = 0.006;
const DOME_M: f32 = 0.004;
/// The raised middle of the face: its size as a share of the face's, and its height.
const PLATE_SHARE: f32 = 0.66;
const PLAIN_SHARE: f32 = 0.97;
const PLATE_M: f32 = 0.0022;

/// The mount about its own middle: outward is y, upwards z.
pub fn emblem(spec: &Emblem) -> VehicleMesh {
    let outline = spec.points();
    let least = 0.5 * spec.width.min(spec.height());
    let rim = (RIM_WIDTH_M / least).clamp(0.05, 0.35);
    let rings = |profile: &[(f32, f32)]| {
        Solid::grid(profile.len(), outline.len(), true, |row, column| {
            let (share, out) = profile[row];
            let p = outline[column] * share;
            Vec3::new(p.x, out, p.y)
        })
    };
    let looking_out = |solid: Solid| {
        let out = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| solid.points[i as usize]);
            (b - a).cross(c - a).y
        };
        if solid.triangles.iter().map(out).sum::<f32>() < 0.0 { solid.flipped() } else { solid }
    };
    let inner = 1.0 - rim;
    let frame = rings(&[
        (1.0, -SUNK_M),
        (1.0, 0.55 * RIM_HEIGHT_M),
        (1.0 - 0.2 * rim, 0.9 * RIM_HEIGHT_M),
        (1.0 - 0.5 * rim, RIM_HEIGHT_M),
        (1.0 - 0.8 * rim, 0.85 * RIM_HEIGHT_M),
        (inner, 0.45 * RIM_HEIGHT_M),
    ]);
    let base = 0.45 * RIM_HEIGHT_M;
    // A dark ground and a plate of the same outline raised on it; outlines with corners have a plain face, as twice the same corner is a
    // sign.
    let round = matches!(spec.outline, Outline::Ring | Outline::Oval | Outline::Bar);
    let plate = inner * if round { PLATE_SHARE } else { PLAIN_SHARE };
    let ground = rings(&[(inner, base), (plate, base + 0.1 * DOME_M)]);
    let raised = rings(&[
        (plate, base),
        (plate, base + 0.6 * PLATE_M),
        (plate * 0.94, base + PLATE_M),
        (plate * 0.7, base + PLATE_M + 0.5 * DOME_M),
        (plate * 0.4, base + PLATE_M + 0.85 * DOME_M),
        (0.0, base + PLATE_M + DOME_M),
    ]);
    let mut mesh = VehicleMesh::default();
    mesh.add(spec.rim, &looking_out(frame).surface(CREASE_DEGREES + 20.0));
    mesh.add(Material::GlossBlack, &looking_out(ground).surface(CREASE_DEGREES));
    mesh.add(spec.face, &looking_out(raised).surface(CREASE_DEGREES));
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    #[test]
    fn every_outline_makes_a_sound_mount_of_the_size_asked_for() {
        for outline in [
            Outline::Ring,
            Outline::Oval,
            Outline::Bar,
            Outline::Square,
            Outline::Shield,
            Outline::Triangle,
            Outline::Diamond,
            Outline::Wings,
        ] {
            let spec = Emblem { outline, width: 0.1, aspect: None, rim: rim(), face: face() };
            let mesh = emblem(&spec);
            assert_sound(&mesh, &format!("{outline:?}"));
            let widest = mesh.surfaces[&Material::Chrome].positions.iter().map(|p| p[0]).fold(0.0, f32::max);
            assert!((widest - 0.05).abs() < 0.003, "{outline:?}: {widest}");
            assert!(mesh.triangle_count() < 1_200, "{outline:?}");
        }
    }
}
