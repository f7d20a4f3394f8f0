//! Builds a vehicle's mesh by steps in this order: sheet, morph, field, skin, regions, depth,
//! parts. This module holds their order and the few rules that bring real dimensions in; each step
//! is a module beside this one.

use cyclorama_core::vehicle::{BodyClass, Vehicle, VehicleType};
use glam::Vec3;

use super::badges::badge_places;
use super::body_field::{Arch, BodyField};
use super::flank_lines::lined_field;
use super::growth::{growth, held};
use super::library::Library;
use super::mesh::{Material, Surface, VehicleMesh};
use super::morph::Stance;
use super::motorcycle::motorcycle;
use super::open_top::windscreen_frame;
use super::parts::placing::{add_all, mirrored};
use super::regions::{BodyGround, Divider, EdgeStray};
use super::sheet::facts::Facts;
use super::sheet::tables::SheetError;
use super::sheet::{Sheet, SolidRole};
use super::skin::Skin;
use super::{depth, dress, machine, panels, surface_net, truck};

#[derive(Debug, thiserror::Error)]
pub enum VehicleError {
    #[error("no body template for a {vehicle_type} with the body `{body}`")]
    NoTemplate { vehicle_type: VehicleType, body: BodyClass },
    #[error("a template is faulty")]
    Sheet(#[from] SheetError),
}

/// Side of a grid cell of the body, as a ratio of length plus height, because all vehicles
/// fill the image equally.
const GRID_RATIO: f32 = 0.00375;
/// Largest cell of the grid. Those of a bus, whose body is mostly level, may be larger, which
/// leaves triangles for its seats and wheels.
const COARSEST_GRID_M: f32 = 0.035;
const BUS_GRID_M: f32 = 0.040;
/// Side of a grid cell of solids that are meshed by themselves.
const SOLID_GRID_M: f32 = 0.014;
/// Solids longer than this get a proportionally coarser grid.
const SMALL_SOLID_M: f32 = 2.0;
/// Room of a wheel well behind the tyre.
const BEHIND_TYRE_M: f32 = 0.09;

/// Builds the vehicle at its real dimensions, both halves, standing on z = 0.
///
/// The same vehicle and library always give the same mesh, and all years of a look share one mesh.
/// Returns an error if no template fits the vehicle's body, or if the template is faulty.
pub fn build(library: &Library, vehicle: &Vehicle) -> Result<VehicleMesh, VehicleError> {
    Ok(built(library, vehicle, false)?.0)
}

/// Builds the same mesh as [`build`], and measures how far the edges between the materials of
/// its body lie from the curves they were drawn by. The list is empty for a vehicle that is
/// not built from a sheet.
pub fn build_and_judge(library: &Library, vehicle: &Vehicle) -> Result<(VehicleMesh, Vec<EdgeStray>), VehicleError> {
    built(library, vehicle, true)
}

/// Returns the measured facts of the vehicle's generation, and its real dimensions with the
/// positions of its axles. Returns `None` if the sheet has no facts.
pub fn measured(library: &Library, vehicle: &Vehicle) -> Result<Option<(Facts, Stance)>, SheetError> {
    let vehicle = &library.in_year_of_its_look(vehicle);
    let Some(sheet) = library.dressed(vehicle)? else { return Ok(None) };
    let (dimensions, wheelbase) = real_size(&sheet, vehicle);
    let (_, real) = stances(&sheet, dimensions, wheelbase);
    Ok(sheet.facts.map(|facts| (facts, real)))
}

/// Returns length, width and height, and the wheelbase, in metres.
fn real_size(sheet: &Sheet, vehicle: &Vehicle) -> ([f32; 3], f32) {
    let (d, size) = (truck::dimensions_of(sheet, vehicle.dimensions), sheet.size);
    let dimensions = [held(d.length_mm, size.length), held(d.width_mm, size.width), held(d.height_mm, size.height)];
    (dimensions, d.wheelbase_mm as f32 * 0.001)
}

fn built(
    library: &Library,
    vehicle: &Vehicle,
    judges_edges: bool,
) -> Result<(VehicleMesh, Vec<EdgeStray>), VehicleError> {
    let vehicle = &library.in_year_of_its_look(vehicle);
    if vehicle.body.is_two_wheeler() {
        return Ok((motorcycle(library.two_wheelers(), vehicle), Vec::new()));
    }
    if let Some(kind) = machine::machine_of(vehicle) {
        return Ok((machine::build(kind, vehicle), Vec::new()));
    }
    let sheet = library
        .dressed(vehicle)?
        .ok_or(VehicleError::NoTemplate { vehicle_type: vehicle.vehicle_type, body: vehicle.body })?;
    let (dimensions, wheelbase) = real_size(&sheet, vehicle);
    Ok(built_sheet(&sheet, dimensions, wheelbase, judges_edges))
}

/// Returns the stances of the drawing and of the vehicle. Overhangs keep the drawing's ratio. Tyres
/// grow with the vehicle, but less than it does.
fn stances(sheet: &Sheet, [length, width, height]: [f32; 3], wheelbase: f32) -> (Stance, Stance) {
    let size = sheet.size;
    let drawn = sheet.stance();
    // Wrong data must not turn the body inside out.
    let wheelbase = wheelbase.clamp(length * 0.4, length * 0.8);
    let overhangs = length - wheelbase;
    let measured = sheet.facts.as_ref();
    let drawn_ratio = size.front_overhang / (size.length - size.wheelbase);
    let front = overhangs * measured.and_then(Facts::front_ratio).unwrap_or(drawn_ratio);
    let growth = growth(length / size.length, height / size.height);
    let real = Stance {
        length,
        width,
        height,
        front_axle_x: front,
        rear_axle_x: front + wheelbase,
        hub_z: measured.and_then(|facts| facts.tyre).map_or(drawn.hub_z * growth, |tyre| 0.5 * tyre * wheelbase),
    };
    (drawn, real)
}

/// Builds a sheet at the given length, width and height, in metres.
#[cfg(test)]
fn build_sheet(sheet: &Sheet, dimensions: [f32; 3], wheelbase: f32) -> VehicleMesh {
    built_sheet(sheet, dimensions, wheelbase, false).0
}

fn built_sheet(
    sheet: &Sheet,
    dimensions: [f32; 3],
    wheelbase: f32,
    judges_edges: bool,
) -> (VehicleMesh, Vec<EdgeStray>) {
    let (drawn, real) = stances(sheet, dimensions, wheelbase);
    let arch =
        |x: f32| Arch { x, z: real.hub_z, radius: real.hub_z + sheet.wheels.arch_gap, power: sheet.wheels.arch_power };
    let arches = [arch(real.front_axle_x), arch(real.rear_axle_x)];
    let mut field = lined_field(sheet, drawn, real, arches);
    let places = sheet.facts.as_ref().or(sheet.proportions.as_ref());
    if let Some(bend) = places.and_then(|places| places.bend(sheet, &field, real)) {
        field.morph.bend(bend);
    }
    let margin = 0.06;
    let low = Vec3::new(-margin, 0.0, 0.02);
    let high = Vec3::new(real.length + margin, real.width * 0.5 + 0.12, real.height + margin);
    // The field of a truck contains its cab alone.
    let body_m = match (&sheet.truck, sheet.body.span) {
        (Some(_), Some([from, to])) => (to - from) * real.length / sheet.size.length,
        _ => real.length,
    };
    let coarsest = if sheet.bus.is_some() { BUS_GRID_M } else { COARSEST_GRID_M };
    let grid_m = (GRID_RATIO * (body_m + real.height)).clamp(0.015, coarsest);
    let mut half = surface_net::mesh(&|p| field.at(p), low, high, grid_m, true);

    // Haunches, lips and blends move the widest point away from the drawn one.
    let apart = (0..sheet.solid.len()).filter(|i| sheet.solid[*i].role == SolidRole::Apart);
    let widest_apart = apart.map(|i| field.morph.to_real(field.solid_bounds(i).1).y).fold(0.0, f32::max);
    // A haunch stands out most in the middle of the wheel arch, which is cut out later.
    let is_kept = |p: &&Vec3| !arches.iter().any(|arch| arch.distance(**p) < 0.0);
    let widest = half.positions.iter().filter(is_kept).map(|p| p.y).fold(widest_apart, f32::max);
    // A cab is narrower than the load behind it.
    let is_cab = sheet.truck.is_some_and(|truck| !truck.skirted);
    if widest > 0.0 && !is_cab {
        let factor = real.width * 0.5 / widest;
        field.morph.widen(factor);
        half.positions.iter_mut().for_each(|p| p.y *= factor);
    }

    let floor = real.hub_z * 0.6;
    // Edges of triangles are laid along ramps and lines later, so few triangles are needed there.
    let seen = |p: Vec3, normal: Vec3, round: usize| {
        (p.z > floor || normal.z > -0.7) && !field.is_on_bevel(p) && (round == 0 || !field.turns_along_a_line(p))
    };
    // The broad panels of a bus bend too little to need the finest grid.
    let finer = [0.6 * grid_m, 0.4 * grid_m, 0.28 * grid_m];
    let rounds = if sheet.bus.is_some() { &finer[..1] } else { &finer };
    surface_net::refine(&mut half, &|p| field.at(p), rounds, &seen);

    let wheels = dress::wheel_places(sheet, &field, real);
    let tyres = sheet.truck.map_or([wheels.spec.width; 2], |truck| truck.tyres_across(wheels.spec.width));
    let well_y: [f32; 2] = std::array::from_fn(|i| wheels.outer_y[i] - tyres[i] - BEHIND_TYRE_M);
    let badges = badge_places(sheet, &field);
    let body = || {
        let mut divider = Divider::new(Skin::new(half, &BodyGround(&field)), &field, sheet, &badges, grid_m);
        divider.strays = judges_edges.then(Vec::new);
        divider.divide(well_y, panels::add);
        let half = depth::surfaces(&divider.skin, &divider.parts, &field, arches, well_y);
        let mut mesh = half.both;
        solids(sheet, &field, &mut mesh);
        add_all(&mut mesh, &windscreen_frame(sheet, &field));
        let mut whole = with_mirror_image(mesh);
        let flanks = [half.with_flap, half.without_flap];
        let [right, left] = if sheet.panels.flap_left == Some(true) { [1, 0] } else { [0, 1] };
        add_all(&mut whole, &flanks[right]);
        add_all(&mut whole, &mirrored(&flanks[left]));
        add_all(&mut whole, &divider.small_parts);
        (whole, divider.strays.unwrap_or_default())
    };
    let ((mut whole, strays), parts) = rayon::join(body, || dress::dressing(sheet, &field, real, &wheels, &badges));
    add_all(&mut whole, &parts);
    (whole, strays)
}

/// Adds the solids that are meshed by themselves.
fn solids(sheet: &Sheet, field: &BodyField, mesh: &mut VehicleMesh) {
    for (index, solid) in sheet.solid.iter().enumerate() {
        if solid.role != SolidRole::Apart {
            continue;
        }
        let (low, high) = field.solid_bounds(index);
        let margin = Vec3::splat(0.03);
        let from_centre = low.y <= 0.001;
        let mut low = field.morph.to_real(low) - margin;
        let high = field.morph.to_real(high) + margin + Vec3::X * 0.3;
        low.x -= 0.3;
        let value = |p: Vec3| field.solid_at(index, p);
        // A load box does not need finer triangles than a spare wheel's bracket, only more of them.
        let grid_m = SOLID_GRID_M * ((high - low).max_element() / SMALL_SOLID_M).clamp(1.0, 3.0);
        let half = surface_net::mesh(&value, low, high, grid_m, from_centre);
        let normals = half.positions.iter().map(|p| {
            let n = surface_net::gradient(&value, *p);
            let n = if p.y == 0.0 { Vec3::new(n.x, 0.0, n.z) } else { n };
            n.normalize_or(Vec3::Z).into()
        });
        let surface = Surface {
            normals: normals.collect(),
            positions: half.positions.iter().map(|p| (*p).into()).collect(),
            indices: half.triangles.into_iter().flatten().collect(),
        };
        mesh.add(solid.material.unwrap_or(Material::MattBlack), &surface);
    }
}

fn with_mirror_image(half: VehicleMesh) -> VehicleMesh {
    let mut whole = VehicleMesh::default();
    for (material, surface) in &half.surfaces {
        whole.add(*material, surface);
        whole.add(*material, &surface.mirrored());
    }
    whole
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use cyclorama_core::vehicle::Dimensions;

    use super::*;

    /// The templates that other sheets are based on.
    /// `cyclorama-node check-vehicles` builds all sheets.
    const TEMPLATES: [&str; 16] = [
        "bus",
        "convertible",
        "coupe",
        "fastback",
        "hatchback",
        "minivan",
        "off-roader",
        "pickup",
        "rear-engine-coupe",
        "sedan",
        "small-hatch",
        "suv",
        "suv-large",
        "truck",
        "van",
        "wagon",
    ];

    fn read(name: &str) -> Sheet {
        Library::embedded().unwrap().sheet(name).unwrap()
    }

    fn bounds(mesh: &VehicleMesh, keep: impl Fn(Material) -> bool) -> (Vec3, Vec3) {
        let points = mesh.surfaces.iter().filter(|(m, _)| keep(**m)).flat_map(|(_, s)| &s.positions);
        points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| {
            (low.min(Vec3::from(*p)), high.max(Vec3::from(*p)))
        })
    }

    /// Checks that hold for every vehicle: dimensions, ground, normals, budget.
    fn check(name: &str, sheet: &Sheet, [length, width, height]: [f32; 3], wheelbase: f32) {
        let mesh = build_sheet(sheet, [length, width, height], wheelbase);
        let what = format!("{name} at {length} x {width} x {height}");
        for (material, surface) in &mesh.surfaces {
            let mut outward = 0;
            for t in surface.indices.chunks_exact(3) {
                let [a, b, c] = [t[0], t[1], t[2]].map(|i| Vec3::from(surface.positions[i as usize]));
                assert!(a.is_finite() && b.is_finite() && c.is_finite(), "{what}, {material:?}");
                let normal: Vec3 = t.iter().map(|i| Vec3::from(surface.normals[*i as usize])).sum();
                outward += usize::from((b - a).cross(c - a).dot(normal) >= -1e-9);
            }
            // Slivers of a cut may face any way, and so may folds of a bowl that is
            // set back round a corner.
            let ratio = outward as f32 / surface.triangle_count() as f32;
            let lamp = matches!(material, Material::LampRed | Material::LampHousing | Material::LampWhite);
            assert!(
                ratio > if lamp { 0.9 } else { 0.985 },
                "{what}, {material:?}: {ratio} of the triangles face outwards"
            );
        }
        // Mirrors, handles and aerials stand beyond the body and are not part of the dimensions.
        let (low, high) = bounds(&mesh, |m| matches!(m, Material::Tyre | Material::Underbody | Material::MattBlack));
        assert!(low.z.abs() < 0.002, "{what} stands on {}", low.z);
        let (low, high) = (low.min(bounds(&mesh, |_| true).0), high.max(bounds(&mesh, |_| true).1));
        assert!((high.x - low.x - length).abs() < 0.01 * length + 0.01, "{what}: {} long", high.x - low.x);
        let all = mesh.surfaces.values().flat_map(|s| &s.positions);
        let top = all.filter(|p| p[1].abs() < 0.3).map(|p| p[2]).fold(0.0, f32::max);
        // A fin or a rail may stand a little above the height.
        assert!(top > height * 0.98 && top < height * 1.01 + 0.06, "{what}: {top} high");
        let body = mesh.surfaces[&Material::Underbody].positions.iter().map(|p| p[1]).fold(0.0, f32::max);
        assert!(body * 2.0 < width * 1.01 && body * 2.0 > width * 0.7, "{what}: {}", body * 2.0);
        let triangles = mesh.triangle_count();
        assert!((120_000..540_000).contains(&triangles), "{what}: {triangles} triangles");
    }

    #[test]
    fn every_template_builds_at_its_own_dimensions() {
        for name in TEMPLATES {
            let sheet = read(name);
            let size = sheet.size;
            check(name, &sheet, [size.length, size.width, size.height], size.wheelbase);
        }
    }

    #[test]
    fn every_template_builds_at_other_dimensions() {
        for (index, name) in TEMPLATES.into_iter().enumerate() {
            let sheet = read(name);
            let size = sheet.size;
            let scale = if index % 2 == 0 { [1.12, 0.95, 1.08] } else { [0.88, 1.06, 0.93] };
            let wheelbase = size.wheelbase * scale[0] * if index % 3 == 0 { 1.04 } else { 0.97 };
            check(name, &sheet, [size.length * scale[0], size.width * scale[1], size.height * scale[2]], wheelbase);
        }
    }

    #[test]
    fn the_body_is_as_wide_as_said_and_closed() {
        let sheet = read("hatchback");
        let (drawn, real) = stances(&sheet, [4.4, 1.83, 1.5], 2.7);
        let arch = |x: f32| Arch { x, z: real.hub_z, radius: real.hub_z + 0.036, power: 2.0 };
        let field = lined_field(&sheet, drawn, real, [arch(real.front_axle_x), arch(real.rear_axle_x)]);
        let half =
            surface_net::mesh(&|p| field.at(p), Vec3::new(-0.06, 0.0, 0.02), Vec3::new(4.46, 1.0, 1.56), 0.03, true);
        let mut uses: HashMap<(u32, u32), u32> = HashMap::new();
        for t in &half.triangles {
            for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                *uses.entry((a.min(b), a.max(b))).or_default() += 1;
            }
        }
        for ((a, b), count) in uses {
            let on_plane = half.positions[a as usize].y == 0.0 && half.positions[b as usize].y == 0.0;
            assert!(count == 2 || (count == 1 && on_plane), "{count} at {}", half.positions[a as usize]);
        }
        let worst = half.positions.iter().map(|p| field.at(*p).abs()).fold(0.0, f32::max);
        assert!(worst < 5e-4, "{worst} off the skin");
        let mesh = build_sheet(&sheet, [4.4, 1.83, 1.5], 2.7);
        // Only vertices below the mirrors and handles count.
        let widest = mesh.surfaces[&Material::Paint].positions.iter().filter(|p| p[2] < 0.84);
        let widest = widest.map(|p| p[1]).fold(0.0, f32::max);
        assert!((widest * 2.0 - 1.83).abs() < 0.01 * 1.83, "{}", widest * 2.0);
    }

    #[test]
    fn panes_before_the_b_pillar_are_clear_and_those_behind_it_tinted() {
        for name in ["sedan", "suv", "wagon", "hatchback"] {
            let sheet = read(name);
            let size = sheet.size;
            let mesh = build_sheet(&sheet, [size.length, size.width, size.height], size.wheelbase);
            let [[low_x, low_z], [high_x, high_z]] = sheet.glass.front_doors_end().unwrap();
            let window = sheet.glass.side.as_ref().unwrap();
            let behind = |p: Vec3| p.x - low_x - (high_x - low_x) * (p.z - low_z) / (high_z - low_z);
            // Area of the side windows before and behind the line. Windscreen and backlight are
            // excluded, because they lie in the middle.
            let areas = |material: Material| {
                let surface = &mesh.surfaces[&material];
                let mut areas = [0.0, 0.0];
                for t in surface.indices.chunks_exact(3) {
                    let [a, b, c] = [t[0], t[1], t[2]].map(|i| Vec3::from(surface.positions[i as usize]));
                    let middle = (a + b + c) / 3.0;
                    if middle.y.abs() > 0.36 * size.width && middle.x < window.rear[0][0] {
                        areas[usize::from(behind(middle) > 0.0)] += (b - a).cross(c - a).length() / 2.0;
                    }
                }
                areas
            };
            let (clear, tinted) = (areas(Material::ClearGlass), areas(Material::Glass));
            assert!(clear[0] > 0.3 && tinted[0] < 0.01 * clear[0], "{name}: {} tinted before the line", tinted[0]);
            assert!(tinted[1] > 0.3 && clear[1] < 0.01 * tinted[1], "{name}: {} clear behind the line", clear[1]);
            assert!(mesh.surfaces.contains_key(&Material::PaneBorder), "{name}: a border");
        }
    }

    /// Returns the largest x of the panes of the side windows.
    fn windows_end(mesh: &VehicleMesh) -> f32 {
        let panes = [Material::ClearGlass, Material::Glass].map(|material| &mesh.surfaces[&material]);
        let points = panes.iter().flat_map(|surface| surface.positions.iter().zip(&surface.normals));
        points.filter(|(_, n)| n[1] > 0.6).map(|(p, _)| p[0]).fold(0.0, f32::max)
    }

    #[test]
    fn measured_places_bend_the_drawing_and_leave_length_and_height() {
        let mut sheet = read("hatchback");
        let size = sheet.size;
        let built = |sheet: &Sheet| build_sheet(sheet, [size.length, size.width, size.height], size.wheelbase);
        let before = windows_end(&built(&sheet));
        let moved = before - 0.12;
        let [x, z] = [(moved - size.front_overhang) / size.wheelbase, 1.15 / size.wheelbase];
        sheet.facts = Some(Facts { glass_rear: Some([x, z]), ..Facts::default() });
        let mesh = built(&sheet);
        let after = windows_end(&mesh);
        assert!((after - moved).abs() < 0.025, "{before} became {after}, measured {moved}");
        check("a measured hatchback", &sheet, [size.length, size.width, size.height], size.wheelbase);
    }

    #[test]
    fn a_roof_in_a_second_colour_is_the_panel_between_the_screens() {
        let sheet = read("mini-countryman");
        let size = sheet.size;
        let mesh = build_sheet(&sheet, [size.length, size.width, size.height], size.wheelbase);
        let (low, high) = bounds(&mesh, |m| m == Material::GlossWhite);
        let front = sheet.glass.windscreen.as_ref().unwrap().header;
        let rear = sheet.glass.backlight.as_ref().unwrap().top;
        assert!(low.z > 0.8 * size.height && high.z > 0.98 * size.height, "from {} to {}", low.z, high.z);
        assert!((low.x - front).abs() < 0.03 && high.x > rear - 0.1 && high.x < rear + 0.15, "{low} {high}");
    }

    #[test]
    fn a_mirror_at_the_corner_of_a_window_stands_on_a_black_triangle() {
        let sheet = read("sedan");
        let size = sheet.size;
        let mesh = build_sheet(&sheet, [size.length, size.width, size.height], size.wheelbase);
        let [x, z] = sheet.fittings.mirror.as_ref().unwrap().at;
        let root = Vec3::new(x, 0.0, z);
        let is_near =
            |p: &&[f32; 3]| (Vec3::from(**p).with_y(0.0) - root).length() < 0.12 && p[1].abs() < 0.44 * size.width;
        let near = mesh.surfaces[&Material::MattBlack].positions.iter().filter(is_near).count();
        assert!(near > 20, "{near}");
    }

    #[test]
    fn bodies_without_a_template_are_named() {
        let vehicle = Vehicle {
            make: "haulmark".into(),
            model: "passport".into(),
            year: 2020,
            vehicle_type: VehicleType::Other,
            body: BodyClass::Trailer,
            dimensions: Dimensions {
                length_mm: 2080,
                width_mm: 790,
                height_mm: 1060,
                wheelbase_mm: 1410,
                front_track_mm: 0,
            },
        };
        let error = build(&Library::embedded().unwrap(), &vehicle).unwrap_err().to_string();
        assert!(error.contains("trailer"), "{error}");
    }
}
