// Hides the pixels that need no more samples from a jittered pass: gives them the nearest depth of all, so that nothing behind it is
// shaded. Which ones these are, `accumulate.wgsl` has written.

const SUB = 2u;
const SIDE = 1024u;

@group(0) @binding(0) var<storage, read> uneven: array<u32>;

// One triangle over the whole target, at depth 0.
@vertex
fn vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    return vec4f(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn fragment(@builtin(position) at: vec4f) {
    let pixel = vec2u(at.xy) / SUB;
    if uneven[pixel.y * SIDE + pixel.x] != 0u { discard; }
}
