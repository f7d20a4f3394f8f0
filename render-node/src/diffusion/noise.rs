//! The random numbers of a render: the same for a seed on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Returns a generator of standard normal numbers (Box and Muller, 1958, from ChaCha8) for a seed
/// and an attempt (0 for the first) at a render.
pub fn gaussian(seed: u64, attempt: u32) -> impl FnMut() -> f32 {
    let mut random = ChaCha8Rng::seed_from_u64(seed.wrapping_add(u64::from(attempt)));
    let mut spare = None;
    move || {
        if let Some(second) = spare.take() {
            return second;
        }
        // The interval is (0, 1], because the logarithm of zero is not finite.
        let radius_draw = (f64::from(random.next_u32()) + 1.0) / 4_294_967_296.0;
        let angle = f64::from(random.next_u32()) / 4_294_967_296.0 * std::f64::consts::TAU;
        let radius = (-2.0 * radius_draw.ln()).sqrt();
        spare = Some((radius * angle.sin()) as f32);
        (radius * angle.cos()) as f32
    }
}
