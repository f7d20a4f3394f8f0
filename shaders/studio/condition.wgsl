// What the diffusion model is given: geometry and base light at the model's own size, one plane per channel.
// The channel list is `Channel` of render-node/src/studio/conditioning.rs; this file follows its order.
// One thread per output pixel: the mean over the samples of the first jittered pass, premultiplied by coverage.

struct Condition {
    side: u32,
    // Samples of the raster targets per output pixel, along one side.
    samples: u32,
    // Layer pixels per output pixel, along one side.
    pixels: u32,
    layer_side: u32,
    // Per material: x = group (channel offset), yzw = albedo.
    materials: array<vec4f, 23>,
}

const GROUP_FIRST = 6u;
const GROUPS = 10u;
const SHADOW = GROUP_FIRST + GROUPS + 13u;

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<uniform> condition: Condition;
@group(0) @binding(2) var rest_target: texture_2d<f32>;
@group(0) @binding(3) var gloss_target: texture_2d<f32>;
@group(0) @binding(4) var geometry_target: texture_2d<f32>;
@group(0) @binding(5) var<storage, read> pixels: array<Pixel>;
@group(0) @binding(6) var<storage, read_write> planes: array<f32>;

// Square-root encoding: equal steps look about equally large, and zero stays zero.
fn encoded(x: f32) -> f32 {
    return sqrt(clamp(x, 0.0, 4.0) + 0.0025) - 0.05;
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let side = condition.side;
    if id.x >= side || id.y >= side { return; }
    let plane = side * side;
    let at = id.y * side + id.x;
    let m = condition.pixels;
    let share = 1.0 / f32(m * m);
    let first = id.xy * m;
    var diffuse = vec3f(0.0);
    var gloss = vec3f(0.0);
    var rest = vec3f(0.0);
    var shadow = 0.0;
    for (var k = 0u; k < m * m; k++) {
        let pixel = pixels[(first.y + k / m) * condition.layer_side + first.x + k % m];
        diffuse += pixel.diffuse;
        gloss += pixel.gloss;
        rest += pixel.rest;
        shadow += pixel.shadow;
    }
    planes[SHADOW * plane + at] = shadow * share;
    // Where no vehicle is, the other planes are zero, as new buffers are.
    if any(first + m <= frame.covered_low) || any(first >= frame.covered_high) { return; }

    var normal = vec3f(0.0);
    var depth = 0.0;
    var height = 0.0;
    var coverage = 0.0;
    var openness = 0.0;
    var albedo = vec3f(0.0);
    var groups = array<f32, GROUPS>();
    let n = condition.samples;
    let right = cross(frame.forward, frame.up);
    let samples_side = f32(side * n);
    for (var k = 0u; k < n * n; k++) {
        let where_ = id.xy * n + vec2u(k % n, k / n);
        if textureLoad(rest_target, vec2i(where_), 0).a <= 0.0 { continue; }
        let g = textureLoad(geometry_target, vec2i(where_), 0);
        coverage += 1.0;
        normal += vec3f(g.xy, sqrt(max(1.0 - dot(g.xy, g.xy), 0.0)));
        depth += g.z;
        let ndc = (vec2f(where_) + 0.5) / samples_side * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0) - frame.jitter;
        let tangent = ndc / frame.zoom + frame.shift;
        let ray = frame.forward + right * tangent.x + frame.up * tangent.y;
        height += frame.eye.z + ray.z * (g.z + frame.target_distance);
        openness += textureLoad(gloss_target, vec2i(where_), 0).a;
        let material = condition.materials[u32(g.w + 0.5)];
        albedo += material.yzw;
        groups[u32(material.x)] += 1.0;
    }
    let weight = 1.0 / f32(n * n);
    planes[at] = normal.x * weight;
    planes[plane + at] = normal.y * weight;
    planes[2u * plane + at] = normal.z * weight;
    planes[3u * plane + at] = depth * weight * 0.4;
    planes[4u * plane + at] = height * weight * 0.5;
    planes[5u * plane + at] = coverage * weight;
    for (var g = 0u; g < GROUPS; g++) {
        planes[(GROUP_FIRST + g) * plane + at] = groups[g] * weight;
    }
    let next = GROUP_FIRST + GROUPS;
    planes[next * plane + at] = albedo.x * weight;
    planes[(next + 1u) * plane + at] = albedo.y * weight;
    planes[(next + 2u) * plane + at] = albedo.z * weight;

    for (var c = 0u; c < 3u; c++) {
        planes[(next + 3u + c) * plane + at] = encoded(diffuse[c] * share);
        planes[(next + 6u + c) * plane + at] = encoded(gloss[c] * share);
        planes[(next + 9u + c) * plane + at] = encoded(rest[c] * share);
    }
    planes[(next + 12u) * plane + at] = openness * weight;
}
