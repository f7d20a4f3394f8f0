//! Random choices that are always the same for the same name.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

/// Returns a generator of numbers from -1 to 1, which are always the same for a name.
pub fn chances(name: &str) -> impl FnMut() -> f32 + use<> {
    let seed: [u8; 32] = Sha256::digest(name).into();
    let mut chance = ChaCha8Rng::from_seed(seed);
    move || chance.random_range(-1.0_f32..=1.0)
}

/// Picks one of several values by a number from -1 to 1.
pub fn pick<T: Copy>(from: &[T], chance: f32) -> T {
    let at = (chance * 0.5 + 0.5) * from.len() as f32;
    from[(at as usize).min(from.len() - 1)]
}
