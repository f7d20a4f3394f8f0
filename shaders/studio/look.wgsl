// What a sample shows, and about how that looks. Prepended to the passes that shade and that list.

struct Sample {
    // Light of what is not painted, and coverage.
    rest: vec4f,
    // Matt light of paint, and how much of it shows.
    diffuse: vec4f,
    // Mirrored light of paint.
    gloss: vec3f,
    // Of the front surface: ambient openness; normal, which looks at the camera; material.
    openness: f32,
    normal: vec3f,
    material: u32,
}

// What shows through glass where nothing is behind it: the far wall, dimmed by the second pane, a little lighter than the cabin. No
// coverage.
const BACKDROP = vec3f(0.033, 0.036, 0.036);

fn nothing() -> Sample {
    var sample: Sample;
    sample.rest = vec4f(BACKDROP, 0.0);
    return sample;
}

// About what an eye makes of a sample under a middling paint, 0 to some 1.7; the last says of what it is.
fn look(sample: Sample) -> vec2u {
    let light = sqrt(max(sample.rest.rgb + 0.5 * sample.diffuse.rgb + sample.gloss, vec3f(0.0)));
    let kind = 0.5 * sample.diffuse.a + select(0.0, 1.0, sample.rest.a > 0.0);
    return vec2u(pack2x16float(light.xy), pack2x16float(vec2f(light.z, kind)));
}
