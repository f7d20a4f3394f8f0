//! The base shading of each light of the rig by itself, on a smooth body, compared with the light
//! that its rectangle sends there: an integral for diffuse paint, the reflected ray for gloss.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail it by panicking")]

use cyclorama_core::View;
use cyclorama_node::gpu::{AdapterChoice, Gpu};
use cyclorama_node::studio::rig::{AreaLight, Rig};
use cyclorama_node::studio::{Camera, Layers, ShootSettings, Studio};
use cyclorama_node::vehicle::{Material, Surface, VehicleMesh};
use glam::Vec3;
use std::f32::consts::{PI, TAU};

/// Half axes of the body, vehicle metres: as long and wide as a car, without an edge, and with
/// every slope.
const HALF_M: Vec3 = Vec3::new(2.3, 0.9, 0.7);
const RINGS: u32 = 160;
/// Reflectance of paint's clear coat at normal incidence.
const CLEAR_COAT_F0: f32 = 0.04;

fn body() -> VehicleMesh {
    let mut surface = Surface::default();
    let around = 2 * RINGS;
    for ring in 0..=RINGS {
        for step in 0..=around {
            let (polar, azimuth) = (PI * ring as f32 / RINGS as f32, TAU * step as f32 / around as f32);
            let unit = Vec3::new(polar.sin() * azimuth.cos(), polar.sin() * azimuth.sin(), -polar.cos());
            surface.positions.push((unit * HALF_M + Vec3::Z * HALF_M.z).into());
            surface.normals.push((unit / HALF_M).normalize().into());
        }
    }
    for ring in 0..RINGS {
        for step in 0..around {
            let at = ring * (around + 1) + step;
            let above = at + around + 1;
            surface.indices.extend([at, at + 1, above, above, at + 1, above + 1]);
        }
    }
    VehicleMesh { surfaces: [(Material::Paint, surface)].into() }
}

/// Returns the built-in rig without walls and floor, with the selected lights only.
fn rig(lights: impl Fn(&AreaLight) -> bool) -> Rig {
    let mut rig = Rig::built_in().unwrap();
    rig.lights.retain(lights);
    let dark = &mut rig.surroundings;
    for light in
        [&mut dark.floor_near, &mut dark.floor_far, &mut dark.horizon_back, &mut dark.horizon_front, &mut dark.zenith]
    {
        *light = Vec3::ZERO;
    }
    rig
}

fn shot(gpu: &Gpu, rig: Rig) -> (Layers, Camera) {
    let shot = Studio::with_rig(gpu, rig).unwrap().shoot_with(
        &body(),
        View::Side,
        ShootSettings { passes: 1, ..ShootSettings::default() },
    );
    let shot = shot.unwrap();
    (shot.layers, shot.camera)
}

/// Returns where the ray through the middle of a pixel meets the body: studio point, normal,
/// direction of the ray. Returns `None` if the ray passes by.
fn seen(camera: &Camera, side_px: u32, index: usize) -> Option<(Vec3, Vec3, Vec3)> {
    let at = |position: usize| (position as f32 + 0.5) / side_px as f32 * 2.0 - 1.0;
    let (x, y) = (at(index % side_px as usize), -at(index / side_px as usize));
    let tangent = glam::Vec2::new(x, y) / camera.zoom + camera.shift;
    let ray = (camera.forward + camera.right() * tangent.x + camera.up * tangent.y).normalize();
    // In the side view the body lies along the image, so its axes are the studio's.
    let half = HALF_M * camera.scale;
    let (from, along) = ((camera.eye - Vec3::Z * half.z) / half, ray / half);
    let (a, b, c) = (along.dot(along), from.dot(along), from.dot(from) - 1.0);
    let root = (b * b - a * c).max(0.0).sqrt();
    let point = camera.eye + ray * ((-b - root) / a);
    let normal = ((point - Vec3::Z * half.z) / (half * half)).normalize();
    (root > 0.0).then_some((point, normal, ray))
}

/// Returns the radiance of a light at a position on its rectangle, -1 to 1 along v.
fn radiance(light: &AreaLight, v: f32) -> f32 {
    light.radiance.y * (1.0 + (light.falloff - 1.0) * (v * 0.5 + 0.5))
}

/// Returns what a white diffuse card would reflect (irradiance / pi), by a sum over the rectangle.
fn card(light: &AreaLight, point: Vec3, normal: Vec3) -> f32 {
    const STEPS: i32 = 24;
    let middle = |i: i32| (i as f32 + 0.5) / STEPS as f32 * 2.0 - 1.0;
    let area = 4.0 * light.half_u.cross(light.half_v).length() / (STEPS * STEPS) as f32;
    let mut sum = 0.0;
    for (u, v) in (0..STEPS * STEPS).map(|i| (middle(i / STEPS), middle(i % STEPS))) {
        let to = light.centre + light.half_u * u + light.half_v * v - point;
        let toward = to.normalize();
        let facing = normal.dot(toward).max(0.0) * (-light.normal().dot(toward)).max(0.0);
        sum += radiance(light, v) * facing * area / to.length_squared();
    }
    sum / PI
}

/// Returns the ratio of the light that the clear coat mirrors (Schlick).
fn fresnel(normal: Vec3, ray: Vec3) -> f32 {
    CLEAR_COAT_F0 + (1.0 - CLEAR_COAT_F0) * (1.0 - normal.dot(-ray)).powi(5)
}

#[test]
fn each_light_lights_matt_paint_as_its_rectangle_does() {
    let gpu = Gpu::open(&AdapterChoice::Best).unwrap();
    for light in Rig::built_in().unwrap().lights {
        let (layers, camera) = shot(&gpu, rig(|one| one.name == light.name));
        let mut pixels = 0;
        for index in covered(&layers) {
            let Some((point, normal, ray)) = seen(&camera, layers.side_px, index) else { continue };
            if normal.dot(-ray) < 0.2 {
                continue; // the clear coat's mirror takes over, and changes quickly within a pixel
            }
            let wanted = card(&light, point, normal) * (1.0 - fresnel(normal, ray));
            let found = layers.diffuse[index][1];
            // Two strips stand for a light that brightens from one edge to the other; a point that
            // gets less than a third of a percent of its mean radiance is not lit at all.
            let off = (found - wanted).abs();
            assert!(
                off < 0.06 * wanted + 0.003 * radiance(&light, 0.0),
                "{}: {found} for {wanted} at {point}",
                light.name
            );
            pixels += 1;
        }
        assert!(pixels > 100_000, "{pixels} pixels show the body");
    }
}

#[test]
fn each_light_is_mirrored_where_the_ray_that_is_thrown_back_meets_it() {
    let gpu = Gpu::open(&AdapterChoice::Best).unwrap();
    for light in Rig::built_in().unwrap().lights {
        let (layers, camera) = shot(&gpu, rig(|one| one.name == light.name));
        let edge = |half: Vec3| 0.5 * light.edge_m / half.length();
        let (edge_u, edge_v) = (edge(light.half_u), edge(light.half_v));
        let (mut errors, mut beside, mut lit_beside) = (Vec::new(), 0, 0);
        for index in covered(&layers) {
            let Some((point, normal, ray)) = seen(&camera, layers.side_px, index) else { continue };
            let thrown = ray - normal * (2.0 * ray.dot(normal));
            let facing = -thrown.dot(light.normal());
            let far = -(light.centre - point).dot(light.normal()) / facing;
            let at = point + thrown * far - light.centre;
            let place = |half: Vec3| at.dot(half) / half.length_squared();
            let (u, v) = (place(light.half_u), place(light.half_v));
            let found = layers.gloss[index][1] / fresnel(normal, ray);
            let ahead = facing > 0.0 && far > 0.0;
            if ahead && u.abs() < 1.0 - edge_u && v.abs() < 1.0 - edge_v {
                errors.push((found / radiance(&light, v) - 1.0).abs());
            } else if !ahead || u.abs() > 1.1 + edge_u || v.abs() > 1.1 + edge_v {
                beside += 1;
                lit_beside += usize::from(found > 0.02);
            }
        }
        assert!(errors.len() > 200, "{}: only {} pixels mirror it", light.name, errors.len());
        // At the body's outline a pixel mirrors a wide stretch of the room, so a few may differ.
        errors.sort_by(f32::total_cmp);
        let most = errors[errors.len() * 9 / 10];
        assert!(most < 0.03, "{}: off by {most}", light.name);
        assert!(
            lit_beside < beside / 1_000,
            "{}: {lit_beside} of {beside} pixels beside the image are lit",
            light.name
        );
    }
}

/// Light adds up: no light depends on which others shine.
#[test]
fn all_lights_together_are_the_sum_of_each() {
    let gpu = Gpu::open(&AdapterChoice::Best).unwrap();
    let (all, _) = shot(&gpu, rig(|_| true));
    let mut sum = vec![[0.0; 2]; all.diffuse.len()];
    for light in Rig::built_in().unwrap().lights {
        let (layers, _) = shot(&gpu, rig(|one| one.name == light.name));
        for (sum, (diffuse, gloss)) in sum.iter_mut().zip(layers.diffuse.iter().zip(&layers.gloss)) {
            *sum = [sum[0] + diffuse[1], sum[1] + gloss[1]];
        }
    }
    for index in covered(&all) {
        let [diffuse, gloss] = sum[index];
        let together = [all.diffuse[index][1], all.gloss[index][1]];
        assert!((diffuse - together[0]).abs() < 0.01, "matt light of {} against {diffuse}", together[0]);
        assert!((gloss - together[1]).abs() < 0.01, "mirror images of {} against {gloss}", together[1]);
    }
}

fn covered(layers: &Layers) -> impl Iterator<Item = usize> {
    (0..layers.coverage.len()).filter(|index| layers.coverage[*index] == 1.0)
}
