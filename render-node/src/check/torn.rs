//! Finds what looks torn or stray on a finished mesh: crumbs of skin between other materials, and
//! shells that hang in the air beside the vehicle.

use glam::{IVec3, Vec3};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::check::finding::{Finding, finding};
use crate::vehicle::{Material, VehicleMesh};

/// Corners nearer to each other than this are one: parts of one skin are cut from the same corners.
const WELD_M: f32 = 2e-5;
/// Range of areas in which a piece of skin between others is a crumb, if its material also has a
/// piece `LEAST_TIMES` as large. Smaller pieces are not seen.
const CRUMBS_M2: [f32; 2] = [1e-5, 6e-5];
const LEAST_TIMES: f32 = 20.0;
/// Slivers narrower than this, a third of a pixel of an image, are not seen either.
const LEAST_WIDTH_M: f32 = 0.0015;
/// Side of the cells in which surfaces are entered. A shell with no other shell in its own or the
/// adjacent cells hangs in the air.
const CELL_M: f32 = 0.012;
/// Shells smaller than this are not seen.
const LEAST_SHELL_M: f32 = 0.008;

/// A connected set of triangles of one material.
struct ConnectedPiece {
    material: Material,
    area: f32,
    low: Vec3,
    high: Vec3,
    triangles: Vec<[Vec3; 3]>,
    /// True if some of its corners belong to another material, too.
    is_cut: bool,
}

/// The triangles of one material: the positions of their corners, and the corners' numbers after
/// welding.
type WeldedSurface = (Material, Vec<[Vec3; 3]>, Vec<[u32; 3]>);

/// Returns crumbs and floating shells: the largest of each, and how many there are.
pub fn torn(mesh: &VehicleMesh) -> Vec<Finding> {
    let shells = shells_of(mesh);
    let mut found = Vec::new();
    let crumbs: Vec<&ConnectedPiece> = crumbs(&shells);
    if let Some(worst) = crumbs.iter().max_by(|a, b| a.area.total_cmp(&b.area)) {
        found.push(finding("crumb", said(worst, crumbs.len())));
    }
    let floating = floating(&shells);
    if let Some(worst) = floating.iter().max_by(|a, b| a.area.total_cmp(&b.area)) {
        found.push(finding("floating", said(worst, floating.len())));
    }
    found
}

fn said(shell: &ConnectedPiece, count: usize) -> String {
    let at = (shell.low + shell.high) * 0.5;
    let (material, area) = (shell.material, shell.area * 1e4);
    format!("{count}, the largest {material:?} of {area:.2} cm2 at x {:.2}, y {:.2}, z {:.2}", at.x, at.y, at.z)
}

/// Returns true for materials that a body's skin is divided into.
fn is_skin(material: Material) -> bool {
    matches!(
        material,
        Material::Paint
            | Material::Chrome
            | Material::Satin
            | Material::GlossBlack
            | Material::GlossWhite
            | Material::MattBlack
            | Material::PaneBorder
            | Material::Glass
            | Material::ClearGlass
    )
}

fn crumbs(shells: &[ConnectedPiece]) -> Vec<&ConnectedPiece> {
    let mut largest: FxHashMap<Material, f32> = FxHashMap::default();
    for shell in shells.iter().filter(|shell| shell.is_cut) {
        let most = largest.entry(shell.material).or_default();
        *most = most.max(shell.area);
    }
    let is_crumb = |shell: &&ConnectedPiece| {
        is_skin(shell.material)
            && shell.is_cut
            && (CRUMBS_M2[0]..CRUMBS_M2[1]).contains(&shell.area)
            && shell.area > LEAST_WIDTH_M * shell.low.distance(shell.high)
            && shell.area * LEAST_TIMES < largest[&shell.material]
    };
    shells.iter().filter(is_crumb).collect()
}

fn shells_of(mesh: &VehicleMesh) -> Vec<ConnectedPiece> {
    let mut corners: FxHashMap<[i32; 3], u32> = FxHashMap::default();
    let mut materials_at: Vec<FxHashSet<Material>> = Vec::new();
    let mut shells = Vec::new();
    let mut all: Vec<WeldedSurface> = Vec::new();
    for (material, surface) in &mesh.surfaces {
        let welded: Vec<u32> = surface
            .positions
            .iter()
            .map(|p| {
                let key = (Vec3::from(*p) / WELD_M).round().as_ivec3().to_array();
                let next = corners.len() as u32;
                let corner = *corners.entry(key).or_insert(next);
                if corner == next {
                    materials_at.push(FxHashSet::default());
                }
                materials_at[corner as usize].insert(*material);
                corner
            })
            .collect();
        let triangles = surface.indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]].map(|i| i as usize));
        let places = triangles.clone().map(|t| t.map(|i| Vec3::from(surface.positions[i]))).collect();
        all.push((*material, places, triangles.map(|t| t.map(|i| welded[i])).collect()));
    }
    let mut root: Vec<u32> = (0..corners.len() as u32).collect();
    for (material, places, triangles) in all {
        for own in triangles.iter().flatten() {
            root[*own as usize] = *own;
        }
        for [a, b, c] in &triangles {
            for (i, j) in [(a, b), (b, c)] {
                let (i, j) = (top(&mut root, *i), top(&mut root, *j));
                root[i.max(j) as usize] = i.min(j);
            }
        }
        let mut number: FxHashMap<u32, usize> = FxHashMap::default();
        for (corners, place) in triangles.iter().zip(places) {
            let index = *number.entry(top(&mut root, corners[0])).or_insert_with(|| {
                let (low, high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
                shells.push(ConnectedPiece { material, area: 0.0, low, high, triangles: Vec::new(), is_cut: false });
                shells.len() - 1
            });
            let shell: &mut ConnectedPiece = &mut shells[index];
            let [a, b, c] = place;
            shell.area += 0.5 * (b - a).cross(c - a).length();
            shell.low = shell.low.min(a).min(b).min(c);
            shell.high = shell.high.max(a).max(b).max(c);
            shell.is_cut |= corners.iter().any(|i| materials_at[*i as usize].len() > 1);
            shell.triangles.push(place);
        }
    }
    shells
}

fn top(root: &mut [u32], mut i: u32) -> u32 {
    while root[i as usize] != i {
        root[i as usize] = root[root[i as usize] as usize];
        i = root[i as usize];
    }
    i
}

/// Returns the shells that no other shell is near.
fn floating(shells: &[ConnectedPiece]) -> Vec<&ConnectedPiece> {
    // Maps each cell to one of its shells, and to true if it has several.
    let mut in_cell: FxHashMap<IVec3, (usize, bool)> = FxHashMap::default();
    let cells_of = |shell: &ConnectedPiece, cell: &mut dyn FnMut(IVec3)| {
        for [a, b, c] in &shell.triangles {
            let longest = a.distance(*b).max(b.distance(*c)).max(c.distance(*a));
            let steps = (longest / (0.7 * CELL_M)).ceil().clamp(1.0, 600.0) as usize;
            for i in 0..=steps {
                for j in 0..=steps - i {
                    let (s, t) = (i as f32 / steps as f32, j as f32 / steps as f32);
                    cell(((*a + (*b - *a) * s + (*c - *a) * t) / CELL_M).floor().as_ivec3());
                }
            }
        }
    };
    for (index, shell) in shells.iter().enumerate() {
        cells_of(shell, &mut |cell| {
            let (first, several) = in_cell.entry(cell).or_insert((index, false));
            *several |= *first != index;
        });
    }
    let is_alone = |index: usize, shell: &ConnectedPiece| {
        let mut is_near = false;
        cells_of(shell, &mut |cell| {
            let around = (0..27).map(|i| cell + IVec3::new(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1));
            let other = |at: IVec3| in_cell.get(&at).is_some_and(|(first, several)| *several || *first != index);
            is_near = is_near || around.into_iter().any(other);
        });
        !is_near
    };
    // Linings that nobody sees from outside need not meet each other.
    let is_lining = |shell: &ConnectedPiece| shell.material == Material::Interior;
    let is_seen = |shell: &ConnectedPiece| !is_lining(shell) && (shell.high - shell.low).max_element() > LEAST_SHELL_M;
    shells
        .iter()
        .enumerate()
        .filter(|(index, shell)| is_seen(shell) && is_alone(*index, shell))
        .map(|(_, shell)| shell)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::Surface;

    /// A level square.
    fn plate(low: Vec3, side: f32) -> Surface {
        let corner = |x: f32, y: f32| (low + Vec3::new(x, y, 0.0) * side).to_array();
        Surface {
            positions: vec![corner(0.0, 0.0), corner(1.0, 0.0), corner(1.0, 1.0), corner(0.0, 1.0)],
            normals: vec![[0.0, 0.0, 1.0]; 4],
            indices: vec![0, 1, 2, 0, 2, 3],
        }
    }

    #[test]
    fn crumbs_and_floating_shells_are_found_and_whole_parts_are_not() {
        let mut mesh = VehicleMesh::default();
        mesh.add(Material::Paint, &plate(Vec3::ZERO, 1.0));
        mesh.add(Material::Chrome, &plate(Vec3::new(1.0, 0.0, 0.0), 1.0));
        assert_eq!(torn(&mesh), []);
        // A crumb of paint at the chrome's corner.
        mesh.add(Material::Paint, &plate(Vec3::new(2.0, 0.0, 0.0), 0.005));
        // A bolt that stands on the paint and shares no corner with it.
        mesh.add(Material::Chrome, &plate(Vec3::new(0.5, 0.5, 0.004), 0.01));
        let rules = |mesh: &VehicleMesh| torn(mesh).into_iter().map(|found| found.rule).collect::<Vec<_>>();
        assert_eq!(rules(&mesh), ["crumb"]);
        mesh.add(Material::MattBlack, &plate(Vec3::new(0.5, 0.5, 0.2), 0.05));
        assert_eq!(rules(&mesh), ["crumb", "floating"]);
    }
}
