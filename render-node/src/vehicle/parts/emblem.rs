//! The mount of a make's badge: a metal rim in the badge's outline, and in it an abstract relief
//! of bright metal on dark enamel.
//!
//! There is no sign and no lettering. The reliefs are drawn in `emblem.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use glam::{Vec2, Vec3};
use serde::Deserialize;

use super::solid::{CREASE_DEGREES, Solid};
use crate::vehicle::mesh::{Material, VehicleMesh};

/// Outline of a badge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BadgeOutline {
    Ring,
    Oval,
    /// Wide and low, with round ends.
    Bar,
    Square,
    Shield,
    Triangle,
    Diamond,
    Wings,
}

/// Raised pattern inside the rim. The shapes are in `emblem.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BadgeRelief {
    /// A dark belt inside the rim, and a raised disc that is divided.
    Belt,
    /// A level bar.
    Bar,
    /// An upright blade that tapers both ways.
    Blade,
    Chevron,
    /// Two fields of metal and two of enamel.
    Divided,
    /// Three blades that spread upwards.
    Fan,
    /// A long lens shape across.
    Lens,
    /// Two slanting bars.
    Slash,
    /// Upright ribs.
    Ribs,
    /// Four faces that rise to an edge.
    Facets,
    /// A disc between ribbed wings.
    Wing,
    /// Two level bars of different length.
    Steps,
    /// A bright arch over an upright blade.
    Arch,
}

/// A badge mount as the sheets describe it.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emblem {
    pub outline: BadgeOutline,
    /// Width in metres.
    pub width: f32,
    /// Ratio of height to width. The outline's own if absent.
    #[serde(default)]
    pub aspect: Option<f32>,
    #[serde(default = "rim")]
    pub rim: Material,
    /// The outline's usual relief if absent.
    #[serde(default)]
    pub relief: Option<BadgeRelief>,
}

fn rim() -> Material {
    Material::Chrome
}

const TABLE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sheets/tables/emblem.toml"));

/// Contents of `emblem.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    relief: BTreeMap<BadgeRelief, ReliefSheet>,
}

/// A relief: the enamel's material, and the raised parts on it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReliefSheet {
    #[serde(default = "enamel")]
    ground: Material,
    piece: Vec<ReliefPiece>,
}

fn enamel() -> Material {
    Material::GlossBlack
}

/// A raised part of a relief. Lengths are ratios to half the width and
/// half the height inside the rim.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReliefPiece {
    /// Corners of a convex polygon, which is cut off at the rim.
    #[serde(default)]
    at: Vec<[f32; 2]>,
    /// A band between two ratios of the outline's size.
    #[serde(default)]
    ring: Option<[f32; 2]>,
    /// A disc whose radius is this ratio of half the height, whatever the outline.
    #[serde(default)]
    disc: Option<f32>,
    /// True if the mirror image on the other side is added as well.
    #[serde(default)]
    both: bool,
    /// Height above the ground, as a ratio of the rim's height.
    out: f32,
    #[serde(default = "metal")]
    material: Material,
}

fn metal() -> Material {
    Material::Satin
}

static RELIEFS: LazyLock<BTreeMap<BadgeRelief, ReliefSheet>> =
    LazyLock::new(|| toml::from_str::<Table>(TABLE).map(|table| table.relief).unwrap_or_default());

/// Corners of the outlines for x >= 0, from the top down, as ratios of half width and half height.
const SQUARE: [[f32; 2]; 5] = [[0.84, 1.0], [0.95, 0.95], [1.0, 0.84], [1.0, -0.84], [0.84, -1.0]];
const SHIELD: [[f32; 2]; 7] =
    [[0.5, 0.97], [0.92, 1.0], [1.0, 0.92], [0.98, 0.1], [0.8, -0.42], [0.45, -0.8], [0.1, -0.99]];
const TRIANGLE: [[f32; 2]; 5] = [[0.1, 0.98], [0.18, 0.86], [0.98, -0.84], [0.96, -0.95], [0.86, -1.0]];
const DIAMOND: [[f32; 2]; 4] = [[0.08, 0.97], [0.96, 0.09], [0.96, -0.09], [0.08, -0.97]];
const WINGS: [[f32; 2]; 8] =
    [[0.12, 1.0], [0.2, 0.72], [0.7, 0.86], [0.98, 0.62], [0.94, 0.3], [0.62, -0.3], [0.26, -0.55], [0.14, -1.0]];
/// Number of points in one quarter of a round outline.
const QUARTER: usize = 14;

impl Emblem {
    fn relief(&self) -> BadgeRelief {
        self.relief.unwrap_or(match self.outline {
            BadgeOutline::Ring => BadgeRelief::Belt,
            BadgeOutline::Oval => BadgeRelief::Lens,
            BadgeOutline::Bar => BadgeRelief::Ribs,
            BadgeOutline::Square | BadgeOutline::Triangle => BadgeRelief::Fan,
            BadgeOutline::Shield => BadgeRelief::Chevron,
            BadgeOutline::Diamond => BadgeRelief::Facets,
            BadgeOutline::Wings => BadgeRelief::Wing,
        })
    }

    /// Returns the badge's height in metres.
    pub fn height(&self) -> f32 {
        let usual = match self.outline {
            BadgeOutline::Ring | BadgeOutline::Square => 1.0,
            BadgeOutline::Oval => 0.46,
            BadgeOutline::Bar => 0.32,
            BadgeOutline::Shield => 1.28,
            BadgeOutline::Triangle => 0.9,
            BadgeOutline::Diamond => 1.25,
            BadgeOutline::Wings => 0.36,
        };
        self.width * self.aspect.unwrap_or(usual)
    }

    /// Returns the outline once round, in metres about its middle.
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
            BadgeOutline::Ring | BadgeOutline::Oval => round(half, Vec2::ZERO),
            BadgeOutline::Bar => {
                let radius = half.min_element() * 0.7;
                round(Vec2::splat(radius), half - radius)
            }
            BadgeOutline::Square => drawn(&SQUARE),
            BadgeOutline::Shield => drawn(&SHIELD),
            BadgeOutline::Triangle => drawn(&TRIANGLE),
            BadgeOutline::Diamond => drawn(&DIAMOND),
            BadgeOutline::Wings => drawn(&WINGS),
        }
    }
}

/// Height of the rim. How round its edges are comes from its profile.
const RIM_HEIGHT_M: f32 = 0.0065;
/// Width of the rim as a ratio of the lesser half of the badge's width and height.
const RIM_RATIO: f32 = 0.15;
/// Least and greatest width of the rim.
const RIM_WIDTH_M: [f32; 2] = [0.004, 0.0075];
/// Chamfer of raised parts.
const CHAMFER_M: f32 = 0.0016;
/// Height of the ground as a ratio of the rim's height.
const GROUND_RATIO: f32 = 0.25;

/// Builds the mount about its own middle: y is outward, z up. It
/// reaches `sunk` metres into the skin.
pub fn emblem(spec: &Emblem, sunk: f32) -> VehicleMesh {
    let outline = spec.points();
    let least = 0.5 * spec.width.min(spec.height());
    let rim = (least * RIM_RATIO).clamp(RIM_WIDTH_M[0], RIM_WIDTH_M[1]) / least;
    let inner = 1.0 - rim;
    let h = RIM_HEIGHT_M;
    let frame = rings(
        &outline,
        &[
            (1.0, -sunk),
            (1.0, 0.45 * h),
            (1.0 - 0.10 * rim, 0.76 * h),
            (1.0 - 0.28 * rim, 0.94 * h),
            (1.0 - 0.5 * rim, h),
            (1.0 - 0.72 * rim, 0.94 * h),
            (1.0 - 0.90 * rim, 0.76 * h),
            (inner, 0.5 * h),
            (inner, GROUND_RATIO * h),
        ],
    );
    let ground = GROUND_RATIO * h;
    let mut mesh = VehicleMesh::default();
    mesh.add(spec.rim, &looking_out(frame).surface(CREASE_DEGREES + 20.0));
    let relief = RELIEFS.get(&spec.relief());
    let enamel = relief.map_or(Material::GlossBlack, |relief| relief.ground);
    let floor = rings(&outline, &[(inner, ground), (0.5 * inner, ground + 0.0004), (0.0, ground + 0.0005)]);
    mesh.add(enamel, &looking_out(floor).surface(CREASE_DEGREES));
    let half = 0.5 * Vec2::new(spec.width, spec.height()) * inner;
    for piece in relief.iter().flat_map(|relief| &relief.piece) {
        let top = ground + piece.out * h;
        let solid = if let Some(ratio) = piece.disc {
            let circle: Vec<Vec2> =
                (0..28).map(|i| Vec2::from_angle(-std::f32::consts::TAU * i as f32 / 28.0) * half.y * ratio).collect();
            dome(&circle, ground, top)
        } else if let Some([from, to]) = piece.ring {
            ring(&outline, [from, to].map(|ratio| ratio * inner), ground, top, least)
        } else {
            let drawn: Vec<Vec2> = piece.at.iter().map(|p| Vec2::from(*p) * half).collect();
            let mut solid = slab(&spec.within_rim(&drawn, &outline, inner), ground, top);
            if piece.both {
                let other: Vec<Vec2> = drawn.iter().rev().map(|p| Vec2::new(-p.x, p.y)).collect();
                solid.append(slab(&spec.within_rim(&other, &outline, inner), ground, top));
            }
            solid
        };
        if !solid.triangles.is_empty() {
            mesh.add(piece.material, &looking_out(solid).surface(CREASE_DEGREES));
        }
    }
    mesh
}

/// Returns the outline in rows, each at a ratio of its size and at a height.
fn rings(outline: &[Vec2], profile: &[(f32, f32)]) -> Solid {
    Solid::grid(profile.len(), outline.len(), true, |row, column| {
        let (ratio, out) = profile[row];
        let p = outline[column] * ratio;
        Vec3::new(p.x, out, p.y)
    })
}

fn looking_out(solid: Solid) -> Solid {
    let out = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| solid.points[i as usize]);
        (b - a).cross(c - a).y
    };
    if solid.triangles.iter().map(out).sum::<f32>() < 0.0 { solid.flipped() } else { solid }
}

/// Returns a raised band that follows the outline.
fn ring(outline: &[Vec2], [outer, inner]: [f32; 2], ground: f32, top: f32, least: f32) -> Solid {
    let edge = (CHAMFER_M / least).min(0.3 * (outer - inner));
    let side = top - edge * least * 0.7;
    let mut profile = vec![(outer, ground), (outer, side), (outer - edge, top)];
    if inner > 0.0 {
        profile.extend([(inner + edge, top), (inner, side), (inner, ground)]);
    } else {
        profile.extend([(0.5 * outer, top + 0.25 * CHAMFER_M), (0.0, top + 0.35 * CHAMFER_M)]);
    }
    rings(outline, &profile)
}

/// Returns a raised disc with a rounded edge.
fn dome(circle: &[Vec2], ground: f32, top: f32) -> Solid {
    let rise = top - ground;
    rings(
        circle,
        &[(1.0, ground), (1.0, ground + 0.6 * rise), (0.9, top - 0.08 * rise), (0.6, top), (0.0, top + 0.1 * rise)],
    )
}

/// Returns a convex polygon raised to `top`, with chamfered edges.
fn slab(polygon: &[Vec2], ground: f32, top: f32) -> Solid {
    let count = polygon.len();
    if count < 3 {
        return Solid::default();
    }
    let middle = polygon.iter().sum::<Vec2>() / count as f32;
    // The least distance of an edge from the middle limits the chamfer.
    let edges = (0..count).map(|i| (polygon[i], (polygon[(i + 1) % count] - polygon[i]).normalize_or(Vec2::X)));
    let radius = edges.map(|(p, along)| (middle - p).perp_dot(along).abs()).fold(f32::MAX, f32::min);
    let chamfer = CHAMFER_M.min(0.45 * radius);
    let moved = |i: usize| {
        let (before, at, after) = (polygon[(i + count - 1) % count], polygon[i], polygon[(i + 1) % count]);
        let inward = |from: Vec2, to: Vec2| {
            let side = (to - from).normalize_or(Vec2::X).perp();
            if side.dot(middle - from) < 0.0 { -side } else { side }
        };
        let (a, b) = (inward(before, at), inward(at, after));
        let sum = a + b;
        at + sum * (chamfer / (1.0 + a.dot(b)).max(0.35))
    };
    let inset: Vec<Vec2> = (0..count).map(moved).collect();
    let at = |p: Vec2, out: f32| Vec3::new(p.x, out, p.y);
    Solid::grid(4, count, true, |row, column| match row {
        0 => at(polygon[column], ground),
        1 => at(polygon[column], top - 0.7 * chamfer),
        2 => at(inset[column], top),
        _ => at(inset.iter().sum::<Vec2>() / count as f32, top),
    })
}

impl Emblem {
    /// Returns the part of a convex polygon that lies inside the rim. Wings are not convex, so
    /// their reliefs are drawn to fit.
    fn within_rim(&self, polygon: &[Vec2], outline: &[Vec2], inner: f32) -> Vec<Vec2> {
        let mut kept = polygon.to_vec();
        if self.outline == BadgeOutline::Wings {
            return kept;
        }
        for i in 0..outline.len() {
            let (a, b) = (outline[i] * inner, outline[(i + 1) % outline.len()] * inner);
            // The inside is the side on which the middle lies.
            let sign = (b - a).perp_dot(-a).signum();
            let depth = |p: Vec2| (b - a).perp_dot(p - a) * sign;
            let mut cut = Vec::with_capacity(kept.len() + 1);
            for (n, p) in kept.iter().enumerate() {
                let next = kept[(n + 1) % kept.len()];
                let (here, there) = (depth(*p), depth(next));
                if here >= 0.0 {
                    cut.push(*p);
                }
                if (here >= 0.0) != (there >= 0.0) {
                    cut.push(p.lerp(next, here / (here - there)));
                }
            }
            kept = cut;
            if kept.len() < 3 {
                return Vec::new();
            }
        }
        kept.dedup_by(|a, b| a.distance(*b) < 2e-4);
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    const OUTLINES: [BadgeOutline; 8] = [
        BadgeOutline::Ring,
        BadgeOutline::Oval,
        BadgeOutline::Bar,
        BadgeOutline::Square,
        BadgeOutline::Shield,
        BadgeOutline::Triangle,
        BadgeOutline::Diamond,
        BadgeOutline::Wings,
    ];

    #[test]
    fn every_outline_with_every_relief_makes_a_sound_mount_of_the_size_asked_for() {
        let table: Table = toml::from_str(TABLE).unwrap();
        assert!(table.relief.len() >= 12);
        for outline in OUTLINES {
            let reliefs = table.relief.keys().map(|relief| Some(*relief)).chain([None]);
            for relief in reliefs
                .filter(|relief| (outline == BadgeOutline::Wings) <= matches!(relief, None | Some(BadgeRelief::Wing)))
            {
                let spec = Emblem { outline, width: 0.1, aspect: None, rim: rim(), relief };
                let mesh = emblem(&spec, 0.016);
                assert_sound(&mesh, &format!("{outline:?} {relief:?}"));
                let chrome = mesh.surfaces[&Material::Chrome].positions.iter();
                let widest = chrome.map(|p| p[0]).fold(0.0, f32::max);
                assert!((widest - 0.05).abs() < 0.003, "{outline:?}: {widest}");
                assert!(mesh.triangle_count() < 3_000, "{outline:?} {relief:?}: {}", mesh.triangle_count());
            }
        }
    }

    #[test]
    fn a_badge_shows_metal_and_enamel_in_shares_that_are_seen() {
        for outline in OUTLINES {
            let mesh = emblem(&Emblem { outline, width: 0.1, aspect: None, rim: rim(), relief: None }, 0.016);
            let area = |material: Material| -> f32 {
                mesh.surfaces.get(&material).map_or(0.0, |surface| {
                    let corner = |i: &u32| Vec3::from(surface.positions[*i as usize]);
                    let twice = |t: &[u32]| (corner(&t[1]) - corner(&t[0])).cross(corner(&t[2]) - corner(&t[0])).y;
                    surface.indices.chunks_exact(3).map(|t| 0.5 * twice(t).max(0.0)).sum()
                })
            };
            let (metal, enamel) = (area(Material::Satin), area(Material::GlossBlack));
            assert!(metal > 0.15 * enamel && metal < 1.2 * enamel, "{outline:?}: {metal} {enamel}");
        }
    }
}
