//! The space in which the model sees light: a square root with a soft toe, so that an error in a
//! dark wheel arch counts about as much as one in a bright roof, and zero stays zero.

/// Linear light above this is cut off, because glints brighter than four times white all look
/// white.
pub const LIGHT_MAX: f32 = 4.0;

/// Keeps the slope at zero finite: a plain square root would turn noise in the shadows into large
/// values.
pub(crate) const TOE: f32 = 0.0025;
pub(crate) const TOE_ROOT: f32 = 0.05;

/// Converts linear light (1.0 = diffuse white) to encoded light, 0 to about 1.95.
pub fn encode(light: f32) -> f32 {
    (light.clamp(0.0, LIGHT_MAX) + TOE).sqrt() - TOE_ROOT
}

/// Converts encoded light to linear light: the inverse of [`encode`]. Encoded values outside its
/// range give the nearest light inside it.
pub fn decode(encoded: f32) -> f32 {
    // (y + a)^2 - a^2, multiplied out so that zero stays exactly zero.
    let encoded = encoded.max(0.0);
    (encoded * (encoded + 2.0 * TOE_ROOT)).min(LIGHT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_values() {
        for (light, encoded) in [
            (0.0, 0.0),
            (0.0075, 0.05),
            (0.16, 0.353_112_9),
            (1.0, 0.951_249_2),
            (4.0, 1.950_625),
            (9.0, 1.950_625),
            (-1.0, 0.0),
        ] {
            assert!((encode(light) - encoded).abs() < 1e-6, "encode({light}) = {}", encode(light));
        }
    }

    #[test]
    fn decode_is_the_inverse() {
        for step in 0..=400 {
            let light = step as f32 / 100.0;
            assert!((decode(encode(light)) - light).abs() < 2e-6, "{light}");
        }
        assert_eq!((decode(-3.0), decode(50.0)), (0.0, LIGHT_MAX));
    }
}
