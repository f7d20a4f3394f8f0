//! Finds small islands that cutting leaves behind: crumbs and slivers of one part between
//! others, which would look like torn edges. Such an island goes to the part with which it
//! shares the longest edge.

use glam::Vec3;
use rustc_hash::FxHashMap;

use super::skin::PartId;
use super::surface_net::edges_of;

/// Connected pieces of a part.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Island {
    pub part: PartId,
    pub area: f32,
    /// Length of the edges between the island and other parts.
    pub border: f32,
    /// True if the island touches the centre plane, where its mirror image continues it.
    pub is_halved: bool,
    /// The part that the island borders on longest, and the length of that border.
    pub beside: Option<(PartId, f32)>,
}

impl Island {
    /// Returns the width of a strip with the same area and border.
    pub fn mean_width(&self) -> f32 {
        2.0 * self.area / self.border.max(1e-6)
    }
}

/// Returns the islands of a skin, and the number of the island of each triangle. `is_host` is true
/// for parts that may take over an island that borders on them.
pub fn islands_of(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    part: &[PartId],
    is_host: &dyn Fn(PartId) -> bool,
) -> (Vec<Island>, Vec<u32>) {
    let is_of_two = on_borders(positions.len(), triangles, part);
    let of_triangle = joined(triangles, part, &is_of_two);
    let count = of_triangle.iter().max().map_or(0, |most| *most as usize + 1);
    let mut islands = vec![Island::default(); count];
    for ((triangle, part), island) in triangles.iter().zip(part).zip(&of_triangle) {
        let [a, b, c] = triangle.map(|i| positions[i as usize]);
        let island = &mut islands[*island as usize];
        island.part = *part;
        island.area += 0.5 * (b - a).cross(c - a).length();
        island.is_halved |= a.y == 0.0 || b.y == 0.0 || c.y == 0.0;
    }
    // Every border edge has an island on either side.
    let mut open: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut shared: FxHashMap<(u32, PartId), f32> = FxHashMap::default();
    for (triangle, island) in triangles.iter().zip(&of_triangle) {
        if triangle.iter().filter(|i| is_of_two[**i as usize]).count() < 2 {
            continue;
        }
        for (a, b) in edges_of(triangle) {
            if !is_of_two[a as usize] || !is_of_two[b as usize] {
                continue;
            }
            match open.remove(&(a.min(b), a.max(b))) {
                None => {
                    open.insert((a.min(b), a.max(b)), *island);
                }
                Some(other) if other != *island => {
                    let length = positions[a as usize].distance(positions[b as usize]);
                    for (own, beside) in [(*island, other), (other, *island)] {
                        islands[own as usize].border += length;
                        *shared.entry((own, islands[beside as usize].part)).or_default() += length;
                    }
                }
                Some(_) => {}
            }
        }
    }
    for ((island, beside), length) in shared {
        let best = &mut islands[island as usize].beside;
        let is_longer = best.is_none_or(|(part, most)| length > most || (length == most && beside < part));
        if is_host(beside) && is_longer {
            *best = Some((beside, length));
        }
    }
    (islands, of_triangle)
}

/// Returns the number of the island of each triangle. Pieces that meet only in a point of their
/// border are not connected.
fn joined(triangles: &[[u32; 3]], part: &[PartId], is_of_two: &[bool]) -> Vec<u32> {
    fn find(root: &mut [u32], mut i: u32) -> u32 {
        while root[i as usize] != i {
            root[i as usize] = root[root[i as usize] as usize];
            i = root[i as usize];
        }
        i
    }
    let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
    order.sort_by_key(|index| part[*index as usize]);
    let mut root: Vec<u32> = order.clone();
    root.iter_mut().enumerate().for_each(|(i, own)| *own = i as u32);
    // The last triangle of the current part at each vertex inside a part, and at each edge between
    // two vertices of its border.
    let mut last: Vec<Option<u32>> = vec![None; is_of_two.len()];
    let mut last_at_edge: FxHashMap<(PartId, u32, u32), u32> = FxHashMap::default();
    for index in order {
        let mut join = |other: Option<u32>| {
            if let Some(other) = other {
                let (a, b) = (find(&mut root, other), find(&mut root, index));
                root[a.max(b) as usize] = a.min(b);
            }
        };
        let triangle = &triangles[index as usize];
        for i in triangle.iter().filter(|i| !is_of_two[**i as usize]) {
            join(last[*i as usize].replace(index));
        }
        for (a, b) in edges_of(triangle) {
            if is_of_two[a as usize] && is_of_two[b as usize] {
                join(last_at_edge.insert((part[index as usize], a.min(b), a.max(b)), index));
            }
        }
    }
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    (0..triangles.len() as u32)
        .map(|index| {
            let top = find(&mut root, index);
            let next = numbers.len() as u32;
            *numbers.entry(top).or_insert(next)
        })
        .collect()
}

/// Returns, for each vertex, true if triangles of several parts meet there.
fn on_borders(count: usize, triangles: &[[u32; 3]], part: &[PartId]) -> Vec<bool> {
    let mut first: Vec<Option<PartId>> = vec![None; count];
    let mut is_of_two = vec![false; count];
    for (triangle, part) in triangles.iter().zip(part) {
        for i in triangle.map(|i| i as usize) {
            is_of_two[i] |= *first[i].get_or_insert(*part) != *part;
        }
    }
    is_of_two
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plate of squares 1 cm wide, three rows high. Squares of the middle
    /// row get the given parts.
    fn plate(parts: &[PartId]) -> (Vec<Vec3>, Vec<[u32; 3]>, Vec<PartId>) {
        let columns = parts.len() as u32;
        let side = columns + 1;
        let at = |i: u32| Vec3::new((i % side) as f32 * 0.01, 1.0, (i / side) as f32 * 0.01);
        let positions = (0..side * 4).map(at).collect();
        let squares = (0..3).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let (mut triangles, mut part) = (Vec::new(), Vec::new());
        for (row, column) in squares {
            let a = row * side + column;
            triangles.extend([[a, a + 1, a + side + 1], [a, a + side + 1, a + side]]);
            part.extend([if row == 1 { parts[column as usize] } else { 0 }; 2]);
        }
        (positions, triangles, part)
    }

    #[test]
    fn an_island_has_its_area_its_border_and_a_neighbour() {
        let (positions, triangles, part) = plate(&[0, 3, 3, 0, 3, 0]);
        let (islands, of_triangle) = islands_of(&positions, &triangles, &part, &|_| true);
        assert_eq!(of_triangle.len(), triangles.len());
        let mut found: Vec<Island> = islands.into_iter().filter(|island| island.part == 3).collect();
        found.sort_by(|a, b| a.area.total_cmp(&b.area));
        assert_eq!(found.len(), 2);
        for (island, [area, border]) in found.iter().zip([[1e-4, 0.04], [2e-4, 0.06]]) {
            assert!((island.area - area).abs() < 1e-6 && (island.border - border).abs() < 1e-5, "{island:?}");
            assert!(island.beside.is_some_and(|(part, length)| part == 0 && (length - border).abs() < 1e-5));
            assert!(!island.is_halved);
        }
        assert!((found[1].mean_width() - 0.0067).abs() < 1e-4);
    }

    #[test]
    fn a_part_that_takes_no_islands_is_no_host() {
        let (positions, triangles, part) = plate(&[4, 3, 4]);
        let (islands, _) = islands_of(&positions, &triangles, &part, &|part| part != 0);
        let island = islands.iter().find(|island| island.part == 3).unwrap();
        assert_eq!(island.beside.map(|beside| beside.0), Some(4));
    }
}
