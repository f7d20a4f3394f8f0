// The light of one sample, and approximately how it looks. Part of the passes that shade and of
// those that list.

// Light is linear; ratios range from 0 to 1.
struct Sample {
    // Light of what is not painted, and coverage.
    rest: vec4f,
    // Diffuse light of paint, and the ratio of paint that shows.
    diffuse: vec4f,
    // Mirrored light of paint.
    gloss: vec3f,
    // Ambient openness of the front surface.
    openness: f32,
    // Normal of the front surface in studio space; it faces the camera.
    normal: vec3f,
    // Number of the front surface's material.
    material: u32,
}

// Linear light that shows through glass where nothing is behind it: the far wall, dimmed by the
// second pane, a little lighter than the cabin. It has no coverage.
const BACKDROP = vec3f(0.033, 0.036, 0.036);

// Returns a sample that shows no surface.
fn nothing() -> Sample {
    var sample: Sample;
    sample.rest = vec4f(BACKDROP, 0.0);
    return sample;
}

// Returns about how a sample looks under a middling paint: the square root of its light, 0 to about
// 1.7, in three half floats. The fourth half float tells the kinds of surface apart.
fn look(sample: Sample) -> vec2u {
    let light = sqrt(max(sample.rest.rgb + 0.5 * sample.diffuse.rgb + sample.gloss, vec3f(0.0)));
    let kind = 0.5 * sample.diffuse.a + select(0.0, 1.0, sample.rest.a > 0.0);
    return vec2u(pack2x16float(light.xy), pack2x16float(vec2f(light.z, kind)));
}
