//! Details that every body of its time has and that no sheet needs to draw: joints between
//! bumpers and wings, plates, caps of sensors, the cover of the towing eye, rear reflectors, the
//! lip of the front bumper.
//!
//! Their positions follow from the wheel arches, the lamps and the room between drawn parts, so
//! that they fit every body. A sheet overrides them in `[panels]`.

use cyclorama_core::vehicle::{BodyClass, Vehicle};
use glam::{Vec2, Vec3};

use super::body_field::{Arch, BodyField, SurfacePoint};
use super::bumper::is_car;
use super::curve::ControlPoint;
use super::drawing::FieldDrawing;
use super::mesh::{Material, VehicleMesh};
use super::panel_map::PanelMap;
use super::part::{Part, PartShape};
use super::parts::handle::HandleKind;
use super::parts::pad::{PadShape, closed_section, pad};
use super::parts::placing::{add_all, both_sides};
use super::parts::solid::{CREASE_DEGREES, Solid, rounded_rectangle};
use super::regions::{Divider, Recess, SHUT_LINE_M, Scalar};
use super::sheet::panels::FLAPS;
use super::sheet::{Drawing, DrawnIn, Region, RegionKind, Sheet};
use super::skin::{PartId, border};

/// Makes that have the fuel flap on the left, as most of America, Japan and Korea do. The others,
/// most of Europe, have it on the right.
/// Why: `docs/decisions/vehicle-drawings.md` (Side of the fuel flap).
const FLAP_LEFT_MAKES: [&str; 34] = [
    "acura",
    "buick",
    "cadillac",
    "chevrolet",
    "chrysler",
    "citroen",
    "daewoo",
    "daihatsu",
    "dodge",
    "ford",
    "genesis",
    "geo",
    "gmc",
    "honda",
    "hummer",
    "hyundai",
    "isuzu",
    "jeep",
    "kia",
    "lexus",
    "lincoln",
    "mazda",
    "mercury",
    "mitsubishi",
    "oldsmobile",
    "plymouth",
    "pontiac",
    "ram",
    "saturn",
    "scion",
    "ssangyong",
    "suzuki",
    "tesla",
    "toyota",
];

/// Decides the details that the sheet leaves open, for the vehicle that is built from it.
pub fn settle(sheet: &mut Sheet, vehicle: &Vehicle) {
    use BodyClass as Body;
    let (year, body) = (vehicle.year, vehicle.body);
    let car = is_car(body);
    let light = car || matches!(body, Body::Pickup | Body::Van);
    let [front_bar, rear_bar] = [sheet.fittings.front_bar.is_some(), sheet.fittings.rear_bar.is_some()];
    let spare = sheet.fittings.spare.is_some();
    // A relief has walls as steep as the grid allows, so the recess of a plate is cut
    // instead, at the same position.
    let is_plate = |relief: &super::sheet::SkinRelief| relief.name == "plate recess" && relief.at.view == DrawnIn::Rear;
    let drawn_z = sheet.rear.relief.iter().find(|relief| is_plate(relief)).map(|relief| {
        let heights = || relief.at.curve.iter().map(|point| point.at.y);
        0.5 * (heights().fold(f32::MAX, f32::min) + heights().fold(f32::MIN, f32::max))
    });
    sheet.rear.relief.retain(|relief| !is_plate(relief));
    let panels = &mut sheet.panels;
    let settle = |choice: &mut Option<bool>, by_rule: bool| {
        choice.get_or_insert(by_rule);
    };
    settle(&mut panels.front_joint, car && year >= 1986 && !front_bar);
    settle(&mut panels.rear_joint, car && year >= 1986 && !rear_bar);
    settle(&mut panels.front_plate, light && !front_bar);
    settle(&mut panels.rear_plate, car && !spare);
    let has_plate = sheet.fittings.plate.is_some() || rear_bar;
    settle(&mut panels.bumper_plate, light && !spare && !has_plate);
    settle(&mut panels.chrome_strip, (1994..2018).contains(&year));
    settle(&mut panels.sensors, car && year >= 2008);
    settle(&mut panels.tow_cover, car && year >= 1995 && !front_bar);
    settle(&mut panels.reflectors, car && year >= 1998 && !rear_bar);
    settle(&mut panels.lip, car && year >= 1992 && !front_bar);
    settle(&mut panels.valance, car && year >= 2002 && !rear_bar && body != Body::OffRoader);
    settle(&mut panels.flap_left, FLAP_LEFT_MAKES.contains(&vehicle.make.as_str()));
    panels.rear_plate_z = panels.rear_plate_z.or(drawn_z);
    let has_flap = sheet.region.iter().any(|region| FLAPS.iter().any(|name| region.name.contains(name)));
    if car && !has_flap {
        sheet.region.extend(fuel_flap(sheet));
    }
}

/// Returns a flap over the rear wheel, if there is room between the arch and the belt.
fn fuel_flap(sheet: &Sheet) -> Option<Region> {
    const HALF_M: f32 = 0.072;
    const CORNER_M: f32 = 0.03;
    const BEHIND_AXLE_M: f32 = 0.13;
    const ROOM_M: f32 = 0.02;
    let size = sheet.size;
    let x = size.front_overhang + size.wheelbase + BEHIND_AXLE_M;
    let low = sheet.wheels.tyre_diameter + sheet.wheels.arch_gap + sheet.wheels.cladding;
    let high = sheet.body.belt.iter().map(|point| point.at).rfind(|at| at.x <= x)?.y;
    if high - low < 2.0 * HALF_M + 0.07 {
        return None;
    }
    let z = 0.45 * low + 0.55 * high;
    let reach = Vec2::splat(HALF_M + ROOM_M);
    let is_near = |region: &Region| {
        let points = || region.at.curve.iter().map(|point| point.at);
        let (least, most) = (points().fold(Vec2::MAX, Vec2::min), points().fold(Vec2::MIN, Vec2::max));
        let [from, to] = [Vec2::new(x, z) - reach, Vec2::new(x, z) + reach];
        region.at.view == DrawnIn::Side && least.cmplt(to).all() && most.cmpgt(from).all()
    };
    let is_lamp_near = |region: &Region| {
        let front = region.at.range.map_or(f32::MAX, |range| range[0]);
        matches!(region.kind, RegionKind::Lamp(_)) && front < x + reach.x
    };
    if sheet.region.iter().any(is_near) || sheet.rear.region.iter().any(is_lamp_near) {
        return None;
    }
    let corners = [(-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (1.0, -1.0)];
    let corner = |(right, up): (f32, f32)| {
        let at = Vec2::new(x + right * HALF_M, z + up * HALF_M);
        ControlPoint { at, radius: CORNER_M }
    };
    let at = Drawing {
        view: DrawnIn::Side,
        curve: corners.map(corner).to_vec(),
        mirror: false,
        range: Some([0.0, 10.0]),
        bowed: false,
    };
    let kind = RegionKind::Gap { width: SHUT_LINE_M, material: Material::PanelGap };
    Some(Region { name: "fuel flap".to_owned(), at, kind, over: Vec::new(), edge: None, within: None, layer: 0 })
}

/// Makes the lower edge of the front bumper black as far as the wheels, level
/// with that of the sills.
fn add_skirt(divider: &mut Divider<'_>) {
    const HEIGHT_M: f32 = 0.05;
    let sheet = divider.sheet;
    let top = (sheet.front.anchors[0] + HEIGHT_M).max(sheet.body.sill + 0.03);
    let axle = sheet.size.front_overhang;
    let below: Scalar<'_> = Box::new(move |_, s| (s.at.z - top).max(s.at.x - axle));
    divider.trim(&below, Material::MattBlack);
}

/// Cuts the shut lines and recesses that follow from the body, after everything drawn is on the
/// skin, and adds the parts that stand on it.
pub fn add(divider: &mut Divider<'_>) {
    let panels = divider.sheet.panels;
    let is = |choice: Option<bool>| choice == Some(true);
    let lines = tail_lines(divider.sheet);
    if is(panels.lip) {
        add_skirt(divider);
    }
    let mut joints = Vec::new();
    for (from_rear, wanted) in [(false, panels.front_joint), (true, panels.rear_joint)] {
        if is(wanted) {
            joints.extend(joints_of(divider, from_rear, &lines));
        }
    }
    if !joints.is_empty() {
        let nearest: Scalar<'_> = Box::new(move |p, s| {
            let distances = joints.iter().map(|joint| joint(p, s));
            distances.fold(1.0, |nearest: f32, d| if d.abs() < nearest.abs() { d } else { nearest })
        });
        divider.joint(&nearest);
    }
    let length = divider.field.morph.to_real(Vec3::X * divider.sheet.size.length).x;
    let rear = PanelMap::new(&divider.skin, length, true);
    let mut recesses: Vec<Recess<'_>> = handle_cups(divider).into_iter().collect();
    let plate_at = is(panels.rear_plate).then(|| rear_plate_place(divider, &rear, &lines)).flatten();
    if let Some((plane, recess)) = plate_at.and_then(|place| rear_plate(divider.field, place)) {
        recesses.push(recess);
        add_plate(&mut divider.small_parts, &plane, RECESS_LEAN * PLATE.half.y - RECESS_DEPTH_M, 0.03);
    }
    if is(panels.valance) {
        recesses.extend(valance(divider, &rear, plate_at));
    }
    divider.recesses(&recesses);
    let front = PanelMap::new(&divider.skin, length, false);
    let rear = PanelMap::new(&divider.skin, length, true);
    let mut mesh = VehicleMesh::default();
    let ends = Ends { divider, front: &front, rear: &rear, lines: &lines };
    if is(panels.front_plate) {
        ends.add_front_plate(&mut mesh);
    }
    match plate_at {
        Some(place) => ends.add_plate_strip(place, is(panels.chrome_strip), &mut mesh),
        None if is(panels.bumper_plate) => ends.add_rear_plate(&mut mesh),
        None => {}
    }
    if is(panels.sensors) {
        ends.add_sensors(&mut mesh);
    }
    if is(panels.tow_cover) {
        ends.add_tow_cover(&mut mesh);
    }
    if is(panels.reflectors) {
        ends.add_reflectors(&mut mesh);
    }
    if is(panels.valance) {
        ends.add_fins(&mut mesh);
    }
    if is(panels.lip) {
        ends.add_lip(&mut mesh);
    }
    add_all(&mut divider.small_parts, &mesh);
}

// Joints of the bumpers.

/// Smallest and largest angle above the horizontal at which a joint leaves the wheel arch.
const ARCH_ANGLES_DEGREES: [f32; 2] = [26.0, 50.0];
/// A front joint leaves at an angle that is lower than the direction to the lamp by this much,
/// which bends the joint.
const BEND_DEGREES: f32 = 9.0;
/// Lamps that end this far above the lid's lower edge are not on the bumper. The joint then runs on
/// to the lid below them.
const HIGH_LAMP_M: f32 = 0.20;
/// How far above the lid's lower edge the joint meets the lid in that case.
const OVER_LID_EDGE_M: f32 = 0.014;
/// Maximum height of a level joint above the arch's middle, in radii of the arch. Above that
/// the fuel flap may lie.
const HIGHEST_JOINT: f32 = 1.0;
/// Distance from the arch's middle, in radii, from which a level joint is level.
const LEVEL_FROM: f32 = 1.42;
/// Maximum length of a joint. A lamp farther away belongs to another joint.
const LONGEST_JOINT_M: f32 = 0.62;
/// A joint starts this far inside the arch and ends this far inside the lamp, both of
/// which are cut out of it.
const JOINT_OVERLAP_M: f32 = 0.03;

/// The outer lamps of one end as one outline: the edges of its border.
struct LampOutline {
    edges: Vec<(Vec3, Vec3)>,
}

impl LampOutline {
    fn of(divider: &Divider<'_>, view: DrawnIn) -> Option<Self> {
        let skin = &divider.skin;
        let is_lamp = |part: &Part| matches!(&part.shape, PartShape::Lamp { view: own, .. } if *own == view);
        let are_lamps: Vec<bool> = divider.parts.iter().map(is_lamp).collect();
        let mut of_part: Vec<Vec<[u32; 3]>> = vec![Vec::new(); divider.parts.len()];
        for (triangle, part) in skin.triangles.iter().zip(&skin.part) {
            if are_lamps[usize::from(*part)] {
                of_part[usize::from(*part)].push(*triangle);
            }
        }
        let lamps: Vec<(f32, f32, Vec<[u32; 3]>)> = of_part
            .into_iter()
            .filter(|triangles| !triangles.is_empty())
            .map(|triangles| {
                let corners = || triangles.iter().flatten().map(|i| skin.positions[*i as usize]);
                let middle_z = corners().map(|p| p.z).sum::<f32>() / (3 * triangles.len()) as f32;
                (corners().map(|p| p.y).fold(0.0, f32::max), middle_z, triangles)
            })
            .collect();
        let outermost = lamps.iter().map(|lamp| lamp.0).fold(0.0, f32::max);
        let is_outer = |lamp: &&(f32, f32, Vec<[u32; 3]>)| lamp.0 > 0.75 * outermost;
        let highest = lamps.iter().filter(is_outer).map(|lamp| lamp.1).fold(f32::MIN, f32::max);
        let reach = if view == DrawnIn::Front { 0.12 } else { 0.28 };
        let chosen = lamps.iter().filter(is_outer).filter(|lamp| lamp.1 > highest - reach);
        let triangles: Vec<[u32; 3]> = chosen.flat_map(|lamp| lamp.2.iter().copied()).collect();
        let place = |i: u32| skin.positions[i as usize];
        let edges: Vec<_> = border(triangles.iter()).into_iter().map(|(a, b)| (place(a), place(b))).collect();
        (edges.len() > 8).then_some(Self { edges })
    }

    fn farthest(&self, way: impl Fn(Vec3) -> f32) -> Vec3 {
        self.edges.iter().map(|(p, _)| *p).fold(self.edges[0].0, |best, p| if way(p) > way(best) { p } else { best })
    }

    fn middle(&self) -> Vec3 {
        self.edges.iter().map(|(p, _)| *p).sum::<Vec3>() / self.edges.len() as f32
    }

    /// Returns the lower corner on the wheel's side. `forward` is the sign of x from the
    /// wheel to the vehicle's end.
    fn lower_corner(&self, forward: f32) -> Vec3 {
        let down = if forward > 0.0 { 1.6 } else { 0.8 };
        self.farthest(|p| -p.x * forward - down * p.z)
    }

    fn lowest_z(&self) -> f32 {
        self.edges.iter().map(|(p, _)| p.z).fold(f32::MAX, f32::min)
    }

    fn highest_z(&self) -> f32 {
        self.edges.iter().map(|(p, _)| p.z).fold(f32::MIN, f32::max)
    }

    /// Returns the distance at which a ray in the side view first meets the outline.
    fn met(&self, from: Vec2, way: Vec2) -> Option<f32> {
        let hits = self.edges.iter().filter_map(|(a, b)| {
            let (a, b) = (Vec2::new(a.x, a.z), Vec2::new(b.x, b.z));
            let across = way.perp_dot(b - a);
            let along = (a - from).perp_dot(b - a) / across;
            let ratio = (a - from).perp_dot(way) / across;
            (across.abs() > 1e-7 && along > 0.0 && (0.0..=1.0).contains(&ratio)).then_some(along)
        });
        hits.min_by(f32::total_cmp)
    }
}

/// Returns the joint from a wheel arch to a lamp in the side view: it leaves the arch at a right
/// angle and bends to the lamp's lower corner.
///
/// `cladding` is the width of the trim around the arch.
fn joint_curve(
    arch: Arch,
    cladding: f32,
    [lamp_corner, lamp_middle]: [Vec2; 2],
    met: impl Fn(Vec2, Vec2) -> Option<f32>,
    forward: f32,
) -> Option<Vec<Vec2>> {
    let centre = Vec2::new(arch.x, arch.z);
    let to_corner = lamp_corner - centre;
    let angle = to_corner.y.atan2(to_corner.x * forward).to_degrees();
    let [least, most] = ARCH_ANGLES_DEGREES;
    let (sin, cos) = (angle - BEND_DEGREES).clamp(least, most).to_radians().sin_cos();
    let radial = Vec2::new(cos * forward, sin);
    let start = centre + radial * (arch.radius + cladding);
    // A lamp that reaches over the wheel is met on its lower edge.
    let end = match met(start, radial) {
        Some(distance) if angle > most => start + radial * distance,
        _ => lamp_corner,
    };
    let length = start.distance(end);
    if !(0.02..LONGEST_JOINT_M).contains(&length) || end.y < start.y - 0.02 {
        return None;
    }
    let bend = start + radial * 0.5 * length;
    let mut points = vec![start - radial * (JOINT_OVERLAP_M + cladding)];
    points.extend((0..=16).map(|i| {
        let t = i as f32 / 16.0;
        start.lerp(bend, t).lerp(bend.lerp(end, t), t)
    }));
    // Beyond a corner, the joint goes on towards the middle of the lamp, not straight on.
    points.push(end + (lamp_middle - end).normalize_or_zero() * JOINT_OVERLAP_M);
    Some(points)
}

/// Returns the upper edge of a rear bumper in the side view: it leaves the arch at a right angle,
/// bends to the height `z` and keeps it as far as `end`.
fn level_joint(arch: Arch, cladding: f32, z: f32, end: f32) -> Option<Vec<Vec2>> {
    /// Steepest rise of the edge.
    const STEEPEST: f32 = 1.15;
    let (centre, radius) = (Vec2::new(arch.x, arch.z), arch.radius + cladding);
    let level = Vec2::new((arch.x + LEVEL_FROM * radius).min(end - 0.02), z);
    let start = |degrees: i32| centre + Vec2::from_angle((degrees as f32).to_radians()) * radius;
    let is_gentle = |from: Vec2| {
        let way = level - from;
        way.x > 0.06 && way.y > 0.02 && way.y < STEEPEST * way.x
    };
    let degrees = [40, 44, 36, 48, 32, 52, 28, 56, 24, 60, 20, 64, 16].into_iter().find(|d| is_gentle(start(*d)))?;
    let start = start(degrees);
    let radial = Vec2::from_angle((degrees as f32).to_radians());
    let pull = 0.45 * start.distance(level);
    let (leaving, arriving) = (start + radial * pull, level - Vec2::X * pull);
    let mut points = vec![start - radial * (JOINT_OVERLAP_M + cladding)];
    points.extend((0..=16).map(|i| {
        let t = i as f32 / 16.0;
        let [a, b, c] = [start.lerp(leaving, t), leaving.lerp(arriving, t), arriving.lerp(level, t)];
        a.lerp(b, t).lerp(b.lerp(c, t), t)
    }));
    points.push(Vec2::new(end + JOINT_OVERLAP_M, z));
    Some(points)
}

/// Returns a scalar that is the distance to a line in the side view, limited to the skin for
/// which `is_there` is true.
fn line_scalar<'s>(points: Vec<Vec2>, is_there: impl Fn(Vec3, &SurfacePoint) -> bool + Send + Sync + 's) -> Scalar<'s> {
    let margin = Vec2::splat(LINE_REACH_M);
    let low = points.iter().copied().fold(Vec2::INFINITY, Vec2::min) - margin;
    let high = points.iter().copied().fold(Vec2::NEG_INFINITY, Vec2::max) + margin;
    Box::new(move |p, s| {
        let at = Vec2::new(p.x, p.z);
        let near = at.cmpge(low).all() && at.cmple(high).all() && is_there(p, s);
        if near { to_line(&points, at) } else { 1.0 }
    })
}

/// Returns the signed distance to a rectangle with rounded corners about the origin.
fn to_rounded(at: Vec2, shape: &PadShape) -> f32 {
    let corner = at.abs() - shape.half + Vec2::splat(shape.radius);
    corner.max(Vec2::ZERO).length() + corner.max_element().min(0.0) - shape.radius
}

/// Returns the cups in the doors behind bowed handles.
fn handle_cups<'s>(divider: &Divider<'s>) -> Option<Recess<'s>> {
    const DEPTH_M: f32 = 0.013;
    let (sheet, field) = (divider.sheet, divider.field);
    let fitting = sheet.fittings.handle.as_ref().filter(|fitting| fitting.look.kind == HandleKind::Bar)?;
    let cup = PadShape { half: Vec2::new(0.31 * fitting.look.length, 0.98 * fitting.look.height), radius: 0.024 };
    let places = fitting.at.iter().filter_map(|[x, z]| {
        let at = field.morph.to_real(Vec3::new(*x, 0.0, *z));
        let y = field.skin_y(at.x, at.z)?;
        Some(Vec3::new(at.x, y, at.z - 0.12 * fitting.look.height))
    });
    let places: Vec<Vec3> = places.collect();
    let inside: Scalar<'s> = Box::new(move |p, _| {
        let near = places.iter().filter(|at| (p.y - at.y).abs() < 0.1);
        near.map(|at| to_rounded(Vec2::new(p.x - at.x, p.z - at.z), &cup)).fold(1.0, f32::min)
    });
    Some(Recess { inside, depth: DEPTH_M, lean: 0.0, material: Material::Paint })
}

/// Maximum distance of a joint inside the outermost skin at the same point of the side view.
const FLANK_REACH_M: f32 = 0.07;

/// Returns how far out the flank is along a line of the side view, starting at the wheel. Above the
/// crest of the wing, where the skin continues inwards, the result moves inwards by at most
/// `MOST_INWARD_M` from point to point.
fn flank_along(field: &BodyField, points: &[Vec2], lamp_y: f32) -> Vec<f32> {
    const MOST_INWARD_M: f32 = 0.05;
    let mut last = None;
    let outer = points.iter().map(|p| {
        let least = last.map_or(0.5 * lamp_y, |y: f32| y - MOST_INWARD_M);
        let y = field.skin_y(p.x, p.y).map_or(least, |y| y.max(least));
        last = Some(y);
        y
    });
    outer.collect()
}

/// Distance from a line within which its distance is computed.
const LINE_REACH_M: f32 = 0.04;

/// Returns the signed distance to an open line of points, positive to its left. Far from the line,
/// and beyond its ends, the result is 1.
fn to_line(points: &[Vec2], p: Vec2) -> f32 {
    let (mut nearest, mut signed) = (f32::MAX, 1.0);
    for pair in points.windows(2) {
        let (along, to_p) = (pair[1] - pair[0], p - pair[0]);
        let ratio = (to_p.dot(along) / along.length_squared().max(1e-12)).clamp(0.0, 1.0);
        let distance = to_p.distance(along * ratio);
        if distance < nearest {
            nearest = distance;
            signed = distance.copysign(along.perp_dot(to_p));
        }
    }
    let beyond = |end: Vec2, before: Vec2| (p - end).dot((end - before).normalize_or_zero());
    let last = points.len() - 1;
    if nearest > LINE_REACH_M || beyond(points[0], points[1]) > 0.0 || beyond(points[last], points[last - 1]) > 0.0 {
        return 1.0;
    }
    signed
}

/// Returns the joints of one bumper, as distances from lines.
fn joints_of<'s>(divider: &Divider<'s>, from_rear: bool, lines: &[FieldDrawing]) -> Vec<Scalar<'s>> {
    if from_rear { rear_joints(divider, lines) } else { front_joint(divider).into_iter().collect() }
}

fn front_joint<'s>(divider: &Divider<'s>) -> Option<Scalar<'s>> {
    let lamp = LampOutline::of(divider, DrawnIn::Front)?;
    arch_joint(divider, &lamp, false)
}

/// Returns the joint from the arch to the lower corner of the lamp beside it.
fn arch_joint<'s>(divider: &Divider<'s>, lamp: &LampOutline, from_rear: bool) -> Option<Scalar<'s>> {
    let arch = divider.field.arches[usize::from(from_rear)];
    // Direction from the wheel to the vehicle's end.
    let forward = if from_rear { 1.0 } else { -1.0 };
    let corner = lamp.lower_corner(forward);
    let met = |from: Vec2, way: Vec2| lamp.met(from, way);
    let on_paper = [corner, lamp.middle()].map(|p| Vec2::new(p.x, p.z));
    // A lamp inside the wing has no joint to the flank.
    if divider.field.skin_y(corner.x, corner.z).is_some_and(|y| y >= corner.y + FLANK_REACH_M) {
        return None;
    }
    let points = joint_curve(arch, divider.sheet.wheels.cladding, on_paper, met, forward)?;
    let outer_y = flank_along(divider.field, &points, corner.y);
    let line = points.clone();
    Some(line_scalar(points, move |p, _| {
        // The side view shows the bonnet behind the wing at the same point.
        let at = Vec2::new(p.x, p.z);
        let nearest = |(i, q): (usize, &Vec2)| (q.distance_squared(at), outer_y[i]);
        let flank = line.iter().enumerate().map(nearest).min_by(|a, b| a.0.total_cmp(&b.0));
        flank.is_some_and(|(_, y)| p.y > y - FLANK_REACH_M)
    }))
}

/// Returns the upper edge of the rear bumper: from the arch, level below the
/// lamp, and on to the lid.
fn rear_joints<'s>(divider: &Divider<'s>, lines: &[FieldDrawing]) -> Vec<Scalar<'s>> {
    let field = divider.field;
    let (arch, cladding) = (field.arches[1], divider.sheet.wheels.cladding);
    let lamp = LampOutline::of(divider, DrawnIn::Rear);
    let lid = lines.iter().max_by(|a, b| size_of(a).total_cmp(&size_of(b)));
    let lid_bottom = lid.map(|lid| field.morph.to_real(lid.bounds().0).z);
    let is_high = |bottom: f32| lamp.as_ref().is_none_or(|lamp| lamp.lowest_z() > bottom + HIGH_LAMP_M);
    // The edge runs along the lid's lower edge.
    let below_lid = || -> Option<Scalar<'s>> {
        let (lid, bottom) = (lid?.clone(), lid_bottom?);
        let length = field.morph.to_real(Vec3::X * divider.sheet.size.length).x;
        let points = level_joint(arch, cladding, bottom + OVER_LID_EDGE_M, length)?;
        Some(line_scalar(points, move |_, s: &SurfacePoint| lid.distances(s.at).0 > -0.002))
    };
    if lid_bottom.is_some_and(is_high) {
        return below_lid().into_iter().collect();
    }
    let Some(lamp) = lamp else { return Vec::new() };
    let corner = lamp.lower_corner(1.0);
    let radius = arch.radius + cladding;
    // A lamp that rises to a point at its front is met below that point.
    let highest = arch.z + HIGHEST_JOINT * radius;
    let end = if corner.z < highest {
        Some(Vec2::new(corner.x, corner.z))
    } else {
        let from = Vec2::new(arch.x, highest);
        lamp.met(from, Vec2::X).map(|along| from + Vec2::X * along)
    };
    let end = end.filter(|end| end.x > arch.x + (LEVEL_FROM - 0.12) * radius);
    let level = end.and_then(|end| level_joint(arch, cladding, end.y, end.x));
    let side = 0.35 * corner.y;
    let joint = match level {
        Some(points) => Some(line_scalar(points, move |p, _| p.y > side)),
        None => arch_joint(divider, &lamp, true).or_else(below_lid),
    };
    joint.into_iter().chain(tail_joint(divider, &lamp, lines)).collect()
}

/// Returns the joint from the tail lamp's inner edge to the lid or tailgate, or straight across
/// below a lid that ends above it.
fn tail_joint<'s>(divider: &Divider<'s>, lamp: &LampOutline, lines: &[FieldDrawing]) -> Option<Scalar<'s>> {
    let field = divider.field;
    let lid = lines.iter().max_by(|a, b| size_of(a).total_cmp(&size_of(b)))?.clone();
    let lid_bottom = field.morph.to_real(lid.bounds().0).z;
    let z = (lamp.lowest_z() + 0.006).max(lid_bottom + 0.06);
    if z > lamp.highest_z() - 0.01 {
        return None;
    }
    let on_paper = |p: Vec3| {
        let at = field.morph.to_sheet(p);
        lid.distances(at).0
    };
    // If the lid's line runs into the lamp, the lamp takes the place of the joint.
    if lamp.edges.iter().any(|(p, _)| on_paper(*p) < 0.0) {
        return None;
    }
    // The point of the lamp's inner edge at that height.
    let near = lamp.edges.iter().map(|(p, _)| *p).filter(|p| (p.z - z).abs() < 0.03);
    let inner = near.min_by(|a, b| a.y.total_cmp(&b.y))?;
    // The lamp crosses the lid's line, or touches it.
    if inner.y < 0.05 || on_paper(inner) < 0.012 {
        return None;
    }
    let start_x = inner.x - 0.25;
    Some(Box::new(move |p: Vec3, s: &SurfacePoint| {
        let beyond = p.x < start_x || p.y > inner.y + JOINT_OVERLAP_M || lid.distances(s.at).0 < -0.002;
        if beyond || (p.z - z).abs() > LINE_REACH_M { 1.0 } else { p.z - z }
    }))
}

fn size_of(drawing: &FieldDrawing) -> f32 {
    let (low, high) = drawing.bounds();
    (high.y - low.y) * (high.z - low.z)
}

/// Returns the shut lines of the tail, as they are drawn.
fn tail_lines(sheet: &Sheet) -> Vec<FieldDrawing> {
    let is_line = |kind: &RegionKind| matches!(kind, RegionKind::Gap { material: Material::PanelGap, .. });
    let regions = sheet.rear.region.iter().chain(&sheet.region);
    let lines = regions.filter(|region| region.at.view == DrawnIn::Rear && is_line(&region.kind));
    lines.map(|region| FieldDrawing::new(&region.at, sheet.size.length, sheet.size.height)).collect()
}

// Plates.

const PLATE: PadShape = PadShape { half: Vec2::new(0.262, 0.058), radius: 0.010 };
/// Recesses around the plate: the usual one, and a smaller one for tails with less room.
const RECESSES: [PadShape; 2] = [
    PadShape { half: Vec2::new(0.315, 0.079), radius: 0.022 },
    PadShape { half: Vec2::new(0.278, 0.070), radius: 0.016 },
];
/// If the usual recess would lie this much farther from the plate's position than the small one, it
/// is too large for the tail.
const ASIDE_M: f32 = 0.025;
const RECESS_DEPTH_M: f32 = 0.027;
/// The floor of the recess is more upright than the lid around it by this slope, so that it mirrors
/// another part of the studio.
const RECESS_LEAN: f32 = 0.15;
/// Room between a plate and a badge above or below it.
const BADGE_ROOM_M: f32 = 0.012;
/// Room around a recess.
const RECESS_ROOM_M: f32 = 0.014;

/// Returns the lowest and the highest point of each badge of an end, with some room.
fn badges_of(divider: &Divider<'_>, at_rear: bool) -> Vec<[f32; 2]> {
    let places = divider.badges.iter().filter(|badge| badge.at_rear == at_rear);
    let roomy = |[low, high]: [f32; 2]| [low - BADGE_ROOM_M, high + BADGE_ROOM_M];
    places.map(|badge| roomy(badge.heights())).collect()
}

/// True if a part that reaches `half` up and down from `z` would cover a badge.
fn meets_badge(badges: &[[f32; 2]], z: f32, half: f32) -> bool {
    badges.iter().any(|[low, high]| z + half > *low && z - half < *high)
}

/// Names of regions that a sheet draws where the strip over a rear plate would be.
const STRIPS: [&str; 5] = ["strip", "handle", "bar", "trim", "blade"];

fn is_paint(divider: &Divider<'_>, part: PartId) -> bool {
    let part = &divider.parts[usize::from(part)];
    part.material == Material::Paint && matches!(part.shape, PartShape::Skin)
}

/// Position of a rear plate and the recess that it lies in.
#[derive(Clone, Copy)]
struct PlatePlace {
    /// Height of the plate's middle.
    z: f32,
    recess: PadShape,
}

/// Returns the position of a rear plate: in the largest recess for which there is room near the
/// plate's drawn position.
fn rear_plate_place(divider: &Divider<'_>, rear: &PanelMap, lines: &[FieldDrawing]) -> Option<PlatePlace> {
    let [usual, small] =
        RECESSES.map(|recess| Some(PlatePlace { z: rear_plate_height(divider, rear, lines, &recess)?, recess }));
    match (usual, small) {
        (Some(usual), Some(small)) if (usual.z - small.z).abs() > ASIDE_M => Some(small),
        _ => usual.or(small),
    }
}

/// Returns the height of the middle of a rear plate where there is room for its recess: nearest to
/// the drawn position, or between the tail lamps.
fn rear_plate_height(divider: &Divider<'_>, rear: &PanelMap, lines: &[FieldDrawing], recess: &PadShape) -> Option<f32> {
    let (sheet, field) = (divider.sheet, divider.field);
    let real_z = |z: f32| field.morph.to_real(Vec3::Z * z).z;
    let wanted = match sheet.panels.rear_plate_z {
        Some(z) => real_z(z),
        None => {
            let lamp = LampOutline::of(divider, DrawnIn::Rear)?;
            0.35 * lamp.lowest_z() + 0.65 * lamp.highest_z() - 0.12
        }
    };
    let half = recess.half + Vec2::splat(RECESS_ROOM_M);
    let badges = badges_of(divider, true);
    let fits = |z: f32| {
        let middle = Vec2::new(0.5 * half.x, z);
        let crosses = |line: &FieldDrawing| {
            let inside = |y: f32, z: f32| line.distances(field.morph.to_sheet(Vec3::new(0.0, y, z))).0;
            let places = (0..=6).flat_map(|i| {
                let y = half.x * i as f32 / 6.0;
                [inside(y, z - half.y), inside(y, z), inside(y, z + half.y)]
            });
            let (low, high) = places.fold((f32::MAX, f32::MIN), |(low, high), d| (low.min(d), high.max(d)));
            low < 0.008 && high > -0.008
        };
        !meets_badge(&badges, z, recess.half.y)
            && rear.is_free(middle, Vec2::new(0.5 * half.x, half.y), 0.60, |part| is_paint(divider, part))
            && !lines.iter().any(crosses)
    };
    let [low, high] = [real_z(sheet.rear.anchors[0]) + 0.10, 0.75 * real_z(sheet.size.height)];
    // A step in the skin across the recess would bend its floor.
    let unevenness = |z: f32| {
        let at = |y: f32, up: f32| rear.at(y, z + up * half.y).map_or(0.0, |cell| cell.1);
        let bend = |y: f32, up: f32| (at(y, up) - 0.5 * (at(y, -1.0) * (1.0 - up) + at(y, 1.0) * (1.0 + up))).abs();
        let bends = [0.02, 0.8 * half.x].into_iter().flat_map(|y| [-0.5, 0.0, 0.5].map(|up| bend(y, up)));
        bends.fold(0.0, f32::max)
    };
    let cost = |z: &f32| (z - wanted).abs() + 16.0 * unevenness(*z);
    let places = (0..=((high - low).max(0.0) / 0.01) as usize).map(|i| low + 0.01 * i as f32);
    places.filter(|z| fits(*z)).map(|z| (z, cost(&z))).min_by(|a, b| a.1.total_cmp(&b.1)).map(|(z, _)| z)
}

/// A surface across the vehicle that touches the skin at its middle height and follows the skin's
/// bow: x as a function of y and z.
struct PlatePlane {
    z: f32,
    x: f32,
    bow: f32,
    lean: f32,
    outward: f32,
}

impl PlatePlane {
    /// Fits the surface to the skin. With `clear`, no part of the skin behind the plate
    /// stands in front of it.
    fn new(field: &BodyField, z: f32, shape: &PadShape, from_rear: bool, clear: bool) -> Option<Self> {
        let outward = if from_rear { 1.0 } else { -1.0 };
        let skin = |y: f32, z: f32| field.skin_x(y, z, from_rear);
        let (low, high) = (skin(0.0, z - shape.half.y)?, skin(0.0, z + shape.half.y)?);
        let natural = (high - low) / (2.0 * shape.half.y);
        let lean = if clear { 0.6 * natural.clamp(-0.35, 0.35) } else { natural };
        let middle = skin(0.0, z)?;
        let bow = (skin(shape.half.x, z)? - middle) / (shape.half.x * shape.half.x);
        let mut plane = Self { z, x: if clear { middle } else { 0.5 * (low + high) }, bow, lean, outward };
        if clear {
            let mut most = 0.0_f32;
            for i in 0..=5 {
                for j in -2..=2 {
                    let (y, up) = (shape.half.x * i as f32 / 5.0, shape.half.y * j as f32 / 2.0);
                    if let Some(x) = skin(y, z + up) {
                        most = most.max((x - plane.at(Vec2::new(y, up), 0.0).x) * outward);
                    }
                }
            }
            plane.x += most * outward;
        }
        Some(plane)
    }

    /// Returns a point on the plate, `height` in front of the surface.
    fn at(&self, on: Vec2, height: f32) -> Vec3 {
        let x = self.x + self.bow * on.x * on.x + self.lean * on.y;
        Vec3::new(x + height * self.outward, on.x, self.z + on.y)
    }
}

/// Adds a frame with an empty dark plate in it. `deep` is how far the sides
/// of the frame reach back.
fn add_plate(mesh: &mut VehicleMesh, plane: &PlatePlane, base: f32, deep: f32) {
    let way = Vec3::X * plane.outward;
    let place = |at: Vec2, height: f32| plane.at(at, base + height);
    let frame = [[0.3 * deep, -deep], [0.0, 0.0], [0.0, 0.005], [0.0015, 0.0075], [0.0055, 0.0075], [0.0065, 0.0045]];
    mesh.add(Material::GlossBlack, &pad(&PLATE, &frame, way, place).surface(CREASE_DEGREES));
    let face = [[0.006, 0.005], [PLATE.half.y, 0.005]];
    mesh.add(Material::MattBlack, &pad(&PLATE, &face, way, place).surface(CREASE_DEGREES));
}

/// Returns the recess of a rear plate, and the surface that its skin had before.
fn rear_plate<'s>(field: &BodyField, PlatePlace { z, recess }: PlatePlace) -> Option<(PlatePlane, Recess<'s>)> {
    let plane = PlatePlane::new(field, z, &recess, true, false)?;
    let middle_x = plane.x;
    let inside: Scalar<'s> = Box::new(move |p, _| {
        let distance = to_rounded(Vec2::new(p.y, p.z - z), &recess);
        if (p.x - middle_x).abs() > 0.2 { distance.abs() + 1.0 } else { distance }
    });
    Some((plane, Recess { inside, depth: RECESS_DEPTH_M, lean: RECESS_LEAN, material: Material::Paint }))
}

// The lower edge of the tail.

/// Returns a black area set back in the lower edge of a rear bumper that is all
/// paint, below the plate.
fn valance<'s>(divider: &Divider<'s>, rear: &PanelMap, plate_at: Option<PlatePlace>) -> Option<Recess<'s>> {
    const DEPTH_M: f32 = 0.014;
    const CORNER_M: f32 = 0.035;
    let field = divider.field;
    let real_z = |z: f32| field.morph.to_real(Vec3::Z * z).z;
    let half_width = field.morph.to_real(Vec3::Y * divider.sheet.size.width * 0.5).y;
    let low = rear.lowest(0.02, |part| is_paint(divider, part))?;
    let [bottom, top] = divider.sheet.rear.anchors.map(real_z);
    let high = bottom.max(low) + 0.13 * (top - bottom);
    let half = 0.56 * half_width;
    let paint = |part| is_paint(divider, part);
    let middle = Vec2::new(0.5 * half, 0.5 * (low + 0.03 + high));
    let room = Vec2::new(0.5 * half, 0.5 * (high - low - 0.03) + 0.02);
    let is_paint_down =
        rear.lowest(0.02, |_| true).is_some_and(|z| rear.at(0.02, z + 0.015).is_some_and(|c| paint(c.0)));
    let meets_plate = plate_at.is_some_and(|place| place.z - place.recess.half.y < high + 0.03);
    if high - low < 0.05 || meets_plate || !is_paint_down || !rear.is_free(middle, room, 2.0, paint) {
        return None;
    }
    let length = field.morph.to_real(Vec3::X * divider.sheet.size.length).x;
    // The sides of the area lean inwards and upwards, and it is open below.
    let inside: Scalar<'s> = Box::new(move |p, _| {
        let edge = half + 0.45 * (low - p.z);
        let corner = Vec2::new((p.y - edge) * 0.91, p.z - high) + Vec2::splat(CORNER_M);
        let distance = corner.max(Vec2::ZERO).length() + corner.max_element().min(0.0) - CORNER_M;
        if p.x < length - 0.45 { distance.abs() + 1.0 } else { distance }
    });
    Some(Recess { inside, depth: DEPTH_M, lean: 0.0, material: Material::MattBlack })
}

// Parts that stand on the bumpers.

/// The two ends of a divided skin.
struct Ends<'a, 'b> {
    divider: &'a Divider<'b>,
    front: &'a PanelMap,
    rear: &'a PanelMap,
    /// Shut lines of the tail.
    lines: &'a [FieldDrawing],
}

impl Ends<'_, '_> {
    fn is_opening(&self, part: PartId) -> bool {
        matches!(self.divider.parts[usize::from(part)].shape, PartShape::Inset { .. })
    }

    /// True for skin that something can stand on: paint and plain trim.
    fn is_panel(&self, part: PartId) -> bool {
        let part = &self.divider.parts[usize::from(part)];
        let plain = [Material::Paint, Material::MattBlack, Material::GlossBlack, Material::Satin, Material::Chrome];
        matches!(part.shape, PartShape::Skin) && plain.contains(&part.material)
    }

    fn is_paint(&self, part: PartId) -> bool {
        is_paint(self.divider, part)
    }

    /// Returns the heights of the bumper's underside and of the bonnet's front edge.
    fn front_heights(&self) -> [f32; 2] {
        self.divider.sheet.front.anchors.map(|z| self.divider.field.morph.to_real(Vec3::Z * z).z)
    }

    fn add_front_plate(&self, mesh: &mut VehicleMesh) {
        let [low, high] = self.front_heights();
        let wanted = low + 0.44 * (high - low);
        let half = PLATE.half + Vec2::splat(0.009);
        // The plate lies below the badge, wherever that is.
        let badges = badges_of(self.divider, false);
        let meets_badge = |z: f32| badges.iter().any(|[low, _]| z + half.y > *low);
        let cost = |z: f32| {
            let (mut openings, mut bright, mut count) = (0.0, 0.0, 0.0);
            if meets_badge(z) {
                return None;
            }
            for i in 0..=24 {
                for j in -9..=9 {
                    let (y, up) = (half.x * i as f32 / 24.0, half.y * j as f32 / 9.0);
                    let (part, depth) = self.front.at(y, z + up)?;
                    if depth > 0.30 || !(self.is_panel(part) || self.is_opening(part)) {
                        return None;
                    }
                    openings += f32::from(self.is_opening(part));
                    let material = self.divider.parts[usize::from(part)].material;
                    bright += f32::from(matches!(material, Material::Chrome | Material::Satin));
                    count += 1.0;
                }
            }
            // The plate sits on the bumper or in an opening, never across an opening's edge.
            let ratio: f32 = openings / count;
            let is_across = |ratio: f32| (0.01..0.99).contains(&ratio);
            let is_whole = !is_across(ratio) && !is_across(bright / count);
            is_whole.then_some((z - wanted).abs() + 0.10 * ratio)
        };
        let heights = (0..=40).map(|i| low + 0.09 + (high - low - 0.16).max(0.0) * i as f32 / 40.0);
        let places = heights.filter_map(|z| cost(z).map(|cost| (z, cost)));
        let Some((z, _)) = places.min_by(|a, b| a.1.total_cmp(&b.1)) else { return };
        if let Some(plane) = PlatePlane::new(self.divider.field, z, &PLATE, false, true) {
            add_plate(mesh, &plane, 0.003, 0.03);
        }
    }

    /// Returns a pad on the skin about (y, z), oriented by the skin's own normal.
    fn skin_pad(&self, middle: Vec2, shape: &PadShape, section: &[[f32; 2]], from_rear: bool) -> Option<Solid> {
        let field = self.divider.field;
        let on = |y: f32, z: f32| field.skin_x(y, z, from_rear).map(|x| Vec3::new(x, y, z));
        let centre = on(middle.x, middle.y)?;
        let normal = field.normal(centre);
        let across = Vec3::Z.cross(normal).normalize_or(Vec3::Y);
        let across = if across.y < 0.0 { -across } else { across };
        let up = normal.cross(across).normalize_or(Vec3::Z);
        let up = if up.z < 0.0 { -up } else { up };
        let place = |at: Vec2, height: f32| {
            let flat = centre + across * at.x + up * at.y;
            super::surface_net::project(&|p| field.at(p), flat, 0.03) + normal * height
        };
        Some(pad(shape, section, normal, place))
    }

    /// True if the skin about (y, z) turns so little that a flush cap lies on it everywhere.
    fn is_even(&self, middle: Vec2, half: f32, from_rear: bool) -> bool {
        const LEAST_COSINE: f32 = 0.985;
        let field = self.divider.field;
        let normal = |y: f32, z: f32| field.skin_x(y, z, from_rear).map(|x| field.normal(Vec3::new(x, y, z)));
        let Some(centre) = normal(middle.x, middle.y) else { return false };
        let corners =
            [(-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (1.0, -1.0), (0.0, -1.0), (0.0, 1.0), (-1.0, 0.0), (1.0, 0.0)];
        let mut around = corners.into_iter().map(|(y, z)| normal(middle.x + half * y, middle.y + half * z));
        around.all(|there| there.is_some_and(|there| there.dot(centre) > LEAST_COSINE))
    }

    fn add_both(&self, mesh: &mut VehicleMesh, material: Material, solid: &Solid) {
        let piece = VehicleMesh { surfaces: [(material, solid.surface(CREASE_DEGREES))].into() };
        add_all(mesh, &both_sides(&piece));
    }

    /// Adds four caps to each bumper.
    fn add_sensors(&self, mesh: &mut VehicleMesh) {
        let shape = PadShape::disc(0.0105);
        let section = [[0.0, -0.004], [0.0, 0.0010], [0.0015, 0.0018], [0.0105, 0.0022]];
        let [low, high] = self.front_heights();
        let half_width = self.divider.field.morph.to_real(Vec3::Y * self.divider.sheet.size.width * 0.5).y;
        for (map, from_rear) in [(self.front, false), (self.rear, true)] {
            // The caps of the rear sit below the lid's line.
            let lid_bottom = self
                .lines
                .iter()
                .map(|line| self.divider.field.morph.to_real(line.bounds().0).z)
                .fold(f32::MAX, f32::min);
            let most = if from_rear { lid_bottom - 0.04 } else { f32::MAX };
            let levels = [0.52, 0.46, 0.58, 0.40, 0.64, 0.34, 0.28, 0.22].map(|level| low + level * (high - low));
            let sides = [0.36, 0.70].map(|ratio| ratio * half_width);
            let is_free = |y: f32, z: f32| {
                map.is_free(Vec2::new(y, z), Vec2::splat(0.03), 0.9, |part| self.is_paint(part))
                    && self.is_even(Vec2::new(y, z), 1.2 * shape.radius, from_rear)
            };
            let Some(z) = levels.into_iter().find(|z| *z < most && sides.iter().all(|y| is_free(*y, *z))) else {
                continue;
            };
            for y in sides {
                if let Some(solid) = self.skin_pad(Vec2::new(y, z), &shape, &section, from_rear) {
                    self.add_both(mesh, Material::GlossBlack, &solid);
                }
            }
        }
    }

    /// Adds a flush cover in the right half of the front bumper.
    fn add_tow_cover(&self, mesh: &mut VehicleMesh) {
        let [low, high] = self.front_heights();
        let seam = PadShape { half: Vec2::splat(0.029), radius: 0.010 };
        let cover = PadShape { half: Vec2::splat(0.0265), radius: 0.008 };
        let places =
            [0.40, 0.35, 0.46, 0.30, 0.52].into_iter().flat_map(|y| [0.30, 0.24, 0.37, 0.44].map(|ratio| (y, ratio)));
        let free = places.map(|(y, ratio)| Vec2::new(y, low + ratio * (high - low))).find(|at| {
            self.front.is_free(*at, Vec2::splat(0.05), 0.6, |part| self.is_paint(part))
                && self.is_even(*at, seam.half.x, false)
        });
        let Some(at) = free else { return };
        for (shape, thickness, material) in [(&seam, 0.0013, Material::PanelGap), (&cover, 0.0022, Material::Paint)] {
            let section = closed_section(shape, thickness, 0.0006);
            if let Some(solid) = self.skin_pad(at, shape, &section, false) {
                mesh.add(material, &solid.surface(CREASE_DEGREES));
            }
        }
    }

    /// Adds long thin reflectors low in the rear bumper.
    fn add_reflectors(&self, mesh: &mut VehicleMesh) {
        let [low, high] = self.divider.sheet.rear.anchors.map(|z| self.divider.field.morph.to_real(Vec3::Z * z).z);
        let half_width = self.divider.field.morph.to_real(Vec3::Y * self.divider.sheet.size.width * 0.5).y;
        let shape = PadShape { half: Vec2::new(0.09, 0.0125), radius: 0.009 };
        let places =
            [0.20, 0.16, 0.25, 0.12, 0.30].into_iter().flat_map(|up| [0.66, 0.60, 0.72].map(|ratio| (ratio, up)));
        let tip = self.divider.sheet.fittings.exhaust.as_ref().map(|fitting| {
            let at = self.divider.field.morph.to_real(Vec3::new(0.0, fitting.at[0].abs(), fitting.at[1]));
            (Vec2::new(at.y, at.z), 0.5 * Vec2::new(fitting.look.width, fitting.look.height) + shape.half)
        });
        let meets_tip = |at: Vec2| tip.is_some_and(|(tip, room)| (at - tip).abs().cmplt(room + 0.015).all());
        let free = places
            .map(|(ratio, up)| Vec2::new(ratio * half_width, low + up * (high - low)))
            .filter(|at| !meets_tip(*at))
            .find(|at| self.rear.is_free(*at, shape.half + Vec2::splat(0.02), 1.0, |part| self.is_panel(part)));
        let Some(at) = free else { return };
        // Each reflector is flush in its opening, with a gap around it.
        let gap = PadShape { half: shape.half + Vec2::splat(0.0035), radius: 0.011 };
        for (shape, thickness, material) in [(&gap, 0.0008, Material::PanelGap), (&shape, 0.0022, Material::LampRed)] {
            if let Some(solid) = self.skin_pad(at, shape, &closed_section(shape, thickness, 0.001), true) {
                self.add_both(mesh, material, &solid);
            }
        }
    }

    /// Adds upright fins to the black area below the rear bumper, as far as that area reaches.
    fn add_fins(&self, mesh: &mut VehicleMesh) {
        let is_black = |part: PartId| {
            let part = &self.divider.parts[usize::from(part)];
            let open = matches!(part.shape, PartShape::Skin | PartShape::Recess { .. });
            open && matches!(part.material, Material::MattBlack | Material::GlossBlack)
        };
        for y in [0.10, 0.28] {
            let Some(low) = self.rear.lowest(y, is_black) else { continue };
            let rows =
                (0..30).take_while(|row| self.rear.at(y, low + 0.01 * *row as f32).is_some_and(|c| is_black(c.0)));
            let height = (0.01 * rows.count() as f32).min(0.20);
            // There is no room for fins above a skid plate.
            let is_lowest = self.rear.lowest(y, |_| true).is_some_and(|z| z > low - 0.035);
            if height < 0.06 || low > 0.5 || !is_lowest {
                continue;
            }
            let shape = PadShape { half: Vec2::new(0.005, 0.36 * height), radius: 0.004 };
            let section = [[0.0, -0.03], [0.0, 0.008], [0.002, 0.010], [0.005, 0.010]];
            let middle = Vec2::new(y, low + 0.5 * height);
            if let Some(solid) = self.skin_pad(middle, &shape, &section, true) {
                self.add_both(mesh, Material::MattBlack, &solid);
            }
        }
    }

    /// Adds a black blade along the underside of the front bumper.
    fn add_lip(&self, mesh: &mut VehicleMesh) {
        const ENDS: f32 = 0.84;
        const POINTS: i32 = 16;
        /// Height above the blade at which the skin over it is measured, and how far the blade
        /// reaches beyond that skin.
        const UNDER_M: f32 = 0.024;
        const OUT_M: f32 = 0.002;
        const HALF_DEPTH_M: f32 = 0.030;
        let field = self.divider.field;
        let half_width = field.morph.to_real(Vec3::Y * self.divider.sheet.size.width * 0.5).y;
        let is_body = |part| self.is_panel(part);
        let Some(chin) = self.front.lowest(0.02, is_body) else { return };
        if chin > 0.36 {
            return;
        }
        let z = chin + 0.012;
        let path: Vec<Vec3> = (-POINTS..=POINTS)
            .filter_map(|i| {
                let ratio = i as f32 / POINTS as f32;
                let y = ratio * ENDS * half_width;
                let x = field.skin_x(y, z + UNDER_M, false)?;
                // The ends run out into the bumper.
                let sunk = 0.075 * ((ratio.abs() - 0.66).max(0.0) / 0.34).powi(2);
                Some(Vec3::new(x - OUT_M + HALF_DEPTH_M + sunk, y, z))
            })
            .collect();
        if path.len() == 2 * POINTS as usize + 1 {
            let lip = Solid::swept(&path, Vec3::Z, |_| rounded_rectangle(HALF_DEPTH_M, 0.007, 0.005));
            mesh.add(Material::MattBlack, &lip.surface(50.0));
        }
    }

    /// Adds a plate to the bumper of a body whose tail has no recess for it: on the step of a
    /// pickup's bumper, or low in the middle.
    fn add_rear_plate(&self, mesh: &mut VehicleMesh) {
        let (sheet, field) = (self.divider.sheet, self.divider.field);
        let real_z = |z: f32| field.morph.to_real(Vec3::Z * z).z;
        let step = sheet.rear.region.iter().find(|region| region.name == "bumper step").and_then(|region| {
            let heights = || region.at.curve.iter().map(|point| point.at.y);
            Some(real_z(0.5 * (heights().reduce(f32::min)? + heights().reduce(f32::max)?)))
        });
        let [low, high] = sheet.rear.anchors.map(real_z);
        let half = PLATE.half + Vec2::splat(0.008);
        let is_free = |z: &f32| {
            let middle = Vec2::new(0.5 * half.x, *z);
            self.rear.is_free(middle, Vec2::new(0.5 * half.x, half.y), 0.8, |part| self.is_panel(part))
        };
        let heights = (0..24).map(|i| low + 0.07 + 0.015 * i as f32).filter(|z| *z < low + 0.4 * (high - low));
        let Some(z) = step.into_iter().chain(heights).find(is_free) else { return };
        if let Some(plane) = PlatePlane::new(field, z, &PLATE, true, true) {
            add_plate(mesh, &plane, 0.002, 0.03);
        }
    }

    /// Adds the strip over a rear plate that holds the plate's lamps and the handle, unless
    /// something is drawn there.
    fn add_plate_strip(&self, place: PlatePlace, shines: bool, mesh: &mut VehicleMesh) {
        let drawn = self.divider.sheet.rear.region.iter();
        let has_strip = drawn.map(|region| region.name.as_str()).any(|name| STRIPS.iter().any(|s| name.contains(s)));
        let lid = self.lines.iter().max_by(|a, b| size_of(a).total_cmp(&size_of(b)));
        let is_in_lid = lid.is_some_and(|lid| place.z > self.divider.field.morph.to_real(lid.bounds().0).z);
        if has_strip || !is_in_lid {
            return;
        }
        let shape = PadShape { half: Vec2::new(0.225, 0.011), radius: 0.007 };
        let z = place.z + place.recess.half.y + shape.half.y + 0.010;
        let badges = badges_of(self.divider, true);
        let middle = Vec2::new(0.5 * shape.half.x, z);
        let room = Vec2::new(0.5 * shape.half.x, shape.half.y + 0.006);
        if meets_badge(&badges, z, shape.half.y) || !self.rear.is_free(middle, room, 0.8, |part| self.is_paint(part)) {
            return;
        }
        let section = [[0.0, -0.006], [0.0, 0.006], [0.002, 0.009], [0.006, 0.010], [shape.half.y, 0.010]];
        if let Some(solid) = self.skin_pad(Vec2::new(0.0, z), &shape, &section, true) {
            let material = if shines { Material::Chrome } else { Material::GlossBlack };
            mesh.add(material, &solid.surface(CREASE_DEGREES));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_joint_runs_from_the_arch_to_the_lamp() {
        let arch = Arch { x: 0.9, z: 0.33, radius: 0.36, power: 2.0 };
        let corner = Vec2::new(0.55, 0.70);
        let middle = Vec2::new(0.25, 0.68);
        let points = joint_curve(arch, 0.0, [corner, middle], |_, _| None, -1.0).unwrap();
        let near = |p: Vec2| points.iter().map(|q| q.distance(p)).fold(f32::MAX, f32::min);
        assert!(near(corner) < 1e-3);
        assert!(points.iter().any(|p| (p.distance(Vec2::new(0.9, 0.33)) - 0.36).abs() < 1e-3));
        assert!(points.first().is_some_and(|p| p.distance(Vec2::new(0.9, 0.33)) < 0.36));
        // The joint ends in the lamp.
        assert!(points.last().is_some_and(|p| p.x < corner.x && p.y < corner.y && p.distance(corner) > 0.02));
        // A lamp at the other end of the car does not belong to this wheel.
        assert!(joint_curve(arch, 0.0, [Vec2::new(-0.4, 0.70); 2], |_, _| None, -1.0).is_none());
    }

    #[test]
    fn the_edge_of_a_rear_bumper_leaves_the_arch_and_runs_level_to_the_lamp() {
        let arch = Arch { x: 3.6, z: 0.33, radius: 0.36, power: 2.0 };
        let points = level_joint(arch, 0.0, 0.75, 4.35).unwrap();
        let middle = Vec2::new(3.6, 0.33);
        assert!(points[0].distance(middle) < 0.36 && (points[1].distance(middle) - 0.36).abs() < 1e-3);
        assert!(points.windows(2).all(|pair| pair[1].x > pair[0].x && pair[1].y >= pair[0].y - 1e-4), "{points:?}");
        assert!(points.iter().filter(|p| p.x > 4.15).all(|p| (p.y - 0.75).abs() < 1e-3));
        // No bumper reaches over the top of the arch.
        assert!(level_joint(arch, 0.0, 1.6, 4.35).is_none());
    }

    #[test]
    fn a_lamp_over_the_wheel_is_met_from_below() {
        let arch = Arch { x: 0.9, z: 0.33, radius: 0.36, power: 2.0 };
        let points = joint_curve(arch, 0.0, [Vec2::new(0.95, 0.85); 2], |_, _| Some(0.1), -1.0).unwrap();
        let highest = points.iter().map(|p| p.y).fold(f32::MIN, f32::max);
        assert!(highest < 0.78, "{highest}");
    }

    #[test]
    fn a_line_is_signed_and_ends() {
        let line = [Vec2::ZERO, Vec2::new(0.1, 0.0), Vec2::new(0.2, 0.0)];
        assert!((to_line(&line, Vec2::new(0.1, 0.02)) - 0.02).abs() < 1e-6);
        assert!((to_line(&line, Vec2::new(0.15, -0.01)) + 0.01).abs() < 1e-6);
        assert_eq!(to_line(&line, Vec2::new(0.21, 0.0)), 1.0);
        assert_eq!(to_line(&line, Vec2::new(0.1, 0.2)), 1.0);
    }
}
