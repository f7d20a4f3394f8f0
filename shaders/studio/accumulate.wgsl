// Brings one jittered pass into the mean of the layers. One thread per output pixel; a pixel is SUB x SUB samples.
//
// The first pass is whole, and says which pixels are uneven: those that an edge crosses or in which a mirror image ends. Only they are
// drawn again in the passes after it (`even.wgsl` hides the others from them); an even pixel looks the same however it is sampled.

const SUB = 2u;

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var rest_target: texture_2d<f32>;
@group(0) @binding(2) var diffuse_target: texture_2d<f32>;
@group(0) @binding(3) var gloss_target: texture_2d<f32>;
@group(0) @binding(4) var ground: texture_2d<f32>;
@group(0) @binding(5) var ground_sampler: sampler;
@group(0) @binding(6) var<storage, read_write> pixels: array<Pixel>;
// 1 for every pixel that takes more samples; all 0 at the start.
@group(0) @binding(7) var<storage, read_write> uneven: array<atomic<u32>>;

// Samples of a pixel and around it that differ by more than this are uneven: a step of about four of 255 on the finished picture.
const STEP = 0.016;

// The distance field's box is this much larger than the vehicle on every side, studio metres.
const FOOTPRINT_MARGIN = 0.15;
// Reach of the ground shadow beyond the vehicle's ends and sides, studio metres.
const FADE = vec2f(0.45, 0.5);
// Where, from the middle to the border of the picture, the shadow begins to go, across and along.
const BORDER = vec2f(0.76, 0.86);

// Shadow where the ray through this pixel meets the floor. It must be gone at the border of the picture, or a client
// would see the picture's edge as a line.
fn floor_shadow(ndc: vec2f) -> f32 {
    let right = cross(frame.forward, frame.up);
    let tangent = ndc / frame.zoom + frame.shift;
    let ray = frame.forward + right * tangent.x + frame.up * tangent.y;
    if ray.z > -1e-3 { return 0.0; }
    let at = frame.eye + ray * (-frame.eye.z / ray.z);
    let uv = at.xy / frame.ground_half * 0.5 + 0.5;
    if any(uv < vec2f(0.0)) || any(uv > vec2f(1.0)) { return 0.0; }
    let hidden = textureSampleLevel(ground, ground_sampler, uv, 0.0).xy;
    // A faint veil far from the vehicle is not a shadow to an eye, only a dirty background; and before and behind the
    // vehicle there is little room. So it fades with the distance from the footprint, sooner at the ends.
    let box_uv = (frame.field_from_studio * vec4f(at, 1.0)).xy;
    let size = (frame.field_box_max - frame.field_box_min).xy * frame.field_scale;
    let outside = max(abs(box_uv - 0.5) * size - (size * 0.5 - FOOTPRINT_MARGIN), vec2f(0.0));
    let far = length(outside / FADE);
    let fade = exp(-2.0 * far * far);
    let edge = smoothstep(1.0, BORDER.x, abs(ndc.x)) * smoothstep(1.0, BORDER.y, abs(ndc.y));
    return saturate(max(hidden.x * hidden.x * 0.9, hidden.y * hidden.y * 0.9)) * fade * edge;
}

// Least and most of some samples, as an eye sees them.
struct Spread {
    least: vec4f,
    most: vec4f,
}

// About what an eye makes of a sample under a middling paint, 0 to some 1.7; the last says of what it is.
fn seen(rest: vec4f, diffuse: vec4f, gloss: vec3f) -> vec4f {
    let light = sqrt(max(rest.rgb + 0.5 * diffuse.rgb + gloss, vec3f(0.0)));
    return vec4f(light, 0.5 * diffuse.a + select(0.0, 1.0, rest.a > 0.0));
}

fn widened(spread: Spread, at: vec2i) -> Spread {
    let rest = textureLoad(rest_target, at, 0);
    let diffuse = textureLoad(diffuse_target, at, 0);
    let sample = seen(rest, diffuse, textureLoad(gloss_target, at, 0).rgb);
    return Spread(min(spread.least, sample), max(spread.most, sample));
}

fn is_uneven(spread: Spread) -> bool {
    return any(spread.most - spread.least > vec4f(STEP));
}

// Marks this pixel if its samples differ; and both this pixel and the one to the right, or below, if they differ across the border.
// Marks are only ever set, so it does not matter that neighbours set the same ones.
fn mark(pixel: vec2u, side: u32, own: Spread) {
    let index = pixel.y * side + pixel.x;
    if is_uneven(own) { atomicStore(&uneven[index], 1u); }
    let at = vec2i(pixel * SUB);
    let next = i32(SUB);
    if pixel.x + 1u < side && is_uneven(widened(widened(own, at + vec2i(next, 0)), at + vec2i(next, next - 1))) {
        atomicStore(&uneven[index], 1u);
        atomicStore(&uneven[index + 1u], 1u);
    }
    if pixel.y + 1u < side && is_uneven(widened(widened(own, at + vec2i(0, next)), at + vec2i(next - 1, next))) {
        atomicStore(&uneven[index], 1u);
        atomicStore(&uneven[index + side], 1u);
    }
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let side = textureDimensions(rest_target).x / SUB;
    // The first pass is over the whole picture, the others over what is covered.
    let first = frame.first_pass != 0u;
    let at_pixel = id.xy + select(frame.covered_low, vec2u(0u), first);
    let covered = all(at_pixel >= frame.covered_low) && all(at_pixel < frame.covered_high);
    if any(at_pixel >= vec2u(side)) || !(first || covered) { return; }
    let index = at_pixel.y * side + at_pixel.x;
    if !first && atomicLoad(&uneven[index]) == 0u { return; }
    if first {
        let ndc = (vec2f(at_pixel) + 0.5) / f32(side) * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0);
        let shadow = floor_shadow(ndc);
        pixels[index] = Pixel(vec3f(0.0), 0.0, vec3f(0.0), 0.0, vec3f(0.0), shadow);
        if !covered { return; }
    }
    var sum: Pixel;
    var own = Spread(vec4f(1e9), vec4f(-1e9));
    for (var k = 0u; k < SUB * SUB; k++) {
        let at = vec2i(at_pixel * SUB + vec2u(k % SUB, k / SUB));
        let diffuse = textureLoad(diffuse_target, at, 0);
        let rest = textureLoad(rest_target, at, 0);
        let gloss = textureLoad(gloss_target, at, 0).rgb;
        let sample = seen(rest, diffuse, gloss);
        own = Spread(min(own.least, sample), max(own.most, sample));
        // The clear colour of `rest` is the backdrop that glass lets through; it has coverage 0 and does not count by itself.
        if rest.a > 0.0 {
            sum.rest += rest.rgb;
            sum.coverage += 1.0;
            sum.diffuse += diffuse.rgb;
            sum.paint += diffuse.a;
            sum.gloss += gloss;
        }
    }
    let share = 1.0 / f32(SUB * SUB);
    if first { mark(at_pixel, side, own); }
    // The mean so far; in the first pass its weight is 0.
    let before = 1.0 - frame.pass_weight;
    let weight = share * frame.pass_weight;
    pixels[index].rest = pixels[index].rest * before + sum.rest * weight;
    pixels[index].coverage = pixels[index].coverage * before + sum.coverage * weight;
    pixels[index].diffuse = pixels[index].diffuse * before + sum.diffuse * weight;
    pixels[index].paint = pixels[index].paint * before + sum.paint * weight;
    pixels[index].gloss = pixels[index].gloss * before + sum.gloss * weight;
}
