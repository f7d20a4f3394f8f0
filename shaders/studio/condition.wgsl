// The diffusion model's input: geometry and base shading at the model's own size, one plane per
// channel. The channel list is `Channel` of render-node/src/studio/conditioning.rs; this file and
// planes.wgsl follow its order. One thread per output pixel that the vehicle can cover: the mean
// over the samples of the first jittered pass, premultiplied by coverage. All other pixels are
// zero, as new buffers are, except for the shadow, which `background.wgsl` writes.

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<uniform> condition: Condition;
@group(0) @binding(2) var<storage, read> geometry: array<Geometry>;
@group(0) @binding(3) var<storage, read> pixels: array<Pixel>;
@group(0) @binding(4) var<storage, read_write> planes: array<f32>;

// Constants of the light encoding; see render-node/src/diffusion/light_space.rs.
const LIGHT_MAX = 4.0;
const TOE = 0.0025;
const TOE_ROOT = 0.05;

// Encodes linear light by a square root: equal steps look about equally large, and zero stays zero.
fn encoded(x: f32) -> f32 {
    return sqrt(clamp(x, 0.0, LIGHT_MAX) + TOE) - TOE_ROOT;
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let side = condition.side;
    let m = condition.pixels;
    let to = id.xy + frame.covered_low / m;
    let first = to * m;
    if any(first >= frame.covered_high) { return; }
    let plane = side * side;
    let at = to.y * side + to.x;
    let ratio = 1.0 / f32(m * m);

    var diffuse = vec3f(0.0);
    var gloss = vec3f(0.0);
    var rest = vec3f(0.0);
    var normal = vec3f(0.0);
    var depth = 0.0;
    var height = 0.0;
    var coverage = 0.0;
    var openness = 0.0;
    var albedo = vec3f(0.0);
    var groups = array<f32, GROUPS>();
    for (var k = 0u; k < m * m; k++) {
        let pixel = first + vec2u(k % m, k / m);
        // Outside the covered area `geometry` belongs to other images.
        if any(pixel < frame.covered_low) || any(pixel >= frame.covered_high) { continue; }
        let index = pixel.y * SIDE + pixel.x;
        let shape = geometry[index];
        normal += shape.normal;
        depth += shape.depth;
        height += shape.height;
        openness += shape.openness;
        albedo += shape.albedo;
        coverage += pixels[index].coverage;
        diffuse += pixels[index].diffuse;
        gloss += pixels[index].gloss;
        rest += pixels[index].rest;
        for (var g = 0u; g < GROUPS; g++) {
            groups[g] += f32(extractBits(shape.groups, GROUP_BITS * g, GROUP_BITS)) / f32(SAMPLES);
        }
    }
    planes[at] = normal.x * ratio;
    planes[plane + at] = normal.y * ratio;
    planes[2u * plane + at] = normal.z * ratio;
    planes[3u * plane + at] = depth * ratio * 0.4;
    planes[4u * plane + at] = height * ratio * 0.5;
    planes[5u * plane + at] = coverage * ratio;
    for (var g = 0u; g < GROUPS; g++) {
        planes[(GROUP_FIRST + g) * plane + at] = groups[g] * ratio;
    }
    let next = GROUP_FIRST + GROUPS;
    planes[next * plane + at] = albedo.x * ratio;
    planes[(next + 1u) * plane + at] = albedo.y * ratio;
    planes[(next + 2u) * plane + at] = albedo.z * ratio;

    for (var c = 0u; c < 3u; c++) {
        planes[(next + 3u + c) * plane + at] = encoded(diffuse[c] * ratio);
        planes[(next + 6u + c) * plane + at] = encoded(gloss[c] * ratio);
        planes[(next + 9u + c) * plane + at] = encoded(rest[c] * ratio);
    }
    planes[(next + 12u) * plane + at] = openness * ratio;
}
