//! The shell behind a lens: a bezel that follows the outline, a step down from it, and a floor.

use std::collections::BTreeMap;

use glam::{Vec2, Vec3};

use super::super::solid::{CREASE_DEGREES, Solid};
use super::{LampSeat, LampSite};
use crate::vehicle::mesh::{Material, VehicleMesh};

/// Width of the bezel.
pub const BEZEL_M: f32 = 0.009;
/// Depth of the bezel behind the lens, at its outer and at its inner edge.
const BEZEL_DEPTHS: [f32; 2] = [0.0045, 0.0075];
/// Distance by which the shell continues under the paint beside it.
const UNDER_PAINT_M: f32 = 0.003;
/// Width of a step from one level of the shell down to the next.
const STEP_M: f32 = 0.003;
/// Depth of the ledge, as a ratio of the way down to the floor.
const LEDGE_DEPTH: f32 = 0.42;
/// Greatest width of the ledge, as a ratio of a lamp's height.
const LEDGE_RATIO: f32 = 0.075;
/// Ratio of a lamp's height up to which a ledge is seen.
const LIT_LEDGE: f32 = 0.5;
/// Number of lines from the edge of the shell to its floor.
const EDGE_LINES: usize = 5;
/// Depth of the floor behind the rim of a light, just outside that light.
const BEHIND_RIM_M: f32 = 0.014;
/// Depth of the floor behind the rim of a light, inside that light, to make room for its bowl.
const BEHIND_BOWL_M: f32 = 0.055;
/// Width of the funnel around a light.
const FUNNEL_M: f32 = 0.026;

/// The materials and the form of a shell.
pub struct Housing<'a> {
    pub bezel: Material,
    pub bezel_m: f32,
    pub step: Material,
    /// A ledge halfway down to the floor: its material and its width in metres.
    pub ledge: Option<(Material, f32)>,
    /// Returns the depth of the floor at a place of the lens.
    pub depth: &'a dyn Fn(Vec2) -> f32,
    pub floor: &'a dyn Fn(Vec2) -> Material,
    /// Lights that the floor must make room for.
    pub seats: &'a [LampSeat],
    /// Largest width of the floor's columns. It is small where the floor has flutes.
    pub column_m: f32,
    /// Number of the floor's rows.
    pub rows: usize,
    /// Edges of the floor that bend by more than this many degrees stay sharp.
    pub crease: f32,
}

/// Part of the shell that a line of places belongs to, from the edge inwards.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Zone {
    Outer,
    Inner,
    Step,
    Ledge,
    Floor,
}

/// Adds a shell of one material with nothing in it.
pub fn plain_housing(site: &LampSite, material: Material) -> VehicleMesh {
    let mut mesh = VehicleMesh::default();
    add_housing(
        &mut mesh,
        site,
        &Housing {
            bezel: Material::LampHousing,
            bezel_m: BEZEL_M * 0.6,
            step: Material::LampHousing,
            ledge: None,
            depth: &|p| (site.room(p) * 0.35).min(0.014) + 0.0016 * (p.x * 700.0).sin(),
            floor: &|_| material,
            seats: &[],
            column_m: 0.003,
            rows: 5,
            crease: 60.0,
        },
    );
    mesh
}

/// Returns the positions along the lamp of the housing's columns of points, with the zone of each.
fn columns_of(site: &LampSite, housing: &Housing<'_>, edge: &[(f32, Zone); EDGE_LINES]) -> Vec<(f32, Zone)> {
    let (inner, outer) = site.s_range();
    let mut columns: Vec<(f32, Zone)> = if site.meets_middle {
        vec![(inner, Zone::Floor)]
    } else {
        edge.iter().map(|(d, zone)| (inner + d, *zone)).collect()
    };
    let inside = edge[EDGE_LINES - 1].0;
    let from = if site.meets_middle { inner } else { inner + inside };
    let to = outer - inside;
    let count = ((to - from) / housing.column_m).ceil().clamp(6.0, 150.0) as usize;
    columns.extend((1..count).map(|i| (from + (to - from) * i as f32 / count as f32, Zone::Floor)));
    columns.extend(edge.iter().rev().map(|(d, zone)| (outer - d, *zone)));
    columns
}

/// Returns the triangles between the points of a housing by their material, with those of the floor
/// apart (`true`). Points stand column by column.
fn by_material(
    site: &LampSite,
    housing: &Housing<'_>,
    columns: &[(f32, Zone)],
    zone_of_row: &[Zone],
    places: &[(Vec2, f32)],
) -> BTreeMap<(bool, Material), Vec<[u32; 3]>> {
    let rows = zone_of_row.len();
    let mut solids: BTreeMap<(bool, Material), Vec<[u32; 3]>> = BTreeMap::new();
    for column in 0..columns.len() - 1 {
        for row in 0..rows - 1 {
            let [a, b] = [column * rows + row, (column + 1) * rows + row].map(|i| i as u32);
            let [c, d] = [b + 1, a + 1];
            let zone = |c: usize, r: usize| if zone_of_row[r] < columns[c].1 { zone_of_row[r] } else { columns[c].1 };
            let corners = [zone(column, row), zone(column + 1, row), zone(column + 1, row + 1), zone(column, row + 1)];
            let lowest = corners.into_iter().fold(Zone::Floor, |m, z| if z < m { z } else { m });
            let highest = corners.into_iter().fold(Zone::Outer, |m, z| if z > m { z } else { m });
            let middle = (places[a as usize].0 + places[c as usize].0) * 0.5;
            let key = match (lowest, highest) {
                (Zone::Outer, _) => (false, housing.bezel),
                (Zone::Inner, _) => (false, housing.step),
                // Light falls on a ledge from above: its upper half lies in the shade of the bezel.
                (Zone::Step, _) if housing.ledge.is_some() && site.ratio_up(middle) < LIT_LEDGE => {
                    (false, housing.ledge.map_or(housing.step, |l| l.0))
                }
                (Zone::Step, _) if housing.ledge.is_some() => (false, housing.step),
                (Zone::Ledge, _) if housing.ledge.is_some() => (false, housing.step),
                _ => (true, (housing.floor)(middle)),
            };
            solids.entry(key).or_default().extend([[a, b, c], [a, c, d]]);
        }
    }
    solids
}

/// Moves a point of the shell back behind the lights that stand there. Only a floor
/// sinks to a funnel around a light.
fn clear_of_seats(seats: &[LampSeat], mut point: Vec3, out: Vec3, is_floor: bool) -> Vec3 {
    for seat in seats {
        let off = point - seat.centre;
        let along = off.dot(seat.axis);
        let aside = (off - seat.axis * along).length();
        // Inside a light the floor makes room for the bowl. Around the light it
        // forms a funnel that ends softly.
        let (behind, ratio) = if aside < seat.radius {
            (BEHIND_BOWL_M, 1.0)
        } else if !is_floor {
            continue;
        } else {
            let t = ((aside - seat.radius * 1.08) / FUNNEL_M).clamp(0.0, 1.0);
            (BEHIND_RIM_M, 1.0 - t * t * (3.0 - 2.0 * t))
        };
        if along > -behind {
            point -= out * ((along + behind) / out.dot(seat.axis).max(0.4)).min(0.08) * ratio;
        }
    }
    point
}

/// Returns the depth of a line of the shell over a floor of some depth.
fn depth_of(zone: Zone, floor: f32, has_ledge: bool) -> f32 {
    let down = |ratio: f32| BEZEL_DEPTHS[1] + (floor - BEZEL_DEPTHS[1]) * ratio;
    match zone {
        Zone::Outer => BEZEL_DEPTHS[0],
        Zone::Inner => BEZEL_DEPTHS[1],
        Zone::Step | Zone::Ledge => down(if has_ledge { LEDGE_DEPTH } else { 0.8 }),
        Zone::Floor => floor,
    }
}

/// Adds the shell behind a lens.
pub fn add_housing(mesh: &mut VehicleMesh, site: &LampSite, housing: &Housing<'_>) {
    let (inner, outer) = site.s_range();
    let width = housing.bezel_m.min((outer - inner) * 0.15);
    let ledge = housing.ledge.map_or(0.0, |(_, wide)| wide.min((outer - inner) * LEDGE_RATIO));
    let edge = [
        (-UNDER_PAINT_M, Zone::Outer),
        (0.0, Zone::Outer),
        (width, Zone::Inner),
        (width + STEP_M, Zone::Step),
        (width + STEP_M + ledge, Zone::Ledge),
    ];
    let columns = columns_of(site, housing, &edge);
    let rows = housing.rows + 2 * EDGE_LINES;
    let zone_of_row = |row: usize| {
        let from_edge = row.min(rows - 1 - row);
        if from_edge < EDGE_LINES { edge[from_edge].1 } else { Zone::Floor }
    };
    let place = |column: usize, row: usize| -> (Vec2, f32) {
        let (s, column_zone) = columns[column];
        let (low, high) = site.span(s);
        let height = high - low;
        // Where an edge runs steeply, the bezel's width is measured across the edge, not upwards.
        let steep = |a: f32, b: f32| (1.0 + ((a - b) / 0.008).powi(2)).sqrt().min(2.6);
        let (before, after) = (site.span(s - 0.004), site.span(s + 0.004));
        let below = (width * steep(before.0, after.0)).min(height * 0.34);
        let above = (width * steep(before.1, after.1)).min(height * 0.34);
        let step = STEP_M.min(height * 0.08);
        let ledge = ledge.min(height * LEDGE_RATIO);
        let offset = |from_edge: usize, width: f32| match from_edge {
            0 => -UNDER_PAINT_M,
            1 => 0.0,
            2 => width,
            3 => width + step,
            _ => width + step + ledge,
        };
        let last = rows - 1;
        let t = if row < EDGE_LINES {
            low + offset(row, below)
        } else if last - row < EDGE_LINES {
            high - offset(last - row, above)
        } else {
            let (a, b) = (low + below + step + ledge, high - above - step - ledge);
            a + (b - a) * (row + 1 - EDGE_LINES) as f32 / (housing.rows + 1) as f32
        };
        let p = Vec2::new(s, t);
        // Pointed ends have no room for a floor.
        let open = ((height - 0.8 * width) / (1.4 * width)).clamp(0.0, 1.0);
        let deep = (housing.depth)(p);
        let zone = if zone_of_row(row) < column_zone { zone_of_row(row) } else { column_zone };
        let floor = BEZEL_DEPTHS[1] + (deep - BEZEL_DEPTHS[1]).max(0.0) * open;
        (p, depth_of(zone, floor, housing.ledge.is_some()))
    };
    let places: Vec<(Vec2, f32)> = (0..columns.len())
        .flat_map(|column| (0..rows).map(move |row| (column, row)))
        .map(|(c, r)| place(c, r))
        .collect();
    let at = |column: usize, row: usize| -> Vec3 {
        let (p, depth) = places[column * rows + row];
        let is_floor = zone_of_row(row) == Zone::Floor && columns[column].1 == Zone::Floor;
        clear_of_seats(housing.seats, site.behind(p, depth), site.outward(p), is_floor)
    };
    let points = Solid::grid(columns.len(), rows, false, at).points;
    let solids = by_material(site, housing, &columns, &(0..rows).map(zone_of_row).collect::<Vec<_>>(), &places);
    let all = solids.values().flatten().copied().collect();
    let looks_in = !site.looks_out(&Solid { points: points.clone(), triangles: all });
    for ((is_floor, material), triangles) in solids {
        let solid = Solid { points: points.clone(), triangles };
        let solid = if looks_in { solid.flipped() } else { solid };
        let crease = if is_floor { housing.crease } else { CREASE_DEGREES };
        mesh.add(material, &compact(solid).surface(crease));
    }
}

/// Returns the solid without the points that no triangle uses.
fn compact(solid: Solid) -> Solid {
    let mut own = vec![u32::MAX; solid.points.len()];
    let mut out = Solid::default();
    for triangle in &solid.triangles {
        out.triangles.push(triangle.map(|i| {
            let index = &mut own[i as usize];
            if *index == u32::MAX {
                *index = out.points.len() as u32;
                out.points.push(solid.points[i as usize]);
            }
            *index
        }));
    }
    out
}
