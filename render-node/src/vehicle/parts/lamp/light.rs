//! The lights that stand in the shell of a head lamp: projectors, bowls, square modules.

use glam::{Vec2, Vec3};

use super::super::solid::{CREASE_DEGREES, Solid, rounded_rectangle};
use super::finish::Finish;
use super::head_lamp::{HeadLamp, MainLight};
use super::housing::BEZEL_M;
use super::{LampSeat, LampSite};
use crate::vehicle::mesh::{Material, VehicleMesh};

/// Greatest width of a funnel around a light, as a multiple of the light's width.
const WIDEST_DISH: f32 = 1.36;
/// Least width of a funnel that is worth making, as a multiple of the light's width.
const NARROWEST_DISH: f32 = 1.10;

/// Adds the flared dish that a light sits in, as wide as the lamp leaves room for.
pub fn add_dish(mesh: &mut VehicleMesh, site: &LampSite, spec: &HeadLamp, seat: &LampSeat, finish: Finish) {
    if !matches!(spec.main, MainLight::Projectors | MainLight::Modules | MainLight::Bowl) {
        return;
    }
    let (p, _) = site.place_of(seat.centre);
    let (low, high) = site.span(p.x);
    let room = (high - p.y).min(p.y - low) - BEZEL_M * 1.3;
    let wide = (room / seat.radius).min(WIDEST_DISH);
    if wide < NARROWEST_DISH {
        return;
    }
    if spec.main == MainLight::Modules {
        add_square_funnel(mesh, seat, wide, finish);
        return;
    }
    let inner = 1.0 + (wide - 1.0) * 0.3;
    let dish = [(-0.010, wide - 0.06), (-0.018, inner), (-0.026, 1.0)];
    mesh.add(finish.shroud, &seat.turned(&dish, 30).surface(CREASE_DEGREES));
    let rim = [(-0.018, wide), (-0.008, wide), (-0.007, wide - 0.02), (-0.010, wide - 0.06)];
    mesh.add(finish.rim, &seat.turned(&rim, 32).surface(60.0));
}

fn add_square_funnel(mesh: &mut VehicleMesh, seat: &LampSeat, wide: f32, finish: Finish) {
    let ring = |half: f32, out: f32| -> Vec<Vec3> {
        let section = rounded_rectangle(half, half * 0.86, half * 0.22);
        section.iter().map(|p| seat.centre + seat.side * p.x + seat.up * p.y + seat.axis * out).collect()
    };
    let r = seat.radius;
    let rings =
        [ring(r * wide, -0.020), ring(r * wide, -0.004), ring(r * (wide - 0.07), -0.0045), ring(r * 1.02, -0.018)];
    let walls = Solid::grid(4, rings[0].len(), true, |row, column| rings[row][column]);
    let looks_out = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| walls.points[i as usize]);
        (b - a).cross(c - a).dot(seat.axis)
    };
    let walls = if walls.triangles.iter().map(looks_out).sum::<f32>() < 0.0 { walls.flipped() } else { walls };
    mesh.add(finish.shroud, &walls.surface(CREASE_DEGREES));
}

/// Adds one main light of the sheet's kind.
pub fn add_main_light(mesh: &mut VehicleMesh, spec: &HeadLamp, seat: &LampSeat, finish: Finish) {
    let r = seat.radius;
    match spec.main {
        MainLight::None => {}
        MainLight::Projectors => add_projector(mesh, seat, finish),
        MainLight::Bowl | MainLight::Sealed => add_bowl(mesh, seat, spec.main == MainLight::Sealed, finish),
        MainLight::Modules => add_square_lens(mesh, seat, Vec2::new(r, r * 0.86), finish.ring),
        MainLight::Matrix => {
            for cell in -1..=1 {
                let seat = LampSeat { centre: seat.centre + seat.side * (cell as f32 * r * 0.74), ..*seat };
                add_square_lens(mesh, &seat, Vec2::new(r * 0.34, r * 0.52), finish.ring);
            }
        }
        MainLight::Slits => add_square_lens(mesh, seat, Vec2::new(r * 1.5, r * 0.42), finish.ring),
    }
}

/// Height of the bulge of a projector's glass, as a ratio of the glass's radius.
const BULGE: f32 = 0.62;
/// Radius of the glass as a ratio of the whole light's radius.
const GLASS: f32 = 0.64;

/// Adds a stepped funnel with a bright rim, a dark gap, and in it a glass that bulges.
pub fn add_projector(mesh: &mut VehicleMesh, seat: &LampSeat, finish: Finish) {
    let shroud = [(-0.045, 1.0), (-0.004, 1.0)];
    mesh.add(Material::LampHousing, &seat.turned(&shroud, 30).surface(CREASE_DEGREES));
    let rim = [(-0.004, 1.0), (-0.001, 0.985), (0.0, 0.94), (-0.001, 0.88), (-0.004, 0.85)];
    mesh.add(finish.ring, &seat.turned(&rim, 32).surface(60.0));
    let cone = [(-0.004, 0.85), (-0.011, 0.81), (-0.012, 0.78)];
    mesh.add(finish.shroud, &seat.turned(&cone, 30).surface(30.0));
    let inner = [(-0.012, 0.78), (-0.012, 0.755), (-0.015, 0.72), (-0.020, 0.70)];
    mesh.add(finish.rim, &seat.turned(&inner, 30).surface(60.0));
    let gap = [(-0.020, 0.70), (-0.026, GLASS), (-0.032, GLASS)];
    mesh.add(Material::LampHousing, &seat.turned(&gap, 24).surface(60.0));
    let deep = 0.014 + seat.radius * GLASS * BULGE * 0.55;
    let ball: Vec<(f32, f32)> = (0..=9)
        .map(|step| {
            let (sin, cos) = (std::f32::consts::FRAC_PI_2 * step as f32 / 9.0).sin_cos();
            (-deep + seat.radius * GLASS * BULGE * sin, GLASS * cos.max(0.0))
        })
        .collect();
    mesh.add(Material::LampGlass, &seat.turned(&ball, 28).surface(60.0));
}

/// About a third of the width of a facet at the rim of a bowl.
const FACET_M: f32 = 0.0024;

/// Adds a bowl of facets in a bright rim, with the bulb in it behind a shield.
pub fn add_bowl(mesh: &mut VehicleMesh, seat: &LampSeat, is_sealed: bool, finish: Finish) {
    let deep = (seat.radius * 0.75).min(0.05);
    let bowl: Vec<(f32, f32)> = (0..=7)
        .map(|step| {
            let ratio = 1.0 - step as f32 / 7.0;
            (-deep * (1.0 - ratio * ratio) - 0.002, 0.91 * ratio)
        })
        .collect();
    let front = [(-0.045, 1.0), (-0.003, 1.0), (0.0, 0.985), (-0.0005, 0.93), (-0.003, 0.91)];
    let rim = if is_sealed { Material::Chrome } else { finish.ring };
    mesh.add(rim, &seat.turned(&front, 36).surface(CREASE_DEGREES));
    // Flat facets sparkle, and a smooth bowl is only grey. Large bowls have more facets: a dozen
    // wedges would look like a toy's.
    let facets = ((seat.radius / FACET_M) as usize).clamp(20, 40);
    let (segments, crease) = if is_sealed { (44, 60.0) } else { (facets, 4.0) };
    mesh.add(Material::LampReflector, &seat.turned(&bowl, segments).surface(crease));
    // A dark throat, the shield in front of it, and the shield's bright edge.
    let throat = [(-deep * 0.86, 0.46), (-deep * 0.84, 0.40), (-deep * 0.92, 0.28)];
    mesh.add(Material::LampHousing, &seat.turned(&throat, 24).surface(CREASE_DEGREES));
    let shield = [(-deep, 0.27), (-deep * 0.42, 0.27)];
    mesh.add(Material::LampSatin, &seat.turned(&shield, 22).surface(CREASE_DEGREES));
    let cap = [(-deep * 0.42, 0.27), (-deep * 0.34, 0.235), (-deep * 0.30, 0.12), (-deep * 0.29, 0.0)];
    mesh.add(Material::LampReflector, &seat.turned(&cap, 22).surface(60.0));
}

/// Adds a square lens of dark glass in a bright frame. `half` are half its sizes.
fn add_square_lens(mesh: &mut VehicleMesh, seat: &LampSeat, half: Vec2, ring: Material) {
    let block = |x: f32, z: f32, from: f32, to: f32| {
        let solid = Solid::rounded_box(Vec3::new(x, (to - from) * 0.5, z), (to - from).min(z) * 0.3).facing_out();
        seat.set(solid.moved(Vec3::Y * (from + to) * 0.5)).facing_out()
    };
    let frame = (half.min_element() * 0.13).clamp(0.0016, 0.0042);
    // A dark box, a frame that is bright only at its front, a dark gap, and the glass.
    mesh.add(Material::LampHousing, &block(half.x, half.y, -0.030, -0.0065).surface(CREASE_DEGREES));
    mesh.add(ring, &block(half.x * 0.99, half.y * 0.99, -0.010, -0.003).surface(CREASE_DEGREES));
    let (x, z) = (half.x - frame, half.y - frame);
    mesh.add(Material::LampHousing, &block(x, z, -0.028, -0.0022).surface(CREASE_DEGREES));
    let (x, z) = (x - frame * 0.9, z - frame * 0.9);
    let glass = Solid::superellipsoid(Vec3::new(x, 0.0045, z), 2.6, 12, 24).moved(Vec3::Y * -0.003);
    mesh.add(Material::LampGlass, &seat.set(glass).facing_out().surface(60.0));
}
