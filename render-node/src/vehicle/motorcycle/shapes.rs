//! Shapes that painted parts of two-wheelers share: bulged panels, screens. Skins through sections are `parts::assembly`'s.

use glam::{Vec2, Vec3};

use crate::vehicle::parts::assembly::catmull_rom;
use crate::vehicle::parts::solid::Solid;

/// A smooth closed curve through (x, z) points, `steps` pieces between neighbours.
fn closed_curve(points: &[[f32; 2]], steps: usize) -> Vec<Vec2> {
    let count = points.len();
    let mut curve = Vec::with_capacity(count * steps);
    for i in 0..count {
        let around = [count - 1, 0, 1, 2].map(|k| points[(i + k) % count]);
        for step in 0..steps {
            let value = |k: usize| catmull_rom(around.map(|p| p[k]), step as f32 / steps as f32);
            curve.push(Vec2::new(value(0), value(1)));
        }
    }
    curve
}

/// A panel seen from the side: its outline in (x, z), and how far out (y) it stands at a point of it. Its edge turns
/// inwards by `thick`. Outlines must be seen whole from their centre.
pub(super) fn panel(outline: &[[f32; 2]], thick: f32, out: impl Fn(f32, f32) -> f32) -> Solid {
    let curve = closed_curve(outline, 6);
    let centre = curve.iter().sum::<Vec2>() / curve.len() as f32;
    // (How far towards the centre, how far back from the outside).
    let rings =
        [(0.03, 1.0), (0.0, 0.75), (0.0, 0.35), (0.03, 0.10), (0.09, 0.0), (0.30, 0.0), (0.60, 0.0), (0.90, 0.0)];
    let loops: Vec<Vec<Vec3>> = rings
        .iter()
        .map(|(inwards, back)| {
            curve
                .iter()
                .map(|p| {
                    let p = p.lerp(centre, *inwards);
                    Vec3::new(p.x, out(p.x, p.y) - thick * back, p.y)
                })
                .collect()
        })
        .collect();
    Solid::lofted(&loops)
}

/// A wind screen: from a foot to a top edge (x, z), half widths there, and how far its sides sweep to the rear.
pub(super) fn screen(foot: [f32; 2], top: [f32; 2], half: [f32; 2], sweep: f32) -> Solid {
    let rows = 18;
    let sheet = Solid::grid(rows + 1, 17, false, |row, column| {
        let t = row as f32 / rows as f32;
        let across = column as f32 / 8.0 - 1.0;
        // Rounded upper corners: the last rows draw in.
        let round = 1.0 - ((t - 0.55).max(0.0) / 0.45).powi(4) * 0.42;
        let half_width = (half[0] + (half[1] - half[0]) * t) * round;
        let lean = [foot[0] + (top[0] - foot[0]) * t, foot[1] + (top[1] - foot[1]) * (t + 0.25 * t * (1.0 - t))];
        Vec3::new(lean[0] + sweep * across * across, across * half_width, lean[1] - 0.25 * sweep * across * across)
    });
    // Glass is only drawn towards the eye, and a screen is seen from behind as well.
    let mut screen = sheet.facing_up();
    screen.append(screen.clone().flipped());
    screen
}

/// The larger of two values, rounded where they cross within about `blend` of each other.
pub(super) fn soft_max(a: f32, b: f32, blend: f32) -> f32 {
    0.5 * (a + b + ((a - b).powi(2) + blend * blend).sqrt())
}

/// A tube that swells and thins like the coils of a spring.
pub(super) fn spring(from: Vec3, to: Vec3, radius: f32) -> Solid {
    let count = 36;
    let path: Vec<Vec3> = (0..=count).map(|i| from.lerp(to, i as f32 / count as f32)).collect();
    Solid::tube(&path, 12, |i| radius * if i % 4 < 2 { 1.0 } else { 0.78 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_is_closed_and_keeps_its_outline() {
        let solid = panel(&[[0.0, 0.0], [1.0, 0.0], [1.0, 0.5], [0.0, 0.5]], 0.05, |_, _| 0.2);
        let volume = solid.signed_volume_x6() / 6.0;
        assert!((0.02..0.04).contains(&volume), "{volume}");
        assert!(solid.points.iter().all(|p| (0.149..0.201).contains(&p.y)));
    }
}
