//! Checks that a finished body agrees with the measurements of the real vehicle (`[facts]` of its
//! sheet), seen straight from the side.

use glam::Vec2;
use std::collections::BTreeMap;

use crate::check::finding::{Finding, finding};
use crate::check::skin::is_skin;
use crate::vehicle::morph::Stance;
use crate::vehicle::outline::segment_distance_squared;
use crate::vehicle::sheet::facts::Facts;
use crate::vehicle::{Material, VehicleMesh};

/// Maximum distance of a position from the measured one: this length, or this ratio of the
/// wheelbase, whichever is more.
const TOLERANCE_M: f32 = 0.025;
const TOLERANCE_RATIO: f32 = 0.015;
/// Steps along x in which outlines are taken.
const STEP_M: f32 = 0.01;
/// Range of distances from the centre plane in which the outline in the middle of the vehicle is
/// taken, beside a fin.
const MIDDLE_M: [f32; 2] = [0.08, 0.45];
/// Side windows lie beyond this ratio of half the width.
const SIDE_RATIO: f32 = 0.45;

/// Returns every difference between mesh and facts that is larger than the tolerance.
pub fn differences(mesh: &VehicleMesh, facts: &Facts, real: Stance) -> Vec<Finding> {
    let wheelbase = real.rear_axle_x - real.front_axle_x;
    let tolerance = TOLERANCE_M.max(TOLERANCE_RATIO * wheelbase).max(facts.within * wheelbase);
    let outline = Silhouette::of(mesh);
    let windows = SideWindows::of(mesh, real.width);
    let mut findings = Vec::new();
    let mut judge = |name: &str, miss: Option<f32>| {
        if miss.is_none_or(|miss| miss > tolerance) {
            let miss = miss.map_or("is not there".to_owned(), |miss| format!("{:.0} mm off", miss * 1000.0));
            findings.push(finding("facts", format!("{name} {miss}, may be {:.0} mm", tolerance * 1000.0)));
        }
    };
    let place = |at: [f32; 2]| facts.real(at, real);
    let on_outline = [
        ("bonnet edge", facts.bonnet_edge),
        ("cowl", facts.cowl),
        ("header", facts.header),
        ("roof end", facts.roof_end),
        ("deck", facts.deck),
        ("deck edge", facts.deck_edge),
    ];
    let named = on_outline.into_iter().filter_map(|(name, at)| Some((name, at?)));
    let lines = facts.bonnet.iter().map(|at| ("bonnet", *at)).chain(facts.roofline.iter().map(|at| ("roofline", *at)));
    for (name, at) in named.chain(lines) {
        judge(name, outline.miss(place(at)));
    }
    if let Some(at) = facts.header {
        judge("windscreen's upper edge", outline.screen_top.map(|top| top.distance(place(at))));
    }
    if let Some(at) = facts.glass_front {
        judge("front of the side windows", windows.ends.map(|ends| (ends[0] - place(at).x).abs()));
    }
    if let Some(at) = facts.glass_rear {
        judge("rear of the side windows", windows.ends.map(|ends| (ends[1] - place(at).x).abs()));
    }
    for at in &facts.belt {
        let at = place(*at);
        judge("belt", windows.lower_edge(at.x).map(|z| (z - at.y).abs()));
    }
    if let Some(tyre) = facts.tyre {
        judge("tyre", Some((2.0 * real.hub_z - tyre * wheelbase).abs()));
    }
    findings
}

/// The upper outline in the middle of the vehicle.
struct Silhouette {
    /// (x, z) from front to rear.
    points: Vec<Vec2>,
    /// Upper edge of the windscreen's glass.
    screen_top: Option<Vec2>,
}

impl Silhouette {
    fn of(mesh: &VehicleMesh) -> Self {
        let surfaces = mesh.surfaces.iter().filter(|(material, _)| is_skin(**material));
        let middle = |p: &&[f32; 3]| (MIDDLE_M[0]..MIDDLE_M[1]).contains(&p[1].abs());
        let all = surfaces.flat_map(|(_, surface)| &surface.positions).filter(middle);
        let mut highest: BTreeMap<i32, Vec2> = BTreeMap::new();
        for p in all {
            let at = Vec2::new(p[0], p[2]);
            let bin = highest.entry((p[0] / STEP_M) as i32).or_insert(at);
            if at.y > bin.y {
                *bin = at;
            }
        }
        let glass = mesh.surfaces.get(&Material::ClearGlass);
        let clear =
            glass.into_iter().flat_map(|surface| &surface.positions).filter(middle).map(|p| Vec2::new(p[0], p[2]));
        let screen_top = clear.max_by(|a, b| a.y.total_cmp(&b.y));
        Self { points: highest.into_values().collect(), screen_top }
    }

    fn miss(&self, at: Vec2) -> Option<f32> {
        let squares = self.points.windows(2).map(|pair| segment_distance_squared(at, pair[0], pair[1]));
        squares.reduce(f32::min).map(f32::sqrt)
    }
}

/// The panes of one side.
struct SideWindows {
    points: Vec<Vec2>,
    /// Least and greatest x.
    ends: Option<[f32; 2]>,
}

impl SideWindows {
    fn of(mesh: &VehicleMesh, width: f32) -> Self {
        let panes =
            [Material::ClearGlass, Material::Glass].into_iter().filter_map(|material| mesh.surfaces.get(&material));
        let on_side = |(p, n): &(&[f32; 3], &[f32; 3])| p[1] > SIDE_RATIO * width * 0.5 && n[1] > 0.6;
        let points: Vec<Vec2> = panes
            .flat_map(|surface| surface.positions.iter().zip(&surface.normals))
            .filter(on_side)
            .map(|(p, _)| Vec2::new(p[0], p[2]))
            .collect();
        let ends = points.iter().fold(None, |ends: Option<[f32; 2]>, p| {
            let [low, high] = ends.unwrap_or([p.x, p.x]);
            Some([low.min(p.x), high.max(p.x)])
        });
        Self { points, ends }
    }

    /// Returns z of the lower edge at `x`, taken over a hand's breadth.
    fn lower_edge(&self, x: f32) -> Option<f32> {
        const REACH_M: f32 = 0.05;
        self.points.iter().filter(|p| (p.x - x).abs() < REACH_M).map(|p| p.y).reduce(f32::min)
    }
}
