//! Positions of the mounts of a vehicle's badges: near the height that the sheet draws, where the
//! skin is so even that a flat mount neither sinks into it nor stands off.

use glam::{Vec2, Vec3};

use super::body_field::BodyField;
use super::parts::emblem::Emblem;
use super::sheet::{EmblemFitting, Sheet};
use super::surface_net::project;

/// Smallest |x| of the skin's unit normal under a badge: the skin must be at least this steep.
const STEEPEST: f32 = 0.30;
/// Number of steps down from the drawn height, and below up from it, that are searched
/// for a better position.
const DOWN_STEPS: i32 = 12;
const UP_STEPS: i32 = 3;
/// Length of a step, in metres.
const STEP_M: f32 = 0.008;
/// Distance from the drawn height that counts as much as one millimetre of gap under the rim.
const PER_MILLIMETRE_M: f32 = 0.006;
/// Room below a badge on a bonnet, and how far up the bonnet an even position is searched.
const BONNET_ROOM_M: f32 = 0.014;
const BONNET_REACH_M: f32 = 0.07;
/// Minimum depth to which a mount reaches into the skin.
const SUNK_M: f32 = 0.014;
/// Depth to which the foot of the rim may dip below the skin.
const DIP_M: f32 = 0.0012;

/// A mount of a badge on the body, in real space.
#[derive(Debug, Clone, Copy)]
pub struct BadgePlace {
    pub look: Emblem,
    pub at: Vec3,
    pub outward: Vec3,
    /// Depth to which the mount's sides reach, so that none of them ends before the skin.
    pub sunk: f32,
    pub at_rear: bool,
}

impl BadgePlace {
    /// Returns the z of the lowest and the highest point.
    pub fn heights(&self) -> [f32; 2] {
        let half = 0.5 * self.look.height() * self.outward.x.abs();
        [self.at.z - half, self.at.z + half]
    }
}

/// A point on the skin in the centre plane, the outward normal there, and the distance
/// from the drawn position.
type Candidate = (Vec3, Vec3, f32);

/// Returns the mounts of all badges of a sheet.
pub fn badge_places(sheet: &Sheet, field: &BodyField) -> Vec<BadgePlace> {
    let fittings = sheet.fittings.emblem.iter();
    fittings
        .filter_map(|fitting| {
            let on_bonnet = if fitting.on_bonnet { along_bonnet(fitting, field) } else { Vec::new() };
            let candidates = if on_bonnet.is_empty() { near_height(fitting, field) } else { on_bonnet };
            let places = candidates.into_iter().map(|(at, outward, away)| {
                let [lift, daylight] = seat(&fitting.look, field, at, outward);
                (daylight + lift + 0.001 * away / PER_MILLIMETRE_M, at + outward * lift, outward, daylight)
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

/// Candidates on skin that faces forwards or backwards.
fn near_height(fitting: &EmblemFitting, field: &BodyField) -> Vec<Candidate> {
    let drawn = field.morph.to_real(Vec3::Z * fitting.z).z;
    let heights = (-UP_STEPS..=DOWN_STEPS).map(|step| drawn - STEP_M * step as f32);
    heights
        .filter_map(|z| {
            let at = Vec3::new(field.skin_x(0.0, z, fitting.at_rear)?, 0.0, z);
            let outward = field.normal(at);
            (outward.x.abs() > STEEPEST).then_some((at, outward, (z - drawn).abs()))
        })
        .collect()
}

/// Candidates along the bonnet, from the height at which the badge begins.
fn along_bonnet(fitting: &EmblemFitting, field: &BodyField) -> Vec<Candidate> {
    let low = field.morph.to_real(Vec3::Z * fitting.z).z;
    let Some(x) = field.skin_x(0.0, low, false) else { return Vec::new() };
    let mut at = Vec3::new(x, 0.0, low);
    let first = 0.5 * fitting.look.height() + BONNET_ROOM_M;
    let (mut gone, mut found) = (0.0, Vec::new());
    while gone < first + BONNET_REACH_M {
        let outward = field.normal(at);
        let back = Vec3::Y.cross(outward).normalize_or(Vec3::X);
        let back = if back.x < 0.0 { -back } else { back };
        at = project(&|p| field.at(p), at + back * STEP_M, STEP_M);
        gone += STEP_M;
        if gone >= first {
            found.push((at, field.normal(at), gone - first));
        }
    }
    found
}

/// Returns how far a flat mount at a point must be lifted for its rim to clear the skin, and the
/// gap that is then under it.
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

    use super::super::library::Library;
    use super::super::typical::typical;
    use super::*;
    use crate::vehicle::flank_lines::lined_field;

    #[test]
    fn badges_of_a_saloon_lie_on_its_skin() {
        let library = Library::embedded().unwrap();
        for make in ["bmw", "toyota", "volkswagen", "fiat"] {
            let mut vehicle = typical(BodyClass::Sedan);
            vehicle.make = make.to_owned();
            vehicle.model = "nobodys".to_owned();
            let sheet = library.dressed(&vehicle).unwrap().unwrap();
            let stance = sheet.stance();
            let arches = [stance.front_axle_x, stance.rear_axle_x].map(|x| super::super::body_field::Arch {
                x,
                z: stance.hub_z,
                radius: stance.hub_z + 0.03,
                power: 2.0,
            });
            let field = lined_field(&sheet, stance, stance, arches);
            let places = badge_places(&sheet, &field);
            assert!(!places.is_empty(), "{make}");
            for badge in places {
                let off = field.at(badge.at).abs();
                assert!(off < 0.03 && badge.sunk > off - 0.004, "{make}: {off} {}", badge.sunk);
            }
        }
    }
}
