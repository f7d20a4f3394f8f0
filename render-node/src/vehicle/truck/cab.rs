//! The parts that are fixed to a cab. A conventional has a bumper, a grille in its frame, wings and
//! lamps. All cabs may have mirrors, grab handles, steps, visor, marker lamps, stacks, air
//! cleaners, roof deflector and wipers.

use std::f32::consts::PI;

use glam::{Vec2, Vec3};

use super::lamps;
use super::site::Site;
use crate::vehicle::mesh::Material;
use crate::vehicle::parts::assembly::{Assembly, block, hull, pipe};
use crate::vehicle::parts::solid::{Solid, curve_through, rounded_rectangle};
use crate::vehicle::sheet::truck::{Bars, Class, FrontBumper, GrilleShell, Wing};

pub(super) fn add(parts: &mut Assembly, site: &Site<'_>) {
    let truck = site.truck;
    if let Some(bumper) = &truck.bumper {
        add_bumper(parts, site, bumper);
    }
    if let Some(grille) = &truck.grille {
        add_grille(parts, site, grille);
    }
    if let Some(wing) = &truck.wing {
        add_wing(parts, site, wing);
    }
    if let Some(pod) = &truck.lamp_pod {
        let [x, y, z] = pod.at;
        lamps::add_pods(
            parts,
            site.real(x, y, z),
            Vec2::new(pod.width, pod.height),
            pod.count,
            pod.material,
            site.year,
        );
    }
    if let Some([x, bottom, top]) = truck.stacks {
        add_stacks(parts, site, site.real(x, 0.0, bottom), site.real(x, 0.0, top).z);
    }
    if let Some([x, y, z]) = truck.air_cleaner {
        add_air_cleaners(parts, site.real(x, y, z));
    }
    if let Some([x, z, half]) = truck.visor {
        add_visor(parts, site, site.real(x, half, z));
    }
    if let Some([x, z, half]) = truck.markers {
        add_markers(parts, site, site.real(x, half, z));
    }
    if let Some([x, y, z]) = truck.mirrors {
        add_mirrors(parts, site, site.real(x, y, z));
    }
    if let Some([front, rear, low, high]) = truck.grab {
        add_grab_handles(parts, site, [site.real(front, 0.0, low), site.real(rear, 0.0, high)]);
    }
    if let Some([from, to, low, high]) = truck.steps {
        add_steps(parts, site, site.real(from, 0.0, low), site.real(to, 0.0, high));
    }
    if let Some([foot_x, rear_x, foot_z, top_z]) = truck.deflector {
        add_deflector(parts, site, site.real(foot_x, 0.0, foot_z), site.real(rear_x, 0.0, top_z));
    }
    if truck.wipers > 0 {
        add_wipers(parts, site);
    }
}

/// Adds a bumper: a plate bent round at its ends and rolled at both edges, with holes
/// for tow pins and lamps set in.
fn add_bumper(parts: &mut Assembly, site: &Site<'_>, bumper: &FrontBumper) {
    let low = site.real(bumper.x, 0.0, bumper.z[0]);
    let high = site.real(bumper.x, 0.0, bumper.z[1]);
    let (half_height, middle) = ((high.z - low.z) * 0.5, (high.z + low.z) * 0.5);
    let half_width = site.half_width - 0.015;
    let front = |across: f32| low.x + bumper.bow * across.abs().powf(2.6);
    let path: Vec<Vec3> = (-16..=16)
        .map(|i| {
            let across = i as f32 / 16.0;
            Vec3::new(front(across) + 0.035, across * half_width, middle)
        })
        .collect();
    let section = |i: usize| {
        let end = if i == 0 || i == 32 { 0.94 } else { 1.0 };
        // A swelling face over a fold, below which the face falls back. The edges are rolled.
        let (h, d) = (half_height * end, 0.035);
        let mut section: Vec<[f32; 2]> =
            vec![[-d + 0.052, -h + 0.03], [-d + 0.034, -0.62 * h], [-d + 0.012, -0.36 * h]];
        section.extend((0..=6).map(|step| {
            let t = step as f32 / 3.0 - 1.0;
            [-d + 0.010 * t * t - 0.004, h * (0.24 + 0.52 * t)]
        }));
        section.extend([
            [-d + 0.014, h - 0.03],
            [-d + 0.024, h - 0.010],
            [-d + 0.038, h],
            [d, h],
            [d, h - 0.014],
            [-d + 0.03, h - 0.03],
            [-d + 0.06, -h + 0.03],
            [d, -h + 0.014],
            [d, -h],
            [-d + 0.064, -h],
            [-d + 0.056, -h + 0.010],
        ]);
        section.into_iter().map(|[out, up]| Vec2::new(-out, up)).collect::<Vec<Vec2>>()
    };
    // The section's right points to the right of the path: to the rear
    // for a path that runs along +y.
    let plate = Solid::swept(&path, Vec3::Z, |i| section(i).iter().map(|p| Vec2::new(-p.x, p.y)).collect());
    parts.add_soft(bumper.material, plate);
    let p = Vec3::new;
    let face = |y: f32| front(y / half_width) - 0.003;
    let raised = middle + 0.24 * half_height;
    let reach = (half_width - 0.28).min(0.84);
    add_tow_eye(parts, p(face(0.40), 0.40, raised));
    add_fog_lamp(parts, p(face(reach), reach, raised), (0.36 * half_height).min(0.062));
    // Bolts of the brackets.
    for (y, up) in [(0.27, 0.62), (0.27, -0.12), (0.53, 0.62), (0.53, -0.12)] {
        let foot = p(face(y) + 0.004, y, middle + up * half_height);
        parts.add_pair(Material::Satin, Solid::pin(foot, foot - Vec3::X * 0.006, 0.016, 14));
        parts.add_pair(
            Material::Chrome,
            Solid::superellipsoid(p(0.010, 0.012, 0.012), 2.0, 6, 12).moved(foot - Vec3::X * 0.006),
        );
    }
    parts.add(
        Material::MattBlack,
        block(p(low.x - 0.012, -0.17, raised - 0.07), p(low.x + 0.01, 0.17, raised + 0.07), 0.008),
    );
    parts.add(Material::Satin, block(p(low.x - 0.016, -0.155, raised - 0.055), p(low.x, 0.155, raised + 0.055), 0.006));
    // The valance under the bumper.
    parts
        .add(Material::MattBlack, block(p(low.x + 0.08, -0.8, low.z - 0.06), p(low.x + 0.12, 0.8, low.z + 0.06), 0.01));
    // Brackets back to the frame.
    parts.add_pair(
        Material::MattBlack,
        block(p(low.x + 0.04, 0.36, middle - 0.1), p(low.x + 0.55, 0.44, middle + 0.08), 0.01),
    );
}

/// Adds a rim of rubber round a dark hole with the eye of a tow pin in it, on both sides.
fn add_tow_eye(parts: &mut Assembly, at: Vec3) {
    let p = Vec3::new;
    let ring = |x: f32, half: Vec2| -> Vec<Vec3> {
        rounded_rectangle(half.x, half.y, 0.025).iter().map(|q| at + p(x, q.x, q.y)).collect()
    };
    let (outer, inner) = (Vec2::new(0.068, 0.052), Vec2::new(0.054, 0.038));
    let rim = Solid::lofted(&[ring(0.01, outer), ring(-0.010, outer), ring(-0.014, outer * 0.96), ring(-0.014, inner)]);
    parts.add_pair(Material::MattBlack, rim);
    parts.add_pair(Material::PanelGap, Solid::lofted(&[ring(0.0, inner), ring(-0.0148, inner)]));
    let eye = [p(-0.016, 0.0, -0.026), p(-0.034, 0.0, 0.0), p(-0.016, 0.0, 0.026)].map(|q| at + q);
    parts.add_pair(Material::Satin, pipe(&curve_through(&eye, 5), 0.009));
}

/// Adds a round fog lamp in a bright ring, on both sides.
fn add_fog_lamp(parts: &mut Assembly, at: Vec3, radius: f32) {
    let disc = |from: f32, to: f32, ratio: f32| Solid::pin(at + Vec3::X * from, at + Vec3::X * to, radius * ratio, 28);
    parts.add_pair(Material::MattBlack, disc(0.01, -0.010, 1.16));
    parts.add_pair(Material::Chrome, disc(0.0, -0.020, 1.0));
    parts.add_pair(Material::LampHousing, disc(0.0, -0.0206, 0.86));
    let bowl = Solid::superellipsoid(Vec3::new(0.012, radius * 0.80, radius * 0.80), 2.0, 12, 24);
    parts.add_pair(Material::LampReflector, bowl.moved(at - Vec3::X * 0.012));
    let bulb = Solid::superellipsoid(Vec3::new(0.010, radius * 0.24, radius * 0.24), 2.0, 8, 16);
    parts.add_pair(Material::LampGlass, bulb.moved(at - Vec3::X * 0.020));
    let lens = Solid::superellipsoid(Vec3::new(0.014, radius * 0.86, radius * 0.86), 2.0, 12, 24);
    parts.add_pair(Material::LampLens, lens.moved(at - Vec3::X * 0.022));
}

/// Adds a frame with rounded corners round bars, with darkness behind the bars.
fn add_grille(parts: &mut Assembly, site: &Site<'_>, grille: &GrilleShell) {
    let low = site.real(grille.x, grille.low[0], grille.low[1]);
    let high = site.real(grille.x, grille.high[0], grille.high[1]);
    let half = |z: f32| low.y + (high.y - low.y) * ((z - low.z) / (high.z - low.z)).clamp(0.0, 1.0);
    let x = low.x;
    let p = Vec3::new;
    let corner = 0.07;
    // The frame is a closed sweep.
    let outline = [
        p(x, 0.0, low.z),
        p(x, low.y - corner, low.z),
        p(x, low.y - 0.015, low.z + 0.015),
        p(x, half(low.z + corner), low.z + corner),
        p(x, half(high.z - corner), high.z - corner),
        p(x, high.y - 0.02, high.z - 0.02),
        p(x, high.y - corner, high.z),
        p(x, 0.0, high.z + 0.012),
    ];
    let width = grille.frame_width * 0.5;
    let frame = Solid::swept(&curve_through(&outline, 5), Vec3::X, |_| rounded_rectangle(width, 0.035, 0.02));
    parts.add_pair(grille.frame, frame);
    // Darkness behind the bars, in front of the nose of the hood.
    let ring = |x: f32| vec![p(x, -low.y, low.z), p(x, low.y, low.z), p(x, high.y, high.z), p(x, -high.y, high.z)];
    parts.add(Material::PanelGap, Solid::lofted(&[ring(x - 0.002), ring(x + 0.006)]));
    let inside = |ratio: f32| low.z + 0.02 + (high.z - low.z - 0.04) * ratio;
    match grille.bars {
        Bars::Upright => {
            for number in 0..grille.count {
                let ratio = (number as f32 + 0.5) / grille.count as f32;
                let at = |z: f32| p(x - 0.014, ratio * (half(z) - 0.01), z);
                parts.add_pair(
                    Material::Chrome,
                    Solid::swept(&[at(inside(0.0)), at(inside(1.0))], Vec3::X, |_| {
                        rounded_rectangle(0.0055, 0.014, 0.005)
                    }),
                );
            }
        }
        Bars::Level => {
            for number in 0..grille.count {
                let z = inside((number as f32 + 0.5) / grille.count as f32);
                let reach = half(z) - 0.01;
                let thick = 0.22 * (high.z - low.z) / grille.count as f32;
                let slat = Solid::swept(&[p(x - 0.016, -reach, z), p(x - 0.016, reach, z)], Vec3::Z, |_| {
                    rounded_rectangle(0.020, thick, thick * 0.6)
                });
                parts.add(grille.frame, slat);
            }
        }
        Bars::Mesh => {
            let rows = grille.count;
            for number in 0..rows {
                let z = inside((number as f32 + 0.5) / rows as f32);
                let reach = half(z) - 0.01;
                parts.add(Material::Satin, pipe(&[p(x - 0.012, -reach, z), p(x - 0.012, reach, z)], 0.005));
                let across = low.y.min(high.y) * (number as f32 + 0.5) / rows as f32;
                parts.add_pair(
                    Material::Satin,
                    pipe(&[p(x - 0.008, across, inside(0.0)), p(x - 0.008, across, inside(1.0))], 0.005),
                );
            }
        }
    }
    if grille.post {
        parts.add(grille.frame, block(p(x - 0.040, -0.022, low.z), p(x, 0.022, high.z), 0.012));
    }
}

/// Adds a wing over the front wheel. It rises in front of the wheel, runs level over it and falls
/// behind it to the step, with a rolled edge outside.
fn add_wing(parts: &mut Assembly, site: &Site<'_>, wing: &Wing) {
    const STEPS: usize = 28;
    let inner = site.real(0.0, wing.inner, 0.0).y;
    let outer = site.half_width - 0.01;
    let top = site.hub_z + wing.clear;
    // Half an ellipse that is squarer than round, from the front foot to the rear one.
    let place = |step: usize| {
        let angle = PI * (0.05 + 0.90 * step as f32 / STEPS as f32);
        let (sin, cos) = angle.sin_cos();
        let reach = (cos.abs().powf(2.7) + sin.abs().powf(2.7)).powf(-1.0 / 2.7);
        let across = if cos > 0.0 { wing.front } else { wing.rear };
        (Vec2::new(site.front_x - cos * reach * across, site.hub_z + sin * reach * top), angle)
    };
    // The side of the wing at the hood lies lower in front, and its edge is rounded.
    let loops: Vec<Vec<Vec3>> = (0..=STEPS)
        .map(|step| {
            let (at, angle) = place(step);
            let out = Vec2::new(-angle.cos() / wing.front, angle.sin() / top).normalize_or(Vec2::Y);
            let point = |y: f32, up: f32| {
                let q = at + out * up;
                Vec3::new(q.x, y, q.y)
            };
            let width = outer - inner;
            vec![
                point(inner - 0.05, 0.012),
                point(inner + width * 0.3, 0.034),
                point(inner + width * 0.65, 0.034),
                point(outer - 0.075, 0.018),
                point(outer - 0.03, -0.004),
                point(outer - 0.006, -0.036),
                point(outer, -0.070),
                point(outer - 0.004, -0.082),
                point(outer - 0.022, -0.080),
                point(outer - 0.026, -0.066),
                point(outer - 0.04, -0.036),
                point(outer - 0.09, -0.012),
                point(inner + width * 0.3, 0.004),
                point(inner - 0.05, -0.016),
            ]
        })
        .collect();
    let solid = Solid::lofted_plate(&loops);
    parts.add_pair(Material::Paint, solid);
    // The flap behind the wheel.
    let (rear, _) = place(STEPS);
    let p = Vec3::new;
    parts.add_pair(
        Material::MattBlack,
        block(p(rear.x - 0.02, inner + 0.06, 0.24), p(rear.x - 0.008, outer - 0.03, site.hub_z), 0.004),
    );
    // A liner, so that nothing is seen through the gap to the hood.
    parts.add_pair(
        Material::Underbody,
        block(
            p(site.front_x - 0.5, inner - 0.10, site.hub_z),
            p(site.front_x + 0.5, inner - 0.07, site.hub_z + top * 0.9),
            0.01,
        ),
    );
}

/// Adds muffler, heat shield with slots, and a pipe cut at a slant, on both sides behind the cab.
fn add_stacks(parts: &mut Assembly, site: &Site<'_>, foot: Vec3, top: f32) {
    let y = site.half_width - 0.14;
    let p = |z: f32| Vec3::new(foot.x, y, z);
    let shield = foot.z + (top - foot.z) * 0.62;
    parts.add_pair(Material::Chrome, pipe(&[p(foot.z), p(shield)], 0.098));
    parts.add_pair(
        Material::Chrome,
        pipe(&[p(shield - 0.02), p(top - 0.22), p(top - 0.10) + Vec3::X * 0.015, p(top) + Vec3::X * 0.06], 0.064),
    );
    for z in [foot.z + 0.10, shield - 0.06] {
        parts.add_pair(Material::Satin, pipe(&[p(z - 0.02), p(z + 0.02)], 0.103));
        parts.add_pair(
            Material::MattBlack,
            block(Vec3::new(foot.x - 0.03, y - 0.35, z - 0.02), Vec3::new(foot.x + 0.03, y - 0.08, z + 0.02), 0.01),
        );
    }
    // Slots of the shield.
    for (row, column) in (0..8).flat_map(|row| (0..5).map(move |column| (row, column))) {
        let z = foot.z + 0.22 + (shield - foot.z - 0.40) * row as f32 / 7.0;
        let angle = PI * (0.12 + 0.19 * column as f32);
        let way = Vec3::new(-angle.cos(), angle.sin(), 0.0);
        let at = p(z) + way * 0.0975;
        parts.add_pair(Material::Underbody, pipe(&[at - Vec3::Z * 0.03, at + Vec3::Z * 0.03], 0.008));
    }
    // The pipe from below the cab.
    parts.add_pair(
        Material::Satin,
        pipe(
            &curve_through(
                &[p(foot.z + 0.05), p(foot.z - 0.22), p(site.frame_z - 0.25) - Vec3::new(0.35, 0.25, 0.0)],
                6,
            ),
            0.06,
        ),
    );
}

/// Adds polished canisters on the cowl's sides.
fn add_air_cleaners(parts: &mut Assembly, at: Vec3) {
    const RADIUS_M: f32 = 0.19;
    let level = |z: f32, radius: f32| -> Vec<Vec3> {
        (0..28)
            .map(|i| {
                let way = Vec2::from_angle(2.0 * PI * i as f32 / 28.0) * radius;
                at + Vec3::new(way.x, way.y, z)
            })
            .collect()
    };
    let can = [
        (-0.36, 0.10),
        (-0.35, 0.16),
        (-0.33, RADIUS_M),
        (0.24, RADIUS_M),
        (0.27, RADIUS_M + 0.012),
        (0.30, RADIUS_M + 0.012),
        (0.32, RADIUS_M),
        (0.35, 0.14),
        (0.38, 0.10),
        (0.46, 0.095),
        (0.48, 0.06),
    ];
    let loops: Vec<Vec<Vec3>> = can.iter().map(|(z, radius)| level(*z, *radius)).collect();
    parts.add_pair(Material::Chrome, Solid::lofted(&loops));
    for z in [-0.22, 0.10] {
        let band = [level(z - 0.022, RADIUS_M + 0.005), level(z + 0.022, RADIUS_M + 0.005)];
        parts.add_pair(Material::Satin, Solid::lofted(&band));
    }
    parts.add_pair(
        Material::MattBlack,
        block(at + Vec3::new(-0.08, -0.26, -0.30), at + Vec3::new(0.08, -0.1, 0.2), 0.02),
    );
    let inlet = [at + Vec3::new(0.0, 0.0, -0.35), at + Vec3::new(0.02, -0.05, -0.5), at + Vec3::new(0.05, -0.3, -0.56)];
    parts.add_pair(Material::MattBlack, pipe(&curve_through(&inlet, 5), 0.075));
}

/// Adds a drooping shade in front of the upper edge of the windscreen.
fn add_visor(parts: &mut Assembly, site: &Site<'_>, edge: Vec3) {
    let across = 12;
    let point = |i: usize, back: f32, up: f32| {
        let ratio = i as f32 / across as f32 * 2.0 - 1.0;
        let bow = 0.11 * ratio * ratio;
        Vec3::new(edge.x + bow + back, ratio * edge.y, edge.z + up - 0.03 * ratio * ratio)
    };
    let loops: Vec<Vec<Vec3>> = (0..=across)
        .map(|i| {
            vec![
                point(i, 0.0, 0.0),
                point(i, -0.006, 0.012),
                point(i, 0.03, 0.07),
                point(i, 0.13, 0.125),
                point(i, 0.34, 0.165),
                point(i, 0.34, 0.150),
                point(i, 0.14, 0.108),
                point(i, 0.045, 0.058),
            ]
        })
        .collect();
    parts.add_soft(site.truck.visor_material, Solid::lofted_plate(&loops));
    for ratio in [-0.72_f32, 0.0, 0.72] {
        let at = Vec3::new(edge.x + 0.06 + 0.11 * ratio * ratio, ratio * edge.y, edge.z + 0.06);
        parts.add(Material::MattBlack, pipe(&[at, at + Vec3::new(0.22, 0.0, 0.02)], 0.012));
    }
}

/// Adds marker lamps on the roof's front edge: one at each end and three in the middle.
fn add_markers(parts: &mut Assembly, site: &Site<'_>, at: Vec3) {
    let foot_material = if site.truck.stacks.is_some() { Material::Satin } else { Material::MattBlack };
    for ratio in [-0.86_f32, -0.20, 0.0, 0.20, 0.86] {
        let y = ratio * at.y;
        let Some(z) = site.field.skin_z(at.x + 0.05, y).map(|z| z.min(at.z + 0.15)) else { continue };
        let foot = Vec3::new(at.x + 0.06, y, z);
        let shape = [
            [-0.07, 0.030, 0.0, 0.022],
            [-0.05, 0.036, 0.0, 0.042],
            [0.02, 0.034, 0.0, 0.046],
            [0.09, 0.020, 0.0, 0.016],
        ];
        parts.add_soft(foot_material, hull(&shape, 2.6).moved(foot - Vec3::Z * 0.008 + Vec3::X * 0.012));
        parts.add_soft(
            Material::LampAmber,
            hull(&shape, 2.6).bent(|p| p * 0.88).moved(foot + Vec3::new(-0.008, 0.0, -0.002)),
        );
    }
    if site.truck.class == Class::Conventional && site.truck.stacks.is_some() {
        // Horns.
        for y in [-0.42_f32, 0.42] {
            let Some(z) = site.field.skin_z(at.x + 0.35, y) else { continue };
            let tip = Vec3::new(at.x + 0.05, y, z + 0.10);
            let path: Vec<Vec3> = (0..=10).map(|i| tip + Vec3::X * 0.055 * i as f32).collect();
            parts.add_soft(
                Material::Chrome,
                Solid::tube(&path, 18, |i| 0.018 + 0.055 * (1.0 - i as f32 / 10.0).powi(3)),
            );
            parts.add(Material::Underbody, Solid::pin(tip - Vec3::X * 0.0015, tip + Vec3::X * 0.01, 0.064, 18));
            let foot = tip + Vec3::X * 0.32;
            parts.add(Material::Chrome, pipe(&[foot, foot - Vec3::Z * 0.12], 0.014));
        }
    }
}

/// The first year in which cab-overs have mirror caps in the cab's colour.
const PAINTED_MIRRORS: u16 = 2002;

/// Adds tall mirror housings on a bracket of tubes, with a wide-angle glass under each, and for
/// cab-overs a kerb mirror over the screen.
fn add_mirrors(parts: &mut Assembly, site: &Site<'_>, at: Vec3) {
    let conventional = site.truck.class == Class::Conventional;
    let p = Vec3::new;
    let bright = conventional && site.truck.stacks.is_some();
    let shell = if bright { Material::Chrome } else { Material::MattBlack };
    let (half_width, tall, low) = if conventional { (0.095, 0.22, 0.095) } else { (0.105, 0.215, 0.115) };
    let house = |middle: Vec3, half_height: f32| {
        let body = Solid::superellipsoid(p(0.075, half_width, half_height), 4.2, 14, 28);
        let body = body.bent(|q| p(if q.x > 0.0 { q.x * 0.22 } else { q.x }, q.y, q.z));
        (
            body.moved(middle),
            block(
                middle + p(0.010, 0.016 - half_width, 0.018 - half_height),
                middle + p(0.0185, half_width - 0.016, half_height - 0.018),
                0.004,
            ),
        )
    };
    let lower = at - p(0.0, 0.0, tall + low + 0.018);
    for (middle, half_height) in [(at, tall), (lower, low)] {
        let (body, glass) = house(middle, half_height);
        parts.add_pair(shell, body);
        parts.add_pair(Material::Chrome, glass);
        if !conventional && site.year >= PAINTED_MIRRORS {
            let cap = Solid::superellipsoid(p(0.080, half_width + 0.003, half_height + 0.003), 4.2, 14, 28);
            let cap = cap.bent(|q| p(q.x.min(-0.022), q.y, q.z)).moved(middle);
            parts.add_pair(Material::Paint, cap);
        }
    }
    // The bracket runs from above the door down to below its window.
    let skin = |z: f32| site.field.skin_y(at.x + 0.16, z).unwrap_or(site.half_width - 0.1) - 0.02;
    let [top, bottom] = [at.z + tall + 0.06, lower.z - low - 0.05];
    let tube = if bright { Material::Chrome } else { Material::MattBlack };
    let path = [
        p(at.x + 0.16, skin(top), top),
        p(at.x + 0.06, at.y - 0.05, top),
        p(at.x - 0.028, at.y, top - 0.03),
        p(at.x - 0.032, at.y, (top + bottom) * 0.5),
        p(at.x - 0.028, at.y, bottom + 0.03),
        p(at.x + 0.06, at.y - 0.05, bottom),
        p(at.x + 0.16, skin(bottom), bottom),
    ];
    parts.add_pair(tube, pipe(&curve_through(&path, 5), 0.0135));
    for z in [top, bottom] {
        let foot = p(at.x + 0.16, skin(z) + 0.018, z);
        parts.add_pair(Material::MattBlack, block(foot - p(0.04, 0.012, 0.03), foot + p(0.04, 0.012, 0.03), 0.008));
    }
    if !conventional {
        // The kerb mirror, behind the foremost place and below the roof. It is the only part of a
        // cab that is on one side only.
        let roof = site.field.skin_z(at.x + 0.5, 0.0).unwrap_or(top + 0.3);
        let z = (top + 0.14).min(roof - 0.06);
        let foot = p(at.x + 0.16, -(skin(top) - 0.12), z - 0.02);
        let kerb = p((at.x - 0.06).max(0.15), -(site.half_width - 0.42), z);
        parts.add(
            Material::MattBlack,
            pipe(&curve_through(&[foot, foot.lerp(kerb, 0.5) + Vec3::Z * 0.05, kerb], 5), 0.012),
        );
        let cap = Solid::superellipsoid(p(0.07, 0.13, 0.05), 3.0, 12, 24).moved(kerb - Vec3::Z * 0.03);
        parts.add_soft(Material::MattBlack, cap);
    }
}

/// Adds upright bars in front of and behind the door.
fn add_grab_handles(parts: &mut Assembly, site: &Site<'_>, [low, high]: [Vec3; 2]) {
    let bright = site.truck.class == Class::Conventional;
    for x in [low.x, high.x] {
        let y = |z: f32| site.field.skin_y(x, z).unwrap_or(site.half_width - 0.08);
        let p = |z: f32, out: f32| Vec3::new(x, y(z) + out, z);
        let path = [
            p(low.z, -0.01),
            p(low.z + 0.01, 0.05),
            p(low.z + 0.06, 0.062),
            p(high.z - 0.06, 0.062),
            p(high.z - 0.01, 0.05),
            p(high.z, -0.01),
        ];
        let material = if bright { Material::Chrome } else { Material::MattBlack };
        parts.add_pair(material, pipe(&curve_through(&path, 4), 0.0145));
        for z in [low.z, high.z] {
            let at = p(z, 0.0);
            parts.add_pair(
                Material::MattBlack,
                block(at - Vec3::new(0.022, 0.01, 0.03), at + Vec3::new(0.022, 0.008, 0.03), 0.007),
            );
        }
    }
}

/// Adds steps under the door: dark wells with treads of bright slats.
fn add_steps(parts: &mut Assembly, site: &Site<'_>, low: Vec3, high: Vec3) {
    let p = Vec3::new;
    let outer = site.half_width - 0.02;
    let count = ((high.z - low.z) / 0.32).round().max(1.0) as usize;
    for number in 0..=count {
        let z = low.z + (high.z - low.z) * number as f32 / count as f32;
        let inset = 0.045 * number as f32;
        let (from, to) = (low.x + 0.02 * number as f32, high.x);
        parts.add_pair(
            Material::MattBlack,
            block(p(from, outer - inset - 0.16, z - 0.03), p(to, outer - inset, z), 0.012),
        );
        for slat in 0..4 {
            let y = outer - inset - 0.03 - 0.032 * slat as f32;
            parts.add_pair(
                Material::Satin,
                block(p(from + 0.03, y - 0.009, z - 0.002), p(to - 0.03, y + 0.009, z + 0.006), 0.003),
            );
        }
    }
}

/// Adds a curved shell on the roof that leads the wind over the load box.
fn add_deflector(parts: &mut Assembly, site: &Site<'_>, foot: Vec3, top: Vec3) {
    let half = site.field.skin_y(foot.x + 0.5, foot.z - 0.25).unwrap_or(site.half_width) - 0.06;
    let stations: Vec<[f32; 4]> = (0..=8)
        .map(|i| {
            let t = i as f32 / 8.0;
            let rise = (t * PI * 0.5).sin().powf(0.85);
            [
                foot.x + (top.x - foot.x) * t,
                half * (0.86 + 0.10 * rise),
                foot.z - 0.12,
                foot.z + 0.02 + (top.z - foot.z - 0.02) * rise,
            ]
        })
        .collect();
    parts.add_soft(Material::Paint, hull(&stations, 6.0));
}

/// Adds wipers on an upright screen: arms from the cowl, with blades that lie
/// slanted along the screen's foot.
fn add_wipers(parts: &mut Assembly, site: &Site<'_>) {
    let count = site.truck.wipers as usize;
    let half = site.half_width * 0.80;
    // The screen's foot in the centre plane is the lowest place of glass seen from the front.
    let Some(foot) = screen_foot(site) else { return };
    let on_screen = |y: f32, z: f32| site.field.skin_x(y, z, false).map(|x| Vec3::new(x - 0.012, y, z));
    let span = 2.0 * half / count as f32;
    for number in 0..count {
        let pivot_y = -half + span * (number as f32 + 0.92);
        let (from, to) = (pivot_y - span * 0.10, pivot_y - span * 0.98);
        let places = (on_screen(pivot_y, foot - 0.015), on_screen(from, foot + 0.07), on_screen(to, foot + 0.11));
        let (Some(pivot), Some(from), Some(to)) = places else { continue };
        let middle = from.lerp(to, 0.5);
        let Some(middle) = on_screen(middle.y, middle.z) else { continue };
        let blade = curve_through(&[from, middle, to], 6);
        parts.add(Material::MattBlack, Solid::swept(&blade, Vec3::Z, |_| rounded_rectangle(0.007, 0.011, 0.003)));
        let arm = [pivot - Vec3::X * 0.012, pivot.lerp(middle, 0.5) - Vec3::X * 0.025, middle - Vec3::X * 0.014];
        parts.add(Material::MattBlack, pipe(&arm, 0.009));
        parts.add(Material::MattBlack, Solid::pin(pivot + Vec3::X * 0.02, pivot - Vec3::X * 0.018, 0.02, 12));
    }
}

fn screen_foot(site: &Site<'_>) -> Option<f32> {
    let sheets = |z: f32| site.field.skin_x(0.0, z, false).map(|x| site.field.surface_point(Vec3::new(x, 0.0, z)));
    (40..400)
        .map(|i| i as f32 * 0.01)
        .find(|z| sheets(*z).is_some_and(|s| s.body > 0.03 && s.greenhouse_profile < 0.02))
}
