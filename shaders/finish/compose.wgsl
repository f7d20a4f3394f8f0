// Paint over light layers, tone, and the one conversion from linear light to sRGB. CPU twin:
// `finish::compose`. One thread per pixel; writes straight-alpha RGBA8 packed into a word, red
// lowest.

struct PaintOptics {
    albedo: vec3f,
    gloss: f32,
    flake_tint: vec3f,
    flake: f32,
    // 1 with the shadow on the ground, 0 without.
    shadow: f32,
    unused_0: f32,
    unused_1: f32,
    unused_2: f32,
}

@group(0) @binding(0) var<uniform> paint: PaintOptics;
@group(0) @binding(1) var<storage, read> pixels: array<Pixel>;
@group(0) @binding(2) var<storage, read_write> picture: array<u32>;

// Brings a lit flank to about its swatch: in the rig a diffuse card facing the camera gets two
// thirds of the light of one facing the lamps.
const EXPOSURE = 1.4;
// Linear light below the knee is kept; above the knee it rolls off towards 1 and never clips.
const KNEE = 0.55;
// Diffuse light at which a metallic paint looks like its swatch.
const FLAKE_PIVOT = 0.7;

// Applies the tone curve to linear light: returns 0 to 1.
fn toned(x: f32) -> f32 {
    let over = max(x - KNEE, 0.0) / (1.0 - KNEE);
    return min(x, KNEE) + (1.0 - KNEE) * (1.0 - exp(-over));
}

fn srgb_from_linear(x: f32) -> f32 {
    // The curve's two branches; max() keeps pow() defined where the other branch is taken.
    return select(1.055 * pow(max(x, 0.0031308), 1.0 / 2.4) - 0.055, 12.92 * x, x <= 0.0031308);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let index = id.x + id.y * groups.x * 64u;
    if index >= arrayLength(&picture) { return; }
    let pixel = pixels[index];
    let coverage = clamp(pixel.coverage, 0.0, 1.0);
    let shadow = clamp(pixel.shadow * paint.shadow, 0.0, 1.0);
    // Half of an image and more is ground.
    if coverage == 0.0 {
        picture[index] = pack4x8unorm(vec4f(0.0, 0.0, 0.0, shadow));
        return;
    }

    // Flakes lie nearly flat, so a metallic base is brighter where it faces the light and darker
    // where it turns away.
    let ratio = max(pixel.paint, 1e-4);
    let brightness = dot(pixel.diffuse, vec3f(0.2126, 0.7152, 0.0722)) / ratio;
    let turned = clamp(brightness / FLAKE_PIVOT, 0.2, 1.7);
    let shaped = mix(1.0, turned, paint.flake * 0.9);
    let flakes = paint.flake_tint * (paint.flake * 0.8);
    let light = pixel.diffuse * paint.albedo * shaped + pixel.gloss * (vec3f(paint.gloss) + flakes) + pixel.rest;

    let own = light * (EXPOSURE / max(coverage, 1e-4));
    let shown = vec3f(srgb_from_linear(toned(own.x)), srgb_from_linear(toned(own.y)), srgb_from_linear(toned(own.z)));
    // The shadow is black. Clients blend in sRGB, so the mix of vehicle and shadow is made in sRGB,
    // too.
    let alpha = coverage + (1.0 - coverage) * shadow;
    let straight = shown * (coverage / max(alpha, 1e-4));
    picture[index] = pack4x8unorm(vec4f(straight, alpha));
}
