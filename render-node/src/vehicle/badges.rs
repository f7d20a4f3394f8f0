//! Where the mounts of a vehicle's badges are: near the height they were drawn at, where the skin is so even that a flat mount neither
//! sinks into it nor stands off.

use glam::{Vec2, Vec3};

use super::body_field::BodyField;
use super::parts::emblem::Emblem;
use super::sheet::Sheet;

/// How steep the skin under a badge must be.
const STEEPEST: f32 = 0.30;
/// How far down and up from its drawn height a better place is looked for.
const DOWN_STEPS: i32 = 12;
const UP_STEPS: i32 = 3;
const STEP_M: f32 = 0.008;
/// Off the drawn height by this much is as bad as one millimetre of daylight under the rim.
const PER_MILLIMETRE_M: f32 = 0.006;
/// What a mount reaches into the skin at least.
const SUNK_M: f32 = 0.014;
/// How far the rim's foot may dip below the skin.
const DIP_M: f32 = 0.0012;

/// A mount on the body, in real space.
#[derive(Debug, Clone, Copy)]
pub struct BadgePlace {
    pub look: Emblem,
    pub at: Vec3,
    pub outward: Vec3,
    /// How deep its sides reach, so that none of them ends before the skin.
    pub sunk: f32,
    pub at_rear: bool,
}

impl BadgePlace {
    /// Lowest and highest point.
    pub fn heights(&self) -> [f32; 2] {
        let half = 0.5 * self.look.height() * self.outward.x.abs();
        [self.at.z - half, self.at.z + half]
    }
}

/// The mounts of all badges of a sheet.
pub fn badge_places(sheet: &Sheet, field: &BodyField) -> Vec<BadgePlace> {
    let fittings = sheet.fittings.emblem.iter();
    fittings
        .filter_map(|fitting| {
            let drawn = field.morph.to_real(Vec3::Z * fitting.z).z;
            let places = (-UP_STEPS..=DOWN_STEPS).filter_map(|step| {
                let z = drawn - STEP_M * step as f32;
                let at = Vec3::new(field.skin_x(0.0, z, fitting.at_rear)?, 0.0, z);
                let outward = field.normal(at);
                if outward.x.abs() < STEEPEST {
                    return None;
                }
                let [lift, daylight] = seat(&fitting.look, field, at, outward);
                let cost = daylight + lift + 0.001 * (z - drawn).abs() / PER_MILLIMETRE_M;
                Some((cost, at + outward * lift, outward, daylight))
            });
            let (_, at, outward, daylight) = places.min_by(|a, b| a.0.total_cmp(&b.0))?;
            Some(BadgePlace {
                look: fitting.look,
                at: at + outward * fitting.out,
                outward,
                sunk: SUNK_M.max(daylight + fitting.out + 0.004),
                at_rear: fitting.at_rear,
            })
        })
        .collect()
}

/// By how much a flat mount at a point must be lifted so that its rim is clear of the skin, and the daylight that is then under it.
fn seat(look: &Emblem, field: &BodyField, at: Vec3, outward: Vec3) -> [f32; 2] {
    let up = Vec3::Y.cross(outward).normalize_or(Vec3::Z);
    let half = 0.5 * Vec2::new(look.width, look.height());
    let ways = [[0.96, 0.0], [0.68, 0.68], [0.0, 0.96], [0.68, -0.68], [0.0, -0.96]];
    let gaps = ways.map(|[across, upwards]| field.at(at + Vec3::Y * (across * half.x) + up * (upwards * half.y)));
    let least = gaps.iter().fold(f32::MAX, |least, gap| least.min(*gap));
    let most = gaps.iter().fold(f32::MIN, |most, gap| most.max(*gap));
    let lift = (-least - DIP_M).max(0.0);
    [lift, (most + lift).max(0.0)]
}

#[cfg(test)]
mod tests {
    use cyclorama_core::vehicle::BodyClass;

    use super::super::body_field::BodyField;
    use super::super::library::Library;
    use super::super::morph::Stance;
    use super::super::typical::typical;
    use super::*;

    #[test]
    fn badges_of_a_saloon_lie_on_its_skin() {
        let library = Library::embedded().unwrap();
        for make in ["bmw", "toyota", "volkswagen", "fiat"] {
            let mut vehicle = typical(BodyClass::Sedan);
            vehicle.make = make.to_owned();
            vehicle.model = "nobodys".to_owned();
            let sheet = library.dressed(&vehicle).unwrap().unwrap();
            let size = sheet.size;
            let stance = Stance {
                length: size.length,
                width: size.width,
                height: size.height,
                front_axle_x: size.front_overhang,
                rear_axle_x: size.front_overhang + size.wheelbase,
                hub_z: sheet.wheels.tyre_diameter * 0.5,
            };
            let arches = [stance.front_axle_x, stance.rear_axle_x].map(|x| super::super::body_field::Arch {
                x,
                z: stance.hub_z,
                radius: stance.hub_z + 0.03,
                power: 2.0,
            });
            let field = BodyField::new(&sheet, stance, stance, arches);
            let places = badge_places(&sheet, &field);
            assert!(!places.is_empty(), "{make}");
            for badge in places {
                let off = field.at(badge.at).abs();
                assert!(off < 0.03 && badge.sunk > off - 0.004, "{make}: {off} {}", badge.sunk);
            }
        }
    }
}
