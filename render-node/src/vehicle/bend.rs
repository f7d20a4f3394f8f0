//! A smooth bend of the side view, which moves a few points of a drawing to their measured
//! positions and everything between them along.
//!
//! The bend is a lattice of offsets over (x, z), blended with cubic B-spline weights (C2, so that
//! the curvature of the skin stays steady). It is fitted to the wanted offsets by least squares,
//! with its second differences kept small. It does not depend on y.
//!
//! Why: `docs/decisions/vehicle-drawings.md` (Measured facts of a vehicle).

use glam::Vec2;

use super::curve::cubic_weights;

/// One wanted offset along one axis.
#[derive(Debug, Clone, Copy)]
pub struct TargetOffset {
    /// Position (x, z) in the bent drawing, in metres.
    pub at: Vec2,
    pub offset_m: f32,
}

/// Number of cells along x and z.
const CELLS: [usize; 2] = [16, 6];
/// Number of control values along an axis that a cubic span depends on.
const SPAN: usize = 4;
const COLUMNS: usize = CELLS[0] + SPAN - 1;
const ROWS: usize = CELLS[1] + SPAN - 1;
/// Weights relative to a wanted offset: of the second differences, and of the offsets themselves,
/// which settles points far from all wanted ones.
const STIFFNESS: f64 = 0.012;
const REST: f64 = 5e-4;

#[derive(Debug, Clone)]
pub struct Bend {
    low: Vec2,
    cell: Vec2,
    /// Offsets along x and z, row by row from below.
    offsets: Vec<Vec2>,
}

impl Bend {
    /// Fits the lattice over the box `low`..`high` to the offsets wanted along x and along z.
    pub fn fitted(low: Vec2, high: Vec2, along_x: &[TargetOffset], along_z: &[TargetOffset]) -> Self {
        let cell = (high - low) / Vec2::new(CELLS[0] as f32, CELLS[1] as f32);
        let mut bend = Self { low, cell, offsets: vec![Vec2::ZERO; COLUMNS * ROWS] };
        let (x, z) = (bend.solved(along_x), bend.solved(along_z));
        bend.offsets = x.iter().zip(&z).map(|(x, z)| Vec2::new(*x as f32, *z as f32)).collect();
        bend
    }

    /// Returns the offset in metres from a point of the bent drawing to the same point of the
    /// drawing before it was bent.
    #[inline]
    pub fn offset(&self, at: Vec2) -> Vec2 {
        let (start, [wx, wz]) = self.span(at);
        let mut sum = Vec2::ZERO;
        for (row, w) in wz.iter().enumerate() {
            let line = &self.offsets[start + row * COLUMNS..][..SPAN];
            sum += *w * (line[0] * wx[0] + line[1] * wx[1] + line[2] * wx[2] + line[3] * wx[3]);
        }
        sum
    }

    /// Returns the index of the first control value around a point, and the weights along both
    /// axes. A point beyond the lattice counts as lying on its edge.
    fn span(&self, at: Vec2) -> (usize, [[f32; SPAN]; 2]) {
        let cells = Vec2::new(CELLS[0] as f32, CELLS[1] as f32);
        let position = ((at - self.low) / self.cell).clamp(Vec2::ZERO, cells);
        let column = (position.x as usize).min(CELLS[0] - 1);
        let row = (position.y as usize).min(CELLS[1] - 1);
        let weights = [cubic_weights(position.x - column as f32), cubic_weights(position.y - row as f32)];
        (row * COLUMNS + column, weights)
    }

    /// Returns the control values of one axis, which minimise the squared misses, stiffness and
    /// rest, by Cholesky's method.
    fn solved(&self, wanted: &[TargetOffset]) -> Vec<f64> {
        let count = COLUMNS * ROWS;
        let mut matrix = vec![0.0; count * count];
        let mut right = vec![0.0; count];
        let mut add = |terms: &[(usize, f64)], weight: f64, value: f64| {
            for (i, a) in terms {
                right[*i] += weight * a * value;
                for (j, b) in terms {
                    matrix[i * count + j] += weight * a * b;
                }
            }
        };
        for want in wanted {
            let (start, [wx, wz]) = self.span(want.at);
            let terms: Vec<(usize, f64)> = (0..SPAN * SPAN)
                .map(|i| (start + i / SPAN * COLUMNS + i % SPAN, f64::from(wx[i % SPAN] * wz[i / SPAN])))
                .collect();
            add(&terms, 1.0, f64::from(want.offset_m));
        }
        for i in 0..count {
            let (column, row) = (i % COLUMNS, i / COLUMNS);
            if column + 2 < COLUMNS {
                add(&[(i, 1.0), (i + 1, -2.0), (i + 2, 1.0)], STIFFNESS, 0.0);
            }
            if row + 2 < ROWS {
                add(&[(i, 1.0), (i + COLUMNS, -2.0), (i + 2 * COLUMNS, 1.0)], STIFFNESS, 0.0);
            }
            if column + 1 < COLUMNS && row + 1 < ROWS {
                let twist = [(i, 1.0), (i + 1, -1.0), (i + COLUMNS, -1.0), (i + COLUMNS + 1, 1.0)];
                add(&twist, 2.0 * STIFFNESS, 0.0);
            }
            add(&[(i, 1.0)], REST, 0.0);
        }
        solved_by_cholesky(matrix, right)
    }
}

/// Solves a symmetric positive definite system. `matrix` is stored row by row.
fn solved_by_cholesky(mut matrix: Vec<f64>, mut right: Vec<f64>) -> Vec<f64> {
    let count = right.len();
    for i in 0..count {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| matrix[i * count + k] * matrix[j * count + k]).sum();
            let rest = matrix[i * count + j] - known;
            matrix[i * count + j] = if i == j { rest.sqrt() } else { rest / matrix[j * count + j] };
        }
    }
    for i in 0..count {
        let known: f64 = (0..i).map(|k| matrix[i * count + k] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i * count + i];
    }
    for i in (0..count).rev() {
        let known: f64 = (i + 1..count).map(|k| matrix[k * count + i] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i * count + i];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_offsets_are_reached_and_places_between_them_move_along_smoothly() {
        let want = |x: f32, z: f32, offset_m: f32| TargetOffset { at: Vec2::new(x, z), offset_m };
        let ground: Vec<TargetOffset> = (0..10).map(|i| want(0.5 * i as f32, 0.0, 0.0)).collect();
        let up = [want(1.2, 0.95, 0.03), want(1.9, 1.40, -0.05), want(3.6, 1.36, 0.04), want(4.1, 1.0, 0.02)];
        let along_z: Vec<TargetOffset> = ground.iter().chain(&up).copied().collect();
        let bend = Bend::fitted(Vec2::new(-0.3, -0.2), Vec2::new(4.6, 1.7), &along_z, &[]);
        for want in up {
            let miss = (bend.offset(want.at).x - want.offset_m).abs();
            assert!(miss < 0.004, "{miss} at {}", want.at);
            assert!(bend.offset(want.at).y.abs() < 1e-6);
        }
        let along: Vec<f32> = (0..200).map(|i| bend.offset(Vec2::new(0.02 * i as f32, 1.2)).x).collect();
        let turn = along.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).abs()).fold(0.0, f32::max);
        assert!(turn < 4e-4, "{turn}");
        assert!(bend.offset(Vec2::new(2.0, 0.0)).x.abs() < 0.004);
    }

    #[test]
    fn without_wishes_nothing_moves() {
        let bend = Bend::fitted(Vec2::ZERO, Vec2::new(4.0, 1.5), &[], &[]);
        assert_eq!(bend.offset(Vec2::new(2.0, 0.7)), Vec2::ZERO);
    }
}
