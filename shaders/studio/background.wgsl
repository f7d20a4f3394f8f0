// The image where there is no vehicle: the shadow on the floor. Also clears the layers for the
// passes that shade. One thread per pixel of the conditioning, whose shadow is the mean over the
// layer pixels in it.

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<uniform> condition: Condition;
@group(0) @binding(2) var ground: texture_2d<f32>;
@group(0) @binding(3) var ground_sampler: sampler;
@group(0) @binding(4) var<storage, read_write> pixels: array<Pixel>;
@group(0) @binding(5) var<storage, read_write> planes: array<f32>;

// Margin by which the distance field's box is larger than the vehicle on every side, in studio
// metres.
const FOOTPRINT_MARGIN = 0.15;
// Reach of the ground shadow beyond the vehicle's ends and sides, in studio metres.
const FADE = vec2f(0.45, 0.5);
// Where the shadow begins to fade, across and along, as ratios of the way from the middle to the
// border of the image.
const BORDER = vec2f(0.76, 0.86);
// The shadow where the floor has lost all its light, 0 to 1.
const DARKEST = 0.9;

// Returns the shadow where the ray through a point of the image (normalised device units) meets the
// floor, 0 to 1. It must be gone at the border of the image, or a client would see the image's edge
// as a line.
fn floor_shadow(ndc: vec2f) -> f32 {
    let right = cross(frame.forward, frame.up);
    let tangent = ndc / frame.zoom + frame.shift;
    let ray = frame.forward + right * tangent.x + frame.up * tangent.y;
    if ray.z > -1e-3 { return 0.0; }
    let at = frame.eye + ray * (-frame.eye.z / ray.z);
    let uv = at.xy / frame.ground_half * 0.5 + 0.5;
    if any(uv < vec2f(0.0)) || any(uv > vec2f(1.0)) { return 0.0; }
    let hidden = textureSampleLevel(ground, ground_sampler, uv, 0.0).xy;
    // A faint veil far from the vehicle looks like a dirty background, not like a shadow; and in
    // front of and behind the vehicle there is little room. So the shadow fades with the distance
    // from the footprint, sooner at the ends.
    let box_uv = (frame.field_from_studio * vec4f(at, 1.0)).xy;
    let size = (frame.field_box_max - frame.field_box_min).xy * frame.field_scale;
    let outside = max(abs(box_uv - 0.5) * size - (size * 0.5 - FOOTPRINT_MARGIN), vec2f(0.0));
    let far = length(outside / FADE);
    let fade = exp(-2.0 * far * far);
    let inside = 1.0 - smoothstep(BORDER, vec2f(1.0), abs(ndc));
    let edge = inside.x * inside.y;
    return saturate(max(hidden.x * hidden.x * DARKEST, hidden.y * hidden.y * DARKEST)) * fade * edge;
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let side = condition.side;
    if id.x >= side || id.y >= side { return; }
    let m = condition.pixels;
    var sum = 0.0;
    for (var k = 0u; k < m * m; k++) {
        let pixel = id.xy * m + vec2u(k % m, k / m);
        let ndc = (vec2f(pixel) + 0.5) / f32(SIDE) * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0);
        let shadow = floor_shadow(ndc);
        pixels[pixel.y * SIDE + pixel.x] = Pixel(vec3f(0.0), 0.0, vec3f(0.0), 0.0, vec3f(0.0), shadow);
        sum += shadow;
    }
    planes[SHADOW * side * side + id.y * side + id.x] = sum / f32(m * m);
}
