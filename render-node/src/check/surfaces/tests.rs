use super::*;
use crate::vehicle::typical::typical;
use crate::vehicle::{Library, Material, Surface, build_and_judge};
use cyclorama_core::BodyClass;
use glam::Vec3;
use std::f32::consts::TAU;

const STEP_M: f32 = 0.005;

/// A flank of `length` by `height` metres. `out` returns how far it stands out at (x, z), or NaN
/// where there is no flank.
fn flank(length: f32, height: f32, out: impl Fn(f32, f32) -> f32) -> VehicleMesh {
    let (columns, rows) = ((length / STEP_M) as u32 + 1, (height / STEP_M) as u32 + 1);
    let place = |index: u32| {
        let (x, z) = ((index % columns) as f32 * STEP_M, (index / columns) as f32 * STEP_M);
        (x - length * 0.5, z - height * 0.5)
    };
    let change = |f: &dyn Fn(f32) -> f32| (f(5e-4) - f(-5e-4)) / 1e-3;
    let mut surface = Surface::default();
    let mut is_there = Vec::new();
    for (x, z) in (0..columns * rows).map(place) {
        let (across, up) = (change(&|step| out(x + step, z)), change(&|step| out(x, z + step)));
        surface.positions.push([x, -out(x, z), z]);
        surface.normals.push(Vec3::new(-across, -1.0, -up).normalize_or(-Vec3::Y).into());
        is_there.push((out(x, z) + across + up).is_finite());
    }
    for corner in (0..columns * rows).filter(|i| i % columns + 1 < columns && i / columns + 1 < rows) {
        let [a, b, c, d] = [corner, corner + 1, corner + columns + 1, corner + columns];
        if [a, b, c, d].iter().all(|corner| is_there[*corner as usize]) {
            surface.indices.extend([a, b, c, a, c, d]);
        }
    }
    // Corners that no triangle uses must not stretch the image.
    for at in surface.positions.iter_mut().filter(|at| !at[1].is_finite()) {
        *at = [0.0; 3];
    }
    let mut mesh = VehicleMesh::default();
    mesh.add(Material::Paint, &surface);
    mesh
}

/// Returns the figures from the side.
fn side(mesh: &VehicleMesh) -> impl Fn(Figure) -> f32 + use<> {
    let surfaces = measure(mesh, &[]);
    move |figure| surfaces.get(Aspect::Side, figure).unwrap_or(f32::NAN)
}

fn circle(radius: f32, at: f32) -> f32 {
    (radius * radius - at * at).sqrt()
}

#[test]
fn a_cylinder_along_the_vehicle_is_extruded() {
    let figure = side(&flank(2.0, 0.8, |_, z| circle(0.5, z)));
    assert!(figure(Figure::ExtrudedPercent) > 99.0);
    assert!(figure(Figure::ChangeAlongDegreesPerM) < 0.5);
    for none in [Figure::WavesPerM, Figure::FilletPercent, Figure::DeadPercent, Figure::SaddlePercent] {
        assert!(figure(none) < 0.5, "{none:?}: {}", figure(none));
    }
    assert!(figure(Figure::WobbleDegrees) < 0.05, "{}", figure(Figure::WobbleDegrees));
}

#[test]
fn a_cylinder_of_ten_centimetres_is_a_fillet() {
    let figure = side(&flank(2.0, 0.18, |_, z| circle(0.1, z)));
    assert!(figure(Figure::FilletPercent) > 99.0, "{}", figure(Figure::FilletPercent));
    let figure = side(&flank(2.0, 0.36, |_, z| circle(0.2, z)));
    assert!(figure(Figure::FilletPercent) < 1.0, "{}", figure(Figure::FilletPercent));
}

#[test]
fn a_cylinder_across_the_vehicle_is_extruded_the_other_way_only() {
    // Upright: from the side the mirrored elevation is that of the horizon everywhere.
    let upright = side(&flank(0.8, 2.0, |x, _| circle(0.5, x)));
    assert!(upright(Figure::ExtrudedPercent) > 97.0, "{}", upright(Figure::ExtrudedPercent));
    // Leaning, the elevation changes along the vehicle.
    let leaning = side(&flank(0.6, 1.0, |x, z| circle(0.5, x) - 0.3 * z));
    assert!(leaning(Figure::ExtrudedPercent) < 20.0, "{}", leaning(Figure::ExtrudedPercent));
}

#[test]
fn a_sphere_is_neither_extruded_nor_dead() {
    let figure = side(&flank(1.0, 1.0, |x, z| circle(0.5, x.hypot(z))));
    assert!(figure(Figure::ExtrudedPercent) < 10.0, "{}", figure(Figure::ExtrudedPercent));
    assert!(figure(Figure::ChangeAlongDegreesPerM) > 50.0, "{}", figure(Figure::ChangeAlongDegreesPerM));
    for none in [Figure::WavesPerM, Figure::FilletPercent, Figure::DeadPercent, Figure::SaddlePercent] {
        assert!(figure(none) < 0.5, "{none:?}: {}", figure(none));
    }
    // The visible half up to a cosine of 0.2, less the border.
    let area = TAU * 0.25 * 0.8;
    assert!((figure(Figure::AreaM2) - area).abs() < 0.15 * area, "{}", figure(Figure::AreaM2));
}

#[test]
fn a_plane_is_dead() {
    let figure = side(&flank(2.0, 0.6, |_, z| 0.2 * z));
    assert!(figure(Figure::DeadPercent) > 99.9 && figure(Figure::ExtrudedPercent) > 99.9);
    assert_eq!([Figure::WavesPerM, Figure::SaddlePercent, Figure::FilletPercent].map(figure), [0.0; 3]);
}

#[test]
fn the_inner_half_of_a_torus_is_a_saddle() {
    let (ring, tube) = (0.6, 0.3);
    let torus = flank(1.9, 1.9, |x, z| circle(tube, x.hypot(z) - ring));
    let figure = side(&torus);
    // The visible half of the surface, to both sides of the ring's highest line up to a cosine of
    // 0.2.
    let reach = 0.2f32.acos();
    let (half, less) = (ring * reach, tube * (1.0 - reach.cos()));
    let ratio = 100.0 * (half - less) / (2.0 * half);
    assert!((figure(Figure::SaddlePercent) - ratio).abs() < 3.0, "{} for {ratio}", figure(Figure::SaddlePercent));

    let finer = measure_at(&torus, PITCH_M * 0.5);
    for same in [Figure::SaddlePercent, Figure::ExtrudedPercent, Figure::FilletPercent] {
        let fine = finer.get(Aspect::Side, same).unwrap();
        assert!((figure(same) - fine).abs() < 1.5, "{same:?}: {} and {fine}", figure(same));
    }
}

#[test]
fn a_ripple_has_two_waves_for_each_of_its_lengths() {
    let ripple = |length: f32| move |z: f32| 0.02 * length * (TAU * z / length).sin();
    for length in [0.1, 0.2, 0.4] {
        let out = ripple(length);
        let figure = side(&flank(1.0, 2.0, |_, z| out(z)));
        let waves = figure(Figure::WavesPerM);
        assert!((waves - 2.0 / length).abs() < 1.0, "{waves} for a length of {length}");
    }
    // A ripple along the vehicle crosses no section.
    let out = ripple(0.2);
    let figure = side(&flank(2.0, 1.0, |x, _| out(x)));
    assert!(figure(Figure::WavesPerM) < 0.1, "{}", figure(Figure::WavesPerM));
}

#[test]
fn lines_that_tremble_are_told_from_lines_that_bend() {
    let bent = side(&flank(2.0, 0.8, |x, z| circle(0.5, z) - 0.05 * x * x));
    let trembling = side(&flank(2.0, 0.8, |x, z| circle(0.5, z) + 0.002 * z * (TAU * x / 0.04).sin()));
    assert!(bent(Figure::WobbleDegrees) < 0.1, "{}", bent(Figure::WobbleDegrees));
    assert!(trembling(Figure::WobbleDegrees) > 0.5, "{}", trembling(Figure::WobbleDegrees));
}

#[test]
fn a_sharp_edge_ends_a_panel_and_is_no_fillet() {
    let ridge = side(&flank(2.0, 1.0, |_, z| -0.5 * z.abs()));
    assert!(ridge(Figure::FilletPercent) < 1.0, "{}", ridge(Figure::FilletPercent));
    assert!(ridge(Figure::DeadPercent) > 95.0, "{}", ridge(Figure::DeadPercent));
    // No section crosses the edge, so none turns there.
    assert_eq!(ridge(Figure::WavesPerM), 0.0);
}

#[test]
fn what_is_not_paint_or_not_there_is_not_measured() {
    let paint = flank(2.0, 0.6, |_, z| 0.2 * z);
    let mut glass = VehicleMesh::default();
    glass.add(Material::Glass, &paint.surfaces[&Material::Paint]);
    assert_eq!(measure(&glass, &[]), Surfaces::default());
    assert_eq!(measure(&VehicleMesh::default(), &[]), Surfaces::default());
    // Millimetres in place of metres.
    let mut huge = paint.clone();
    huge.surfaces.values_mut().flat_map(|surface| &mut surface.positions).for_each(|p| *p = p.map(|c| c * 1000.0));
    assert_eq!(measure(&huge, &[]), Surfaces::default());
}

#[test]
fn a_vehicle_is_measured_from_every_side_and_drawn() {
    let vehicle = typical(BodyClass::Sedan);
    let (mesh, strays) = build_and_judge(&Library::embedded().unwrap(), &vehicle).unwrap();
    let surfaces = measure(&mesh, &strays);
    for aspect in [Aspect::Side, Aspect::Above, Aspect::Front, Aspect::Bonnet] {
        for figure in Figure::ALL.into_iter().filter(|f| !matches!(f, Figure::StrayMm | Figure::WorstStrayMm)) {
            let value = surfaces.get(aspect, figure).unwrap_or(f32::NAN);
            assert!((0.0..1000.0).contains(&value), "{aspect:?} {figure:?}: {value}");
        }
        let area = surfaces.get(aspect, Figure::AreaM2).unwrap();
        assert!((0.3..9.0).contains(&area), "{aspect:?}: {area} m2");
    }
    // Cutting brings both ends of a piece onto its line; between them the piece is straight.
    let [stray, worst] =
        [Figure::StrayMm, Figure::WorstStrayMm].map(|figure| surfaces.get(Aspect::Edges, figure).unwrap());
    assert!(0.0 < stray && stray < 3.0 && stray < worst && worst < 30.0, "{stray} mm, {worst} mm");
    let page = picture::picture(&mesh, "typical/sedan/2024", &surfaces).unwrap();
    assert!(page.width() > 1200 && page.height() > 800, "{} x {}", page.width(), page.height());
}

#[test]
fn edges_are_judged_by_their_length() {
    let piece = |stray_m: f32, length_m: f32| EdgeStray { stray_m, length_m };
    let figures = edges(&[piece(0.004, 0.1), piece(0.0002, 3.0), piece(0.001, 1.0)]).unwrap();
    assert_eq!(figures, BTreeMap::from([(Figure::StrayMm, 1.0), (Figure::WorstStrayMm, 4.0)]));
    assert_eq!(edges(&[]), None);
}
