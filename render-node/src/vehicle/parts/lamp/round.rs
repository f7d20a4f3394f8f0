//! Round head lamps that stand in a can of their own: classics, off-roaders, retro cars.
//!
//! They point ahead whatever the slope of the body around them. A lens cut from a raked skin
//! would be smeared into a drop.

use glam::{Vec2, Vec3};

use super::super::solid::Solid;
use super::LampSeat;
use super::finish::Finish;
use super::guide::add_ring;
use super::head_lamp::{HeadLamp, MainLight, RunningLight};
use super::light::{add_bowl, add_projector};
use crate::vehicle::mesh::{Material, VehicleMesh};

/// A round lamp in vehicle space.
#[derive(Debug, Clone, Copy)]
pub struct RoundLamp {
    /// Middle of the ring around the lens.
    pub centre: Vec3,
    /// Direction that it shines.
    pub axis: Vec3,
    /// Radius of the lens.
    pub radius: f32,
    /// Depth of the can in the body.
    pub can: f32,
    pub can_material: Material,
    pub surround: Material,
    pub main: MainLight,
    /// True if the lamp has a ring of light.
    pub is_lit: bool,
    pub year: u16,
}

/// Height of the lens's bulge, as a ratio of its radius.
const BULGE: f32 = 0.17;
/// Distance of the light behind the lens's edge.
const BEHIND_M: f32 = 0.010;
/// Weight of the vehicle's own direction in that of a round lamp. The rest is the
/// direction of the body around it.
const AHEAD: f32 = 0.38;
/// Distance by which the ring stands out of the body at the place where it stands out least.
const STANDS_OUT_M: f32 = 0.002;
/// Depth to which the body recedes behind a lamp.
const DEEP_M: f32 = 0.075;
/// Ratios of width to height at which an outline still counts as round.
const ROUND: std::ops::RangeInclusive<f32> = 0.78..=1.28;
/// Rings around round lamps are bright before this year, unless the sheet sets their material.
const BRIGHT_RINGS: u16 = 1996;
const LARGEST_M: f32 = 0.13;
const SMALLEST_M: f32 = 0.05;

impl RoundLamp {
    /// Returns the place to which a point of the body moves to make room for the lamp.
    pub fn behind(&self, p: Vec3) -> Vec3 {
        let off = p - self.centre;
        let along = off.dot(self.axis);
        let aside = (off - self.axis * along).length();
        if aside < self.radius * 1.09 && along > -DEEP_M { p - self.axis * (along + DEEP_M) } else { p }
    }
}

/// Returns the round lamp in the place of a lens drawn from the front, or
/// `None` if its outline is not round.
pub fn round_lamp_for(border: &[Vec3], outward: Vec3, forward: Vec3, spec: &HeadLamp, year: u16) -> Option<RoundLamp> {
    let (low, high) = border.iter().fold((Vec3::MAX, Vec3::MIN), |(l, h), p| (l.min(*p), h.max(*p)));
    let size = high - low;
    let radius = 0.25 * (size.y + size.z);
    if !ROUND.contains(&(size.y / size.z.max(1e-3))) || !(SMALLEST_M..=LARGEST_M).contains(&radius) {
        return None;
    }
    let axis = (forward * AHEAD + outward * (1.0 - AHEAD)).normalize_or(forward);
    let mut centre = (low + high) * 0.5;
    // The ring moves forward until nothing of the outline stands in front of it.
    let foremost = border.iter().map(|p| (*p - centre).dot(axis)).fold(f32::MIN, f32::max);
    centre += axis * (foremost + STANDS_OUT_M);
    let is_lit = spec.running != RunningLight::None;
    let surround = spec.ring.unwrap_or(if year < BRIGHT_RINGS { Material::Chrome } else { Material::GlossBlack });
    let can = foremost - border.iter().map(|p| (*p - centre).dot(axis)).fold(f32::MAX, f32::min) + 0.08;
    let main = spec.main;
    // A black ring belongs to a black grille.
    let can_material = if surround == Material::MattBlack { surround } else { Material::Paint };
    Some(RoundLamp { centre, axis, radius, can, can_material, surround, main, is_lit, year })
}

/// Returns the lamp with its can, its ring, its lens and the parts behind the lens.
pub fn round_lamp(lamp: &RoundLamp) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    let side = lamp.axis.cross(Vec3::Z).normalize_or(Vec3::Y);
    let up = side.cross(lamp.axis);
    let whole = LampSeat { centre: lamp.centre, axis: lamp.axis, side, up, radius: lamp.radius };
    let can = [(-lamp.can, 1.10), (-0.030, 1.13), (-0.012, 1.12)];
    mesh.add(lamp.can_material, &whole.turned(&can, 48).surface(60.0));
    let gap = [(-0.014, 1.12), (-0.014, 1.09)];
    mesh.add(Material::PanelGap, &whole.turned(&gap, 40).surface(60.0));
    let ring = [(-0.020, 1.10), (-0.004, 1.11), (0.002, 1.085), (0.003, 1.04), (0.000, 0.99), (-0.006, 0.965)];
    mesh.add(lamp.surround, &whole.turned(&ring, 48).surface(60.0));
    let lens: Vec<Vec2> = (0..=9)
        .map(|step| {
            let ratio = 1.0 - step as f32 / 9.0;
            let bulge = (1.0 - ratio.powi(3)) * BULGE * lamp.radius;
            Vec2::new(bulge - 0.004, 0.985 * ratio * lamp.radius)
        })
        .collect();
    mesh.add(Material::LampLens, &whole.set(Solid::revolved(&lens, 40)).surface(60.0));
    // The light, set back in a dark ring.
    let wall = [(-0.004, 0.975), (-BEHIND_M - 0.004, 0.95)];
    mesh.add(Material::LampSatin, &whole.turned(&wall, 36).surface(60.0));
    let spec = HeadLamp { main: lamp.main, ..HeadLamp::default() };
    let finish = Finish::new(&spec, lamp.year, Material::LampHousing);
    let inside =
        |ratio: f32| LampSeat { centre: lamp.centre - lamp.axis * BEHIND_M, radius: lamp.radius * ratio, ..whole };
    let light = if lamp.is_lit { 0.80 } else { 0.95 };
    if lamp.is_lit {
        add_ring(&mut mesh, &inside(light), lamp.radius * 0.13, true);
    }
    if matches!(lamp.main, MainLight::Bowl | MainLight::Sealed) {
        add_bowl(&mut mesh, &inside(light), false, finish);
    } else {
        // A projector in the middle of a dark floor with rings.
        let small = 0.60;
        let floor = [
            (-0.004, light),
            (-0.014, light - 0.03),
            (-0.015, 0.5 * (light + small) + 0.02),
            (-0.019, 0.5 * (light + small)),
            (-0.020, small),
        ];
        mesh.add(Material::LampSatin, &inside(1.0).turned(&floor, 36).surface(20.0));
        add_projector(&mut mesh, &inside(small), finish);
    }
    mesh.surfaces.retain(|_, surface| surface.triangle_count() > 0);
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::parts::checks::assert_sound;

    /// A circle of some radius, as cut from a skin that leans back by some slope.
    fn on_slope(radius: f32, slope: f32) -> Vec<Vec3> {
        (0..48)
            .map(|i| {
                let (sin, cos) = (std::f32::consts::TAU * i as f32 / 48.0).sin_cos();
                Vec3::new(0.3 + slope * radius * sin, 0.6 + radius * cos, 0.7 + radius * sin)
            })
            .collect()
    }

    #[test]
    fn a_round_lamp_on_a_raked_nose_stays_round_and_looks_ahead() {
        let outward = Vec3::new(-1.0, 0.0, 1.0).normalize();
        let spec = HeadLamp { main: MainLight::Bowl, count: 1, ..HeadLamp::default() };
        let border = on_slope(0.09, 1.0);
        let lamp = round_lamp_for(&border, outward, -Vec3::X, &spec, 2010).expect("it is round");
        assert!((lamp.radius - 0.09).abs() < 0.002);
        assert!(lamp.axis.x < -0.74, "{}", lamp.axis);
        assert!(border.iter().all(|p| (*p - lamp.centre).dot(lamp.axis) < 0.0));
        for main in [MainLight::Bowl, MainLight::Projectors] {
            for is_lit in [false, true] {
                assert_sound(&round_lamp(&RoundLamp { main, is_lit, ..lamp }), "round lamp");
            }
        }
    }

    #[test]
    fn a_wide_lamp_is_not_round() {
        let wide: Vec<Vec3> = on_slope(0.09, 0.2).iter().map(|p| Vec3::new(p.x, p.y * 1.6, p.z)).collect();
        assert!(round_lamp_for(&wide, -Vec3::X, -Vec3::X, &HeadLamp::default(), 2010).is_none());
    }
}
