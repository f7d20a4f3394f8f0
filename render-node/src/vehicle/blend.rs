//! C2 building blocks of fields: soft minimum and maximum, steps and bumps. All are pure functions.

/// Returns `max(a, b)`, raised by up to `k / 6` where the two are within `k` of each
/// other. C2 for constant `k`.
pub fn smooth_max(a: f32, b: f32, k: f32) -> f32 {
    let apart = (a - b).abs();
    // Most points of a field are away from its blends, and a division takes longer than the rest.
    if apart < k {
        let h = (k - apart) / k;
        a.max(b) + h * h * h * k * (1.0 / 6.0)
    } else {
        a.max(b)
    }
}

/// Returns `min(a, b)`, lowered by up to `k / 6`. Mirror image of [`smooth_max`].
pub fn smooth_min(a: f32, b: f32, k: f32) -> f32 {
    -smooth_max(-a, -b, k)
}

/// Returns 0 below 0, 1 above 1, and a quintic between them (C2).
pub fn step(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * t * (t * (t * 6.0 - 15.0) + 10.0)
}

/// Returns 1 at 0, and 0 from 1 on to both sides (C2).
pub fn bump(t: f32) -> f32 {
    let s = (1.0 - t * t).max(0.0);
    s * s * s
}

/// Returns 0 outside `[x0, x3]`, 1 inside `[x1, x2]`, with C2 transitions between.
pub fn plateau(x: f32, [x0, x1, x2, x3]: [f32; 4]) -> f32 {
    step((x - x0) / (x1 - x0).max(1e-4)) * (1.0 - step((x - x2) / (x3 - x2).max(1e-4)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smooth_max_is_max_away_from_the_blend_and_k_over_six_above_at_it() {
        assert_eq!(smooth_max(1.0, 0.0, 0.5), 1.0);
        assert!((smooth_max(0.3, 0.3, 0.6) - 0.4).abs() < 1e-6);
        assert!((smooth_min(0.3, 0.3, 0.6) - 0.2).abs() < 1e-6);
    }

    #[test]
    fn smooth_max_has_no_jump_in_its_second_difference() {
        let d = 1e-2f64;
        let value = |x: f64| {
            // Computed in f64, because second differences of f32 are noise.
            let (a, b, k) = (x, 0.0f64, 0.5f64);
            let h = ((k - (a - b).abs()) / k).max(0.0);
            a.max(b) + h.powi(3) * k / 6.0
        };
        let second = |x: f64| (value(x + d) - 2.0 * value(x) + value(x - d)) / (d * d);
        let jump = (-70..70).map(|i| (second((i + 1) as f64 * d) - second(i as f64 * d)).abs()).fold(0.0, f64::max);
        assert!(jump < 0.1, "{jump}");
        assert!((value(0.1) as f32 - smooth_max(0.1, 0.0, 0.5)).abs() < 1e-6);
    }

    #[test]
    fn steps_and_bumps_have_their_ends() {
        assert_eq!((step(-1.0), step(0.5), step(2.0)), (0.0, 0.5, 1.0));
        assert_eq!((bump(0.0), bump(1.0), bump(-2.0)), (1.0, 0.0, 0.0));
        assert_eq!(plateau(0.5, [0.0, 0.4, 0.6, 1.0]), 1.0);
    }
}
