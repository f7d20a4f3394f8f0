// Adds one jittered pass to the running mean of the layers. One thread per output pixel; a pixel is SUB x SUB samples.

const SUB = 2u;

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var rest_target: texture_2d<f32>;
@group(0) @binding(2) var diffuse_target: texture_2d<f32>;
@group(0) @binding(3) var gloss_target: texture_2d<f32>;
@group(0) @binding(4) var ground: texture_2d<f32>;
@group(0) @binding(5) var ground_sampler: sampler;
@group(0) @binding(6) var<storage, read_write> pixels: array<Pixel>;

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

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let side = textureDimensions(rest_target).x / SUB;
    if id.x >= side || id.y >= side { return; }
    var sum: Pixel;
    for (var k = 0u; k < SUB * SUB; k++) {
        let at = vec2i(id.xy * SUB + vec2u(k % SUB, k / SUB));
        let diffuse = textureLoad(diffuse_target, at, 0);
        let rest = textureLoad(rest_target, at, 0);
        // The clear colour of `rest` is the backdrop that glass lets through; it has coverage 0 and does not count by itself.
        if rest.a > 0.0 {
            sum.rest += rest.rgb;
            sum.coverage += 1.0;
            sum.diffuse += diffuse.rgb;
            sum.paint += diffuse.a;
            sum.gloss += textureLoad(gloss_target, at, 0).rgb;
        }
    }
    let weight = frame.pass_weight / f32(SUB * SUB);
    let index = id.y * side + id.x;
    if frame.first_pass != 0u {
        let ndc = (vec2f(id.xy) + 0.5) / f32(side) * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0);
        pixels[index].rest = sum.rest * weight;
        pixels[index].coverage = sum.coverage * weight;
        pixels[index].diffuse = sum.diffuse * weight;
        pixels[index].paint = sum.paint * weight;
        pixels[index].gloss = sum.gloss * weight;
        pixels[index].shadow = floor_shadow(ndc);
    } else {
        pixels[index].rest += sum.rest * weight;
        pixels[index].coverage += sum.coverage * weight;
        pixels[index].diffuse += sum.diffuse * weight;
        pixels[index].paint += sum.paint * weight;
        pixels[index].gloss += sum.gloss * weight;
    }
}
