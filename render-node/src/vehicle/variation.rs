//! Variations that distinguish the models which nobody has drawn, because one template stands for
//! hundreds of names. Rake of the screens, belt, axles, lamps, grille and tail move a little, by
//! the model's name, within the limits of class and era. The dimensions are known and never change,
//! and neither does a sheet that was drawn for the model.

use cyclorama_core::Vehicle;
use glam::Vec2;

use super::chance::chances;
use super::mesh::Material;
use super::sheet::{Curve, Region, RegionKind, Sheet};

/// Maximum longitudinal lean of screens: metres at the roof per metre above the belt.
const RAKE: f32 = 0.13;
/// Height above the belt from which on screens lean no further, because those of buses
/// are three metres tall.
const RAKED_M: f32 = 0.7;
const BELT_M: f32 = 0.018;
const AXLES_M: f32 = 0.03;
const TYRE_RATIO: f32 = 0.03;
/// Maximum ratio by which lamps and openings grow or shrink upwards, and below that across.
const LAMP_RATIO: f32 = 0.20;
const GRILLE_RATIO: f32 = 0.22;
const ACROSS_RATIO: f32 = 0.10;
/// Maximum rise of a lamp towards the flank, in metres per metre.
const LAMP_TILT: f32 = 0.14;
const TAIL_RATIO: f32 = 0.25;
/// Ratios of the models that have chrome around the windows, and roof rails.
const CHROME_WINDOWS: f32 = 0.3;
const RAILS: f32 = 0.5;

/// Changes a template for one model, in the same way for all years that share the template.
pub fn vary(sheet: &mut Sheet, vehicle: &Vehicle) {
    let mut either = chances(&format!("{}/{}", vehicle.make, vehicle.model));

    sheet.size.front_overhang += AXLES_M * either();
    sheet.wheels.tyre_diameter *= 1.0 + TYRE_RATIO * either();
    rake_screens(sheet, RAKE * either(), RAKE * either());
    let (lift, slope) = (BELT_M * either(), BELT_M * either());
    let length = sheet.size.length;
    for point in &mut sheet.body.belt {
        point.at.y += lift + slope * (2.0 * point.at.x / length - 1.0);
    }
    for crease in &mut sheet.crease {
        crease.height *= 1.0 + 0.6 * either();
    }
    let (lamp, tilt) = (LAMP_RATIO * either(), LAMP_TILT * either());
    let (grille, across, intake) = (GRILLE_RATIO * either(), ACROSS_RATIO * either(), GRILLE_RATIO * either());
    let [low, high] = sheet.front.anchors;
    for region in &mut sheet.front.region {
        let middle = middle(&region.at.curve);
        match region.kind {
            RegionKind::Lamp(_) => stretch(region, middle, [1.0, 1.0 + lamp], tilt),
            RegionKind::Inset { .. } | RegionKind::Skin(_) => {
                let upper = middle.y > 0.5 * (low + high);
                let size = 1.0 + if upper { grille } else { intake };
                let about = if region.at.mirror { Vec2::new(0.0, middle.y) } else { middle };
                stretch(region, about, [1.0 + across, size], 0.0);
            }
            RegionKind::Gap { .. } => {}
        }
    }
    let (tail, slant) = (TAIL_RATIO * either(), 0.5 * LAMP_TILT * either());
    for region in sheet.rear.region.iter_mut().filter(|region| matches!(region.kind, RegionKind::Lamp(_))) {
        let middle = middle(&region.at.curve);
        stretch(region, middle, [1.0, 1.0 + tail], slant);
    }
    let mut ratio = move || either() * 0.5 + 0.5;
    let is_bus = sheet.bus.is_some();
    if ratio() < CHROME_WINDOWS && !is_bus && sheet.glass.side_band_material.is_none() {
        sheet.glass.side_band_material = Some(Material::Chrome);
    }
    if ratio() > RAILS {
        sheet.fittings.rails = None;
    }
}

/// Leans windscreen and backlight: every point of the greenhouse above the belt moves along by its
/// height, the front half by `front` and the rear half by `rear` metres per metre.
fn rake_screens(sheet: &mut Sheet, front: f32, rear: f32) {
    let belt = sheet.body.belt.iter().map(|point| point.at.y).fold(f32::MAX, f32::min);
    let house = &mut sheet.greenhouse;
    let least = house.profile.iter().map(|p| p.at.x).fold(f32::MAX, f32::min);
    let most = house.profile.iter().map(|p| p.at.x).fold(f32::MIN, f32::max);
    let top = house.profile.iter().map(|p| p.at.y).fold(f32::MIN, f32::max);
    // Upright tails and cabs stay upright, because they have no length to lean over.
    let moved = |at: Vec2| {
        let ratio = ((at.x - least) / (most - least).max(0.1)).clamp(0.0, 1.0);
        let blend = super::blend::step((ratio - 0.25) / 0.5);
        at.x + (front * (1.0 - blend) + rear * blend) * (at.y - belt).clamp(0.0, RAKED_M)
    };
    for point in &mut house.profile {
        point.at.x = moved(point.at);
    }
    if let Some(open) = &mut house.open {
        open.header = moved(Vec2::new(open.header, top));
    }
    let glass = &mut sheet.glass;
    if let Some(windscreen) = &mut glass.windscreen {
        windscreen.header = moved(Vec2::new(windscreen.header, top));
    }
    if let Some(backlight) = &mut glass.backlight {
        backlight.top = moved(Vec2::new(backlight.top, top));
    }
    let edges = glass.side.iter_mut().flat_map(|side| [&mut side.front, &mut side.rear]);
    for [x, z] in edges.flatten() {
        *x = moved(Vec2::new(*x, *z));
    }
    for [x, z] in glass.pillar.iter_mut().flat_map(|pillar| &mut pillar.line) {
        *x = moved(Vec2::new(*x, *z));
    }
    if let Some(outline) = glass.side.as_mut().and_then(|side| side.outline.as_mut()) {
        for point in outline {
            point.at.x = moved(point.at);
        }
    }
}

fn middle(curve: &Curve) -> Vec2 {
    curve.iter().map(|point| point.at).sum::<Vec2>() / curve.len().max(1) as f32
}

/// Stretches a region about a point, across and upwards, and lifts its outer end.
fn stretch(region: &mut Region, about: Vec2, [across, upwards]: [f32; 2], tilt: f32) {
    for point in &mut region.at.curve {
        let off = point.at - about;
        point.at = about + Vec2::new(off.x * across, off.y * upwards + off.x * tilt);
    }
}
