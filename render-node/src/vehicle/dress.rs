//! Puts the parts of `parts` on a finished body, at the positions of the sheet and on the skin of
//! the field. Except for wheels and lamps, nothing here changes the body.

use glam::{Vec2, Vec3};

use super::badges::BadgePlace;
use super::body_field::BodyField;
use super::mesh::{Material, VehicleMesh};
use super::morph::Stance;
use super::parts::bars::{bumper_bar, plate_recess, side_step, spare_wheel};
use super::parts::cabin::cabin;
use super::parts::cabin::space::{CabinSpace, Tail};
use super::parts::emblem::emblem;
use super::parts::exhaust::exhaust_tip;
use super::parts::handle::handle;
use super::parts::mirror::{MirrorMount, mirror};
use super::parts::pad::{PadShape, closed_section, pad};
use super::parts::placing::{add_all, both_sides, moved_to, on_skin, placed};
use super::parts::roof::{antenna_fin, antenna_whip, roof_rail};
use super::parts::soft_top::{StowedTop, stowed_top};
use super::parts::solid::{CREASE_DEGREES, Solid};
use super::parts::spoiler::spoiler;
use super::parts::wheel::axle;
use super::parts::wheel::spec::Wheel;
use super::parts::wiper::wiper;
use super::sheet::{CabinFitting, ExhaustFitting, Fittings, RailFitting, RegionKind, Sheet};
use super::truck;

/// The foot of a mirror on the door lies at least this far below the belt.
const UNDER_BELT_M: f32 = 0.022;
/// How far the rim of an exhaust tip stands out of the bumper.
const TIP_STANDS_OUT_M: f32 = 0.003;
/// How far a tip lies behind the bumper's edge if the bumper is open below it.
const TIP_SET_BACK_M: f32 = 0.012;
/// Maximum distance of a tip behind the bumper's outermost point.
const MOST_SET_BACK_M: f32 = 0.12;
/// Distance beside a tip at which its cut-out has ended.
const BESIDE_TIP_M: f32 = 0.034;
/// A wheel's centre that lies this far outside the body is in free air.
const FREE_AIR_M: f32 = 0.02;
/// Angle beside the top of an arch at which the flank decides how far in the wheel stands, and the
/// maximum of that distance.
const ASIDE_DEGREES: f32 = 42.0;
const MOST_DRAWN_IN_M: f32 = 0.025;
/// Minimum distance of a door from the centre plane.
const LEAST_DOOR_Y_M: f32 = 0.35;
/// The lining of the boot or the load bay lies this far inside the skin.
const TAIL_LINING_M: f32 = 0.11;
/// A skin that lies this much farther in at a pipe's middle than around it is
/// the floor behind an edge.
const UNDER_EDGE_M: f32 = 0.06;

/// Positions of the wheels: distances of the outer faces of the front and rear tyres
/// from the centre plane.
pub struct WheelPlaces {
    pub outer_y: [f32; 2],
    pub spec: Wheel,
}

/// Places the tyres' faces `tuck` inside the flank above them, whatever track the catalog gives,
/// because a gap is seen at once. No tyre is wider apart than the vehicle.
pub fn wheel_places(sheet: &Sheet, field: &BodyField, real: Stance) -> WheelPlaces {
    let wheels = &sheet.wheels;
    let growth = real.hub_z * 2.0 / wheels.tyre_diameter;
    let spec = Wheel {
        diameter: wheels.tyre_diameter,
        width: wheels.tyre_width * growth.min(1.1),
        rim_diameter: wheels.rim_diameter,
        ..sheet.fittings.wheel
    }
    .with_diameter(real.hub_z * 2.0);
    let outer_y = field.arches.map(|arch| {
        let lip = |degrees: f32| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            let out = arch.radius + 0.02;
            field.skin_y(arch.x + sin * out, arch.z + cos * out)
        };
        let above = lip(0.0).unwrap_or(real.width * 0.5);
        // Where the flank draws in towards the vehicle's ends, the wheel goes in nearly as much, so
        // that it does not stand out there.
        let aside = [-ASIDE_DEGREES, ASIDE_DEGREES].into_iter().filter_map(lip).fold(above, f32::min);
        let drawn_in = (0.8 * (above - aside)).min(MOST_DRAWN_IN_M);
        // A wheel that is drawn outside the body stays there.
        let tuck = if wheels.tuck < 0.0 { wheels.tuck } else { wheels.tuck.max(drawn_in) };
        (above - tuck).min(real.width * 0.5)
    });
    WheelPlaces { outer_y, spec }
}

/// Builds everything except the body.
pub fn dressing(
    sheet: &Sheet,
    field: &BodyField,
    real: Stance,
    wheels: &WheelPlaces,
    badges: &[BadgePlace],
) -> VehicleMesh {
    let fittings = &sheet.fittings;
    let mut mesh = VehicleMesh::default();
    let place = |x: f32, y: f32, z: f32| field.morph.to_real(Vec3::new(x, y, z));

    if let Some(truck) = &sheet.truck {
        add_all(&mut mesh, &truck::dressing(truck, sheet, field, real));
    } else {
        for (arch, outer_y) in field.arches.iter().zip(wheels.outer_y) {
            add_all(&mut mesh, &axle(&wheels.spec, arch.x, 2.0 * outer_y));
            add_beam(&mut mesh, field, arch.x, arch.z, outer_y - wheels.spec.width);
        }
    }
    add_beside(&mut mesh, fittings, field, real);
    // Cabs and buses have a driver's place of their own.
    if let Some(fitting) = fittings.cabin.as_ref().filter(|_| !truck::has_cockpit(sheet)) {
        add_all(&mut mesh, &cabin(&cabin_space(fitting, sheet, field)));
    }
    if fittings.wipers {
        add_wipers(&mut mesh, sheet, field);
    }
    if let Some(fitting) = &fittings.exhaust {
        add_exhaust(&mut mesh, fitting, field);
    }
    if let Some(fitting) = &fittings.rails {
        let points = rail_points(fitting, field);
        if points.len() > 2 {
            add_all(&mut mesh, &both_sides(&roof_rail(&fitting.look, &points)));
        }
    }
    if let Some(fitting) = &fittings.fin
        && let Some(at) = on_top(field, place(fitting.x, 0.0, 0.0))
    {
        let piece =
            if fitting.whip { antenna_whip(fitting.height) } else { antenna_fin(fitting.height, Material::Paint) };
        add_all(&mut mesh, &moved_to(&piece, at));
    }
    if let Some(fitting) = &fittings.spoiler {
        let edge: Vec<Vec3> = (-4..=4)
            .filter_map(|i| {
                let ratio = i as f32 / 4.0;
                let x = fitting.x + (fitting.x_end - fitting.x) * ratio * ratio;
                let at = on_top(field, place(x, ratio.abs() * fitting.half_width, 0.0))?;
                Some(Vec3::new(at.x, at.y * ratio.signum(), at.z))
            })
            .collect();
        add_all(&mut mesh, &spoiler(&fitting.look, &edge));
    }
    add_to_ends(&mut mesh, fittings, field, wheels);
    add_emblems(&mut mesh, badges);
    add_high_brake_light(&mut mesh, sheet, field);
    if let Some(top) = &fittings.stowed_top {
        let (front, rear) = (place(top.x_front, top.half_width, top.z), place(top.x_rear, 0.0, top.z));
        let moved = StowedTop { x_front: front.x, x_rear: rear.x, half_width: front.y, z: front.z, ..*top };
        add_all(&mut mesh, &stowed_top(&moved, |x, y| field.skin_z(x, y)));
    }
    mesh
}

/// Adds mirrors, handles and steps to both flanks.
fn add_beside(mesh: &mut VehicleMesh, fittings: &Fittings, field: &BodyField, real: Stance) {
    let place = |x: f32, y: f32, z: f32| field.morph.to_real(Vec3::new(x, y, z));
    if let Some(fitting) = &fittings.mirror {
        let mut at = place(fitting.at[0], 0.0, fitting.at[1]);
        let mut look = fitting.look;
        // An open car has no window corner that could carry a mirror: it stands on the door.
        if field.skin_y(at.x, at.z).is_none() {
            look.mount = MirrorMount::Door;
        }
        // A foot on the door stands on the door's shoulder, below the belt, where the body is
        // widest.
        let belt = field.morph.to_real(Vec3::Z * field.surface_point(at).belt).z;
        if look.mount == MirrorMount::Door {
            at.z = at.z.min(belt - UNDER_BELT_M);
        }
        if let Some(y) = field.skin_y(at.x, at.z) {
            add_all(mesh, &both_sides(&moved_to(&mirror(&look), Vec3::new(at.x, y, at.z))));
        }
    }
    if let Some(fitting) = &fittings.handle {
        let piece = handle(&fitting.look);
        for [x, z] in &fitting.at {
            let at = place(*x, 0.0, *z);
            let Some(y) = field.skin_y(at.x, at.z) else { continue };
            let at = Vec3::new(at.x, y, at.z);
            add_all(mesh, &both_sides(&placed(&piece, on_skin(at, field.normal(at), Vec3::X))));
        }
    }
    if let Some(fitting) = &fittings.step {
        let end = |x: f32| {
            let at = place(x, 0.0, fitting.z);
            let flank = field.skin_y(at.x, at.z + 0.15).unwrap_or(real.width * 0.5);
            Vec3::new(at.x, (flank + fitting.out).min(real.width * 0.5), at.z)
        };
        let piece = side_step(end(fitting.x[0]), end(fitting.x[1]), fitting.width, fitting.round, fitting.material);
        add_all(mesh, &both_sides(&piece));
    }
}

/// Adds bumper bars, a spare wheel and a drawn recess of the plate.
fn add_to_ends(mesh: &mut VehicleMesh, fittings: &Fittings, field: &BodyField, wheels: &WheelPlaces) {
    let place = |x: f32, y: f32, z: f32| field.morph.to_real(Vec3::new(x, y, z));
    for (fitting, to_rear) in [(&fittings.front_bar, false), (&fittings.rear_bar, true)] {
        if let Some(fitting) = fitting {
            let at = place(fitting.x, fitting.look.half_width, fitting.look.z);
            let look = super::parts::bars::BumperBar { z: at.z, half_width: at.y, ..fitting.look };
            add_all(mesh, &bumper_bar(&look, at.x, to_rear));
        }
    }
    if let Some(fitting) = &fittings.spare {
        let spec = Wheel { width: wheels.spec.width * 0.85, ..wheels.spec };
        add_all(mesh, &spare_wheel(&spec, place(fitting.x, 0.0, fitting.z), fitting.cover));
    }
    if let Some(fitting) = &fittings.plate {
        let at = place(0.0, 0.0, fitting.z);
        if let Some(x) = field.skin_x(0.0, at.z, true) {
            add_all(mesh, &moved_to(&plate_recess(fitting.width, fitting.height), Vec3::new(x, 0.0, at.z)));
        }
    }
}

/// Returns the points of a roof rail from its front to its rear end. It is as long as the roof
/// under it is not steep.
fn rail_points(fitting: &RailFitting, field: &BodyField) -> Vec<Vec3> {
    const SAMPLES: usize = 48;
    const POINTS: usize = 7;
    const STEEPEST: f32 = 0.30;
    /// Skin whose normal has at least this z is roof. Beyond that it falls to the windows.
    const ROOF_LOOKS_UP: f32 = 0.86;
    const INWARD_M: f32 = 0.01;
    let real = |i: usize| {
        let x = fitting.x[0] + (fitting.x[1] - fitting.x[0]) * i as f32 / (SAMPLES - 1) as f32;
        field.morph.to_real(Vec3::new(x, fitting.y, 0.0))
    };
    // The outermost point that is still roof.
    let outermost = |at: Vec3| {
        let places = (0..16).map(|step| at.y - INWARD_M * step as f32);
        places
            .into_iter()
            .find(|y| on_top(field, Vec3::new(at.x, *y, 0.0)).is_some_and(|p| field.normal(p).z > ROOF_LOOKS_UP))
    };
    // A rail bends one way over its whole length: it is the parabola nearest to the roof's edge,
    // moved in until all of it is on the roof.
    let edge: Vec<Vec2> = (0..SAMPLES)
        .map(|i| (i as f32 / (SAMPLES - 1) as f32, real(i)))
        .filter_map(|(t, at)| outermost(at).map(|y| Vec2::new(t, y)))
        .collect();
    let [a, b, c] = parabola(&edge);
    let bow = |t: f32| a + (b + c * t) * t;
    let inward = edge.iter().map(|p| bow(p.x) - p.y).fold(0.0, f32::max).min(0.03);
    let at = |i: usize| on_top(field, real(i).with_y(bow(i as f32 / (SAMPLES - 1) as f32) - inward));
    let samples: Vec<Vec3> = (0..SAMPLES).filter_map(at).collect();
    let is_flat = |pair: &[Vec3]| (pair[1].z - pair[0].z).abs() < STEEPEST * (pair[1].x - pair[0].x).abs();
    let mut longest = 0..0;
    let mut first = 0;
    for i in 1..=samples.len() {
        if i == samples.len() || !is_flat(&samples[i - 1..=i]) {
            if i - first > longest.len() {
                longest = first..i;
            }
            first = i;
        }
    }
    let kept = &samples[longest];
    if kept.len() < POINTS {
        return kept.to_vec();
    }
    (0..POINTS).map(|i| kept[i * (kept.len() - 1) / (POINTS - 1)]).collect()
}

/// Returns the coefficients of a + b x + c x² nearest to the points, by least squares.
fn parabola(points: &[Vec2]) -> [f32; 3] {
    let (mut matrix, mut right) = (glam::Mat3::ZERO, Vec3::ZERO);
    for p in points {
        let row = Vec3::new(1.0, p.x, p.x * p.x);
        matrix += glam::Mat3::from_cols(row * row.x, row * row.y, row * row.z);
        right += row * p.y;
    }
    let solved = matrix.inverse() * right;
    if solved.is_finite() { solved.to_array() } else { [points.first().map_or(0.0, |p| p.y), 0.0, 0.0] }
}

/// Adds exhaust tips, flush with the skin beside the cut-out that they come out of.
fn add_exhaust(mesh: &mut VehicleMesh, fitting: &ExhaustFitting, field: &BodyField) {
    let at = field.morph.to_real(Vec3::new(0.0, fitting.at[0], fitting.at[1]));
    let half = 0.5 * Vec2::new(fitting.look.width, fitting.look.height);
    let skin = |y: f32, z: f32| field.skin_x(y, z, true);
    // The skin beside the cut-out or, where the bumper ends above the pipe, the bumper's edge.
    let beside = [-1.0, 1.0].into_iter().filter_map(|way| skin(at.y + way * (half.x + BESIDE_TIP_M), at.z));
    let beside = beside.reduce(f32::min);
    let above = skin(at.y, at.z + half.y + BESIDE_TIP_M);
    let Some(outermost) = beside.into_iter().chain(above).reduce(f32::max) else { return };
    let is_open_below = skin(at.y, at.z - half.y - BESIDE_TIP_M).is_none_or(|x| x < outermost - UNDER_EDGE_M);
    // Where the bumper's edge runs over the pipe, the pipe ends under it.
    let x = match beside {
        Some(x) if is_open_below => x.max(outermost - MOST_SET_BACK_M) - TIP_SET_BACK_M,
        Some(x) => x + TIP_STANDS_OUT_M,
        None => outermost - UNDER_EDGE_M,
    };
    let piece = moved_to(&exhaust_tip(&fitting.look), Vec3::new(x, at.y, at.z));
    add_all(mesh, &if fitting.both_sides { both_sides(&piece) } else { piece });
}

/// Adds a brake light along the upper edge of a rear window that is not too flat, as on hatchbacks,
/// estates, off-roaders and cabs of pickups.
fn add_high_brake_light(mesh: &mut VehicleMesh, sheet: &Sheet, field: &BodyField) {
    const FIRST_YEAR: u16 = 1992;
    const BELOW_EDGE_M: f32 = 0.026;
    const FACES_REAR: f32 = 0.18;
    let year = sheet.rear.region.iter().find_map(|region| match &region.kind {
        RegionKind::Lamp(lamp) if lamp.year > 0 => Some(lamp.year),
        _ => None,
    });
    let Some(backlight) = sheet.glass.backlight.as_ref().filter(|_| year.is_some_and(|year| year >= FIRST_YEAR)) else {
        return;
    };
    let edge = match backlight.top_z {
        Some(z) => Some(field.morph.to_real(Vec3::Z * z)),
        None => on_top(field, field.morph.to_real(Vec3::X * backlight.top)),
    };
    let Some(middle) = edge.map(|edge| edge.z - BELOW_EDGE_M) else { return };
    // The body is one half; the other is its mirror image.
    let on_tail = |at: Vec2| {
        let (y, z) = (at.x.abs(), middle + at.y);
        let p = Vec3::new(field.skin_x(y, z, true)?, y, z);
        let normal = field.normal(p);
        let side = Vec3::new(1.0, at.x.signum(), 1.0);
        (normal.x > FACES_REAR).then_some((p * side, normal * side))
    };
    let (frame, light) = (Vec2::new(0.150, 0.013), Vec2::new(0.141, 0.0080));
    let corners = [frame, -frame, Vec2::new(frame.x, -frame.y), Vec2::new(-frame.x, frame.y), Vec2::ZERO];
    let found: Vec<(Vec3, Vec3)> = corners.into_iter().filter_map(on_tail).collect();
    let apart = found.iter().map(|(p, _)| p.x).fold([f32::MAX, f32::MIN], |[low, high], x| [low.min(x), high.max(x)]);
    if found.len() < corners.len() || apart[1] - apart[0] > 0.12 {
        return;
    }
    for (half, out, material) in [(frame, 0.003, Material::GlossBlack), (light, 0.005, Material::LampRed)] {
        let shape = PadShape { half, radius: half.y * 0.7 };
        let place = |at: Vec2, height: f32| {
            let (p, normal) = on_tail(at).unwrap_or(found[4]);
            p + normal * height
        };
        let solid = pad(&shape, &closed_section(&shape, out, 0.0015), Vec3::X, place);
        mesh.add(material, &solid.surface(CREASE_DEGREES));
    }
}

/// Adds the beam between two wheels, its final drive and dampers, where the body leaves it in free
/// air, as under off-roaders and pickups.
fn add_beam(mesh: &mut VehicleMesh, field: &BodyField, x: f32, z: f32, half: f32) {
    let centre = Vec3::new(x, 0.0, z);
    if field.at(centre) < FREE_AIR_M || half < 0.3 {
        return;
    }
    let beam = Solid::pin(centre - Vec3::Y * half, centre + Vec3::Y * half, 0.045, 14);
    mesh.add(Material::MattBlack, &beam.surface(60.0));
    let drive = Solid::superellipsoid(Vec3::new(0.13, 0.15, 0.125), 2.6, 14, 24).moved(centre);
    mesh.add(Material::MattBlack, &drive.surface(60.0));
    for side in [-1.0, 1.0] {
        let foot = Vec3::new(x + 0.06, side * half * 0.80, z);
        let damper = Solid::pin(foot, foot + Vec3::new(0.0, -0.05 * side, 0.32), 0.030, 12);
        mesh.add(Material::MattBlack, &damper.surface(60.0));
    }
}

/// Adds the mounts of badges.
fn add_emblems(mesh: &mut VehicleMesh, badges: &[BadgePlace]) {
    for badge in badges {
        let along = if badge.at_rear { -Vec3::Y } else { Vec3::Y };
        add_all(mesh, &placed(&emblem(&badge.look, badge.sunk), on_skin(badge.at, badge.outward, along)));
    }
}

fn on_top(field: &BodyField, at: Vec3) -> Option<Vec3> {
    field.skin_z(at.x, at.y).map(|z| Vec3::new(at.x, at.y, z))
}

/// Returns the foot of the windscreen in the centre plane, which is where the skin leaves the
/// hood for the greenhouse.
fn cowl(sheet: &Sheet, field: &BodyField) -> Option<Vec3> {
    let end = field.morph.to_real(Vec3::X * sheet.size.length).x * 0.6;
    (10..).map(|i| i as f32 * 0.02).take_while(|x| *x < end).filter_map(|x| on_top(field, Vec3::new(x, 0.0, 0.0))).find(
        |p| {
            let sheets = field.surface_point(*p);
            // An open car has no skin of a windscreen. There the foot is where the hood
            // enters the drawn greenhouse.
            let open = sheet.greenhouse.open.is_some();
            if open { sheets.greenhouse_profile < 0.0 } else { sheets.body > 0.02 && sheets.greenhouse_profile < 0.02 }
        },
    )
}

fn cabin_space(fitting: &CabinFitting, sheet: &Sheet, field: &BodyField) -> CabinSpace {
    let rear = field.morph.to_real(Vec3::new(fitting.x_rear, 0.0, sheet.body.sill));
    let foot = cowl(sheet, field).unwrap_or(Vec3::new(rear.x * 0.3, 0.0, sheet.size.height * 0.65));
    let middle_x = 0.5 * (foot.x + rear.x);
    let open = sheet.greenhouse.open.is_some();
    let belt = field.morph.to_real(Vec3::Z * field.surface_point(Vec3::new(middle_x, 0.0, 0.5)).belt).z;
    let roof: Vec<[f32; 2]> = if open {
        Vec::new()
    } else {
        let count = ((rear.x - foot.x) / 0.08).ceil().max(2.0) as usize;
        (0..=count)
            .filter_map(|i| on_top(field, Vec3::new(foot.x + (rear.x - foot.x) * i as f32 / count as f32, 0.0, 0.0)))
            .map(|p| [p.x, p.z - 0.02])
            .collect()
    };
    let top = roof.iter().map(|p| p[1]).fold(belt + 0.3, f32::max);
    let inside = |z: f32| field.skin_y(middle_x, z).unwrap_or(0.7) - 0.06;
    // The doors of some open cars are cut down far below the belt.
    let is_door = |z: &f32| field.skin_y(middle_x, *z).is_some_and(|y| y > LEAST_DOOR_Y_M);
    let door = (0..25).map(|step| belt - 0.02 * step as f32).find(is_door).filter(|_| open).unwrap_or(belt);
    // The flanks of open cars may draw in below, and the lining must not show through them.
    let below = [0.05, 0.15, 0.25, 0.35, 0.45].iter().take(if open { 5 } else { 1 });
    let at_belt = below.map(|below| inside(door - below)).fold(f32::MAX, f32::min);
    let tail = tail_space(sheet, field, rear.x, belt, at_belt);
    CabinSpace {
        x_cowl: foot.x,
        z_cowl: foot.z,
        x_rear: rear.x,
        z_floor: rear.z,
        z_belt: belt,
        z_door: door,
        half_width_belt: at_belt,
        half_width_cowl: field.skin_y(foot.x + 0.06, foot.z - 0.06).map_or(at_belt, |y| at_belt.min(y - 0.06)),
        half_width_roof: if open { at_belt } else { inside(top - 0.12) },
        tail,
        x_front_doors: sheet
            .glass
            .front_doors_end()
            .map_or(f32::INFINITY, |[_, high]| field.morph.to_real(Vec3::new(high[0], 0.0, high[1])).x),
        roof,
        rear: fitting.rear,
        open,
        upright: fitting.upright,
    }
}

/// Returns the space behind the cabin: a boot, or a load bay below its window. Returns `None` if
/// the body is lower there than its belt.
fn tail_space(sheet: &Sheet, field: &BodyField, rear_x: f32, belt: f32, half_width: f32) -> Option<Tail> {
    sheet.glass.backlight.as_ref()?;
    let x = field.skin_x(0.0, belt - 0.06, true)? - TAIL_LINING_M;
    let on_skin = |ratio: f32, y: f32| on_top(field, Vec3::new(rear_x + (x - rear_x) * ratio, y, 0.0)).map(|p| p.z);
    let is_closed = [0.4, 0.8].into_iter().all(|ratio| on_skin(ratio, 0.0).is_some_and(|z| z > belt - 0.03));
    if !is_closed || x < rear_x {
        return None;
    }
    let rear_belt = field.morph.to_real(Vec3::Z * field.surface_point(Vec3::new(x, 0.0, 0.5)).belt).z;
    // The space ends below the lid at its corners, and below the window of a tailgate.
    let lid = [(0.5, 0.0), (0.5, 0.8), (1.0, 0.0), (1.0, 0.9)].into_iter();
    let lid = lid.filter_map(|(ratio, across)| on_skin(ratio, across * half_width)).fold(f32::MAX, f32::min);
    let top = (lid - 0.03).min(rear_belt - 0.02);
    let narrowest = |x: f32| {
        let widths = [0.0, 0.08, 0.16, 0.30].map(|below| field.skin_y(x, top - below).unwrap_or(0.0) - TAIL_LINING_M);
        widths.into_iter().fold(half_width, f32::min)
    };
    let half_width = [narrowest(rear_x), narrowest(x)];
    (half_width[1] > 0.2).then_some(Tail { x, half_width, top })
}

/// Adds two wipers parked along the windscreen's foot, with pivots to the right of the blades
/// (left-hand drive), and the wiper of the rear window.
fn add_wipers(mesh: &mut VehicleMesh, sheet: &Sheet, field: &BodyField) {
    if sheet.fittings.rear_wiper {
        add_rear_wiper(mesh, sheet, field);
    }
    let Some(foot) = cowl(sheet, field) else { return };
    let half = field.morph.to_real(Vec3::Y * sheet.size.width * 0.5).y;
    // y of the pivot and of the blade's ends, as ratios of the half width. The windscreen's bow
    // takes the outer ends back.
    for [pivot, from, to] in [[0.05, 0.02, -0.62], [0.62, 0.60, 0.04]] {
        let on_glass = |ratio: f32, up: f32| {
            let y = ratio * half;
            (0..24).map(|i| foot.x + up + 0.012 * i as f32).find_map(|x| {
                let p = on_top(field, Vec3::new(x, y, 0.0))?;
                (field.surface_point(p).body > 0.028).then_some(p)
            })
        };
        if let (Some(pivot), Some(from), Some(to)) = (on_glass(pivot, -0.03), on_glass(from, 0.01), on_glass(to, 0.03))
        {
            add_all(mesh, &wiper(pivot, from, to, field.normal(from)));
        }
    }
}

/// Adds the wiper of a rear window, parked along its lower edge, on a pivot in
/// the middle of the lid.
fn add_rear_wiper(mesh: &mut VehicleMesh, sheet: &Sheet, field: &BodyField) {
    let Some(pane) = &sheet.glass.backlight else { return };
    let low = field.morph.to_real(Vec3::Z * pane.bottom).z;
    let half = field.morph.to_real(Vec3::Y * sheet.size.width * 0.5).y;
    let on_glass = |ratio: f32, up: f32| {
        let (y, z) = (ratio * half, low + up);
        field.skin_x(y, z, true).map(|x| Vec3::new(x, y, z))
    };
    if let (Some(pivot), Some(from), Some(to)) = (on_glass(0.0, 0.022), on_glass(0.08, 0.050), on_glass(0.43, 0.058)) {
        let outward = field.normal(from);
        add_all(mesh, &wiper(pivot, from, to, outward));
        let hub = Solid::pin(pivot - outward * 0.01, pivot + outward * 0.024, 0.018, 16);
        mesh.add(Material::MattBlack, &hub.surface(CREASE_DEGREES));
    }
}
