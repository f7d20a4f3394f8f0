//! The rear wall of a cab: pressed beads and joints, a window or the intake's chimney, panel and
//! coils of the lines to a trailer, work lamp, rail, and the flaps that lead the wind past the gap.

use std::f32::consts::TAU;

use glam::{Vec2, Vec3};

use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, block, pipe, pipe_of};
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};
use crate::vehicle::sheet::truck::{Class, Load};
use crate::vehicle::truck::site::Site;

/// Height of the wall above the frame from which it is that of a sleeper cab.
const SLEEPER_M: f32 = 1.95;
/// Length by which the flaps reach behind the wall.
const FLAP_M: f32 = 0.40;

/// The wall in real metres, with the site whose field it is found in.
pub(super) struct Wall<'a> {
    pub site: &'a Site<'a>,
    /// Approximate x of the wall.
    pub x: f32,
    pub low: f32,
    pub top: f32,
}

impl Wall<'_> {
    /// Returns the place of the wall at (y, z), `out` metres behind its skin.
    pub fn at(&self, y: f32, z: f32, out: f32) -> Option<Vec3> {
        let from = Vec3::new(self.x + 0.45, y, z);
        self.site.field.hit(from, -Vec3::X, 1.0).map(|p| p + Vec3::X * out)
    }

    /// Returns half the cab's width at a height, just in front of the wall.
    pub fn half(&self, z: f32) -> Option<f32> {
        self.site.field.skin_y(self.x - 0.12, z)
    }

    /// Returns a strip of rounded section along the wall, from one place (y, z) to another.
    pub fn strip(&self, from: Vec2, to: Vec2, half: f32, out: f32) -> Solid {
        const STEPS: usize = 10;
        let path: Vec<Vec3> = (0..=STEPS)
            .filter_map(|i| {
                let at = from.lerp(to, i as f32 / STEPS as f32);
                self.at(at.x, at.y, 0.0)
            })
            .collect();
        let level = (to.x - from.x).abs() > (to.y - from.y).abs();
        let up = if level { Vec3::Z } else { Vec3::Y };
        let section = |i: usize| {
            let end = if i == 0 || i + 1 == path.len() { 0.35 } else { 1.0 };
            rounded_rectangle(out * end, half * end, out.min(half) * end)
        };
        Solid::swept(&path, up, section)
    }

    /// Returns a plate with rounded corners that lies on the wall.
    pub fn patch(&self, centre: Vec2, half: Vec2, radius: f32, out: f32) -> Solid {
        let ring = |ratio: f32, out: f32| -> Option<Vec<Vec3>> {
            let around = rounded_rectangle(half.x, half.y, radius);
            around.iter().map(|p| self.at(centre.x + p.x * ratio, centre.y + p.y * ratio, out)).collect()
        };
        let rings: Option<Vec<Vec<Vec3>>> =
            [(1.0, -0.01), (1.0, out * 0.6), (0.985, out)].into_iter().map(|(ratio, out)| ring(ratio, out)).collect();
        rings.map_or_else(Solid::default, |rings| Solid::lofted(&rings))
    }
}

pub(super) fn add(parts: &mut Assembly, site: &Site<'_>) {
    let truck = site.truck;
    if truck.skirted || matches!(truck.load, Load::Box | Load::Fire) {
        return;
    }
    let Some(top) = site.field.skin_z(site.cab_rear_x - 0.20, 0.0) else { return };
    let low = site.frame_z + 0.06;
    let wall = Wall { site, x: site.cab_rear_x, low, top };
    // A body close behind the cab hides the cab's wall.
    let is_hidden = site.field.at(Vec3::new(site.cab_rear_x + 0.45, 0.0, low + 0.3)) < 0.0;
    if is_hidden || top - low < 0.7 || wall.at(0.0, low + 0.3, 0.0).is_none() {
        return;
    }
    let sleeper = top - low > SLEEPER_M;
    add_pressing(parts, &wall, sleeper);
    if !sleeper {
        add_window(parts, &wall);
    }
    if truck.load == Load::FifthWheel {
        if truck.class == Class::CabOver {
            add_chimney(parts, &wall);
        }
        add_lines(parts, &wall);
        add_lamp_and_rail(parts, &wall);
        if sleeper && truck.stacks.is_none() {
            add_flaps(parts, &wall);
        }
    }
}

/// Adds level beads in two groups, and the joints to roof and flanks.
fn add_pressing(parts: &mut Assembly, wall: &Wall<'_>, sleeper: bool) {
    let height = wall.top - wall.low;
    let Some(half) = wall.half(wall.low + 0.5 * height) else { return };
    let groups: &[(f32, f32, usize)] = if sleeper { &[(0.10, 0.40, 4), (0.52, 0.80, 4)] } else { &[(0.08, 0.34, 3)] };
    for (from, to, count) in groups {
        for number in 0..*count {
            let z = wall.low + height * (from + (to - from) * number as f32 / (count - 1) as f32);
            let reach = half * 0.66;
            parts.add_soft(Material::Paint, wall.strip(Vec2::new(-reach, z), Vec2::new(reach, z), 0.030, 0.011));
        }
    }
    let joint = wall.top - 0.09 * height.min(1.6);
    let edge = half - 0.10;
    let low = wall.low + 0.05;
    parts.add(Material::PanelGap, wall.strip(Vec2::new(-edge, joint), Vec2::new(edge, joint), 0.006, 0.0022));
    for side in [-1.0, 1.0] {
        let y = side * edge;
        parts.add(Material::PanelGap, wall.strip(Vec2::new(y, low), Vec2::new(y, joint), 0.005, 0.0022));
        // A pressed edge beside the joint.
        let y = side * (edge - 0.07);
        parts.add_soft(Material::Paint, wall.strip(Vec2::new(y, low + 0.02), Vec2::new(y, joint - 0.05), 0.022, 0.009));
    }
    // A black cover over the tunnel at the wall's foot.
    let cover = wall.patch(Vec2::new(0.0, low + 0.04), Vec2::new(half * 0.62, 0.10), 0.03, 0.03);
    parts.add_soft(Material::MattBlack, cover);
}

/// Adds a pane in a rubber seal in the upper half.
fn add_window(parts: &mut Assembly, wall: &Wall<'_>) {
    let height = wall.top - wall.low;
    let Some(half) = wall.half(wall.low + 0.7 * height) else { return };
    let centre = Vec2::new(0.0, wall.low + 0.69 * height);
    let size = Vec2::new(half * 0.66, (0.155 * height).min(0.25));
    parts.add_soft(Material::MattBlack, wall.patch(centre, size + 0.028, 0.09, 0.014));
    parts.add_soft(Material::GlossBlack, wall.patch(centre, size, 0.07, 0.017));
}

/// Adds the tall duct of the engine's intake, with louvres at its head.
fn add_chimney(parts: &mut Assembly, wall: &Wall<'_>) {
    let height = wall.top - wall.low;
    let Some(half) = wall.half(wall.low + 0.6 * height) else { return };
    let y = half - 0.30;
    let head = wall.low + height * 0.86;
    let Some(at) = wall.at(y, head - 0.1, 0.0) else { return };
    let p = Vec3::new;
    let ring = |z: f32, wide: f32, deep: f32| -> Vec<Vec3> {
        rounded_rectangle(deep * 0.5, wide, 0.04)
            .iter()
            .map(|q| p(at.x - 0.02 + deep * 0.5 + q.x, y + q.y, z))
            .collect()
    };
    let duct = [
        ring(wall.low - 0.10, 0.10, 0.14),
        ring(wall.low + 0.10, 0.11, 0.15),
        ring(head - 0.50, 0.12, 0.16),
        ring(head - 0.42, 0.15, 0.20),
        ring(head - 0.03, 0.15, 0.20),
        ring(head, 0.13, 0.17),
    ];
    parts.add_soft(Material::MattBlack, Solid::lofted(&duct));
    for number in 0..8 {
        let z = head - 0.38 + 0.043 * number as f32;
        parts
            .add(Material::PanelGap, block(p(at.x + 0.05, y - 0.125, z), p(at.x + 0.182, y + 0.125, z + 0.020), 0.004));
    }
    for z in [wall.low + 0.2, wall.low + 0.42 * height] {
        parts.add(
            Material::MattBlack,
            block(p(at.x - 0.03, y - 0.15, z - 0.02), p(at.x + 0.16, y + 0.13, z + 0.02), 0.01),
        );
    }
}

/// Adds the couplings on their panel, and the coiled lines parked on it.
fn add_lines(parts: &mut Assembly, wall: &Wall<'_>) {
    let z = (wall.low + 0.95).min(wall.top - 0.5);
    let centre = Vec2::new(-0.10, z);
    parts.add_soft(Material::MattBlack, wall.patch(centre, Vec2::new(0.34, 0.075), 0.03, 0.035));
    let lines = [(-0.34, Material::LampRed), (-0.08, Material::MattBlack), (0.18, Material::LampAmber)];
    for (y, material) in lines {
        let ends = [wall.at(y, z, 0.03), wall.at(y + 0.13, z, 0.03)];
        let [Some(from), Some(to)] = ends else { continue };
        for end in [from, to] {
            parts.add(Material::Satin, Solid::pin(end, end + Vec3::X * 0.035, 0.026, 14));
            parts.add(material, Solid::pin(end + Vec3::X * 0.03, end + Vec3::new(0.075, 0.0, -0.012), 0.021, 14));
        }
        let out = Vec3::X * 0.075;
        let sag = |ratio: f32, down: f32| from.lerp(to, ratio) + Vec3::new(0.13, 0.0, -down);
        let spine = curve_through(
            &[from + out, sag(-0.1, 0.16), sag(0.05, 0.48), sag(0.5, 0.66), sag(0.95, 0.48), sag(1.1, 0.16), to + out],
            8,
        );
        parts.add_soft(material, coil(&spine));
    }
}

/// Returns a helix about a spine, with straight ends.
fn coil(spine: &[Vec3]) -> Solid {
    const RADIUS_M: f32 = 0.030;
    const TURN_M: f32 = 0.036;
    const A_TURN: usize = 9;
    let lengths: Vec<f32> = spine.windows(2).map(|pair| pair[0].distance(pair[1])).collect();
    let whole: f32 = lengths.iter().sum();
    let count = (whole / TURN_M) as usize * A_TURN;
    let at = |along: f32| {
        let mut rest = along;
        for (i, length) in lengths.iter().enumerate() {
            if rest <= *length || i + 1 == lengths.len() {
                let way = (spine[i + 1] - spine[i]).normalize_or(Vec3::Z);
                return (spine[i] + way * rest, way);
            }
            rest -= length;
        }
        (spine[0], Vec3::Z)
    };
    let path: Vec<Vec3> = (0..=count)
        .map(|i| {
            let ratio = i as f32 / count as f32;
            let (middle, way) = at(ratio * whole);
            let across = way.cross(Vec3::X).normalize_or(Vec3::Y);
            let up = across.cross(way);
            let (sin, cos) = (TAU * i as f32 / A_TURN as f32).sin_cos();
            let radius = RADIUS_M * (ratio.min(1.0 - ratio) * 10.0).min(1.0);
            middle + (across * cos + up * sin) * radius
        })
        .collect();
    pipe_of(&path, 0.0075, 7)
}

fn add_lamp_and_rail(parts: &mut Assembly, wall: &Wall<'_>) {
    let height = wall.top - wall.low;
    let Some(half) = wall.half(wall.low + 0.5 * height) else { return };
    let p = Vec3::new;
    if let Some(at) = wall.at(-half * 0.45, wall.top - 0.20 * height.min(1.6), 0.0) {
        parts.add(Material::MattBlack, block(at + p(-0.01, -0.06, -0.05), at + p(0.06, 0.06, 0.05), 0.02));
        parts.add(Material::LampReflector, block(at + p(0.055, -0.045, -0.036), at + p(0.064, 0.045, 0.036), 0.008));
    }
    let y = -(half - 0.24);
    let ends = [wall.at(y, wall.low + 0.35, 0.0), wall.at(y, wall.low + 1.05, 0.0)];
    if let [Some(from), Some(to)] = ends {
        let out = Vec3::X * 0.07;
        let path = [from, from + out + Vec3::Z * 0.03, to + out - Vec3::Z * 0.03, to];
        parts.add(Material::Satin, pipe(&curve_through(&path, 5), 0.015));
    }
}

/// Adds flaps that continue the cab's flanks towards the trailer, edged with rubber.
fn add_flaps(parts: &mut Assembly, wall: &Wall<'_>) {
    const STEPS: usize = 36;
    let site = wall.site;
    let (from, to) = (wall.low + 0.42, wall.top - 0.10);
    let mut rings = Vec::new();
    let mut edge = Vec::new();
    for step in 0..=STEPS {
        let ratio = step as f32 / STEPS as f32;
        let z = from + (to - from) * ratio;
        let Some(y) = wall.half(z) else { continue };
        let head = ((ratio - 0.84) / 0.16).max(0.0);
        let foot = ((0.07 - ratio) / 0.07).max(0.0);
        let round = 1.0
            - 0.80 * (1.0 - (1.0 - head * head).max(0.0).sqrt())
            - 0.5 * (1.0 - (1.0 - foot * foot).max(0.0).sqrt());
        let (front, rear) = (site.cab_rear_x - 0.015, site.cab_rear_x + FLAP_M * round);
        let p = |x: f32, y: f32| Vec3::new(x, y, z);
        rings.push(vec![p(front, y - 0.008), p(rear, y - 0.018), p(rear, y - 0.036), p(front, y - 0.030)]);
        edge.push(p(rear + 0.012, y - 0.027));
    }
    if rings.len() < 3 {
        return;
    }
    parts.add_pair(Material::Paint, Solid::lofted(&rings));
    parts.add_pair(Material::MattBlack, Solid::swept(&edge, Vec3::X, |_| rounded_rectangle(0.013, 0.022, 0.012)));
    for ratio in [0.25, 0.75] {
        let z = from + (to - from) * ratio;
        let Some(y) = wall.half(z) else { continue };
        let foot = Vec3::new(site.cab_rear_x - 0.02, y - 0.30, z);
        let tip = Vec3::new(site.cab_rear_x + FLAP_M * 0.7, y - 0.03, z);
        parts.add_pair(Material::MattBlack, pipe(&[foot, tip], 0.014));
    }
}
