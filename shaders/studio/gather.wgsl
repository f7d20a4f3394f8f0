// Shades what the samples of a jittered pass see, and brings it into the mean of the layers. One thread per pixel of the layers, which is
// SUB x SUB samples.
//
// The first pass is whole, but shades a pixel once if all its samples are of one material and the surface is flat there: should a mirror image
// have its edge in it, the pixel is uneven, and the other passes shade every sample of it. What the first pass sees of geometry is kept for
// the conditioning, and how its samples look for `uneven.wgsl`, which says where the other passes are wanted at all.

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<uniform> rig: Rig;
@group(0) @binding(2) var<uniform> optics: array<Optics, 23>;
@group(0) @binding(3) var solid_target: texture_2d<u32>;
@group(0) @binding(4) var transparent_target: texture_2d<u32>;
@group(0) @binding(5) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(6) var<storage, read> lit: array<Lit>;
@group(0) @binding(7) var<storage, read> indices: array<u32>;
@group(0) @binding(8) var ground: texture_2d<f32>;
@group(0) @binding(9) var ground_sampler: sampler;
@group(0) @binding(10) var<storage, read_write> pixels: array<Pixel>;
// What the passes after the first shade.
@group(0) @binding(11) var<storage, read> uneven: Pixels;
@group(0) @binding(12) var<storage, read_write> looks: array<vec2u>;
@group(0) @binding(13) var<storage, read_write> geometry: array<Geometry>;

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

// Whether this is the picture's first pass. See `LIGHT_COUNT`.
override FIRST: bool;

// What shows through glass where nothing is behind it: the far wall, dimmed by the second pane. No coverage.
const BACKDROP = vec3f(0.09, 0.091, 0.093);

// How far beyond its corners a triangle's surface is taken to go on, in triangles.
const BEYOND = 1.0;

// Where the ray from `eye` along `ray`, both in vehicle axes, meets the triangle of a texel; `first` is the first of its kind.
fn hit(texel: u32, first: u32, eye: vec3f, ray: vec3f) -> Hit {
    let triangle = first + extractBits(texel, 0u, TRIANGLE_BITS) - 1u;
    let ia = indices[3u * triangle];
    let ib = indices[3u * triangle + 1u];
    let ic = indices[3u * triangle + 2u];
    let a = vertices[ia].position;
    let b = vertices[ib].position;
    let c = vertices[ic].position;
    // Barycentric coordinates after T. Moeller, B. Trumbore: Fast, Minimum Storage Ray/Triangle Intersection, 1997.
    let ab = b - a;
    let ac = c - a;
    let from_a = eye - a;
    let p = cross(ray, ac);
    let q = cross(from_a, ab);
    let determinant = dot(ab, p);
    // Of a triangle that is seen along its edge the middle is as good as any point.
    let share = select(1.0 / determinant, 0.0, abs(determinant) < 1e-20);
    // The middle of a pixel may lie beside a triangle that its samples see, and the surface goes on there; but not for ever beside a sliver.
    let of_b = clamp(dot(from_a, p) * share, -BEYOND, 1.0 + BEYOND);
    let of_c = clamp(dot(ray, q) * share, -BEYOND, 1.0 + BEYOND);
    let of_a = 1.0 - of_b - of_c;
    var out: Hit;
    out.position = (frame.studio_from_vehicle * vec4f(a * of_a + b * of_b + c * of_c, 1.0)).xyz;
    let normal = vertices[ia].normal * of_a + vertices[ib].normal * of_b + vertices[ic].normal * of_c;
    out.normal = (frame.studio_from_vehicle * vec4f(normal, 0.0)).xyz;
    out.diffuse = lit[ia].diffuse * of_a + lit[ib].diffuse * of_b + lit[ic].diffuse * of_c;
    out.shares = (unpack4x8unorm(lit[ia].shares) * of_a + unpack4x8unorm(lit[ib].shares) * of_b
        + unpack4x8unorm(lit[ic].shares) * of_c).xyz;
    out.material = extractBits(texel, TRIANGLE_BITS, MATERIAL_BITS) - 1u;
    return out;
}

// About what an eye makes of a sample under a middling paint, 0 to some 1.7; the last says of what it is.
fn look(sample: Sample) -> vec2u {
    let light = sqrt(max(sample.rest.rgb + 0.5 * sample.diffuse.rgb + sample.gloss, vec3f(0.0)));
    let kind = 0.5 * sample.diffuse.a + select(0.0, 1.0, sample.rest.a > 0.0);
    return vec2u(pack2x16float(light.xy), pack2x16float(vec2f(light.z, kind)));
}

@compute @workgroup_size(8, 8)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_index) number: u32,
) {
    let samples_side = textureDimensions(solid_target).x;
    let side = samples_side / SUB;
    // The first pass is over the whole picture.
    let first = FIRST;
    var at_pixel = group.xy * 8u + vec2u(number % 8u, number / 8u);
    if !first {
        let place = group.x * 64u + number;
        if place >= uneven.count { return; }
        at_pixel = vec2u(uneven.indices[place] % side, uneven.indices[place] / side);
    }
    if any(at_pixel >= vec2u(side)) { return; }
    let index = at_pixel.y * side + at_pixel.x;
    if first {
        let ndc = (vec2f(at_pixel) + 0.5) / f32(side) * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0);
        let shadow = floor_shadow(ndc);
        pixels[index] = Pixel(vec3f(0.0), 0.0, vec3f(0.0), 0.0, vec3f(0.0), shadow);
        if any(at_pixel < frame.covered_low) || any(at_pixel >= frame.covered_high) { return; }
    }
    let right = cross(frame.forward, frame.up);
    let eye = (frame.vehicle_from_studio * vec4f(frame.eye, 1.0)).xyz;
    var sum: Pixel;
    var shape: Geometry;
    var seen: array<vec2u, SAMPLES>;
    var differ = vec2u(0u);
    var bent = vec2u(0u);
    for (var k = 0u; k < SAMPLES; k++) {
        let at = at_pixel * SUB + vec2u(k % SUB, k / SUB);
        seen[k] = vec2u(textureLoad(solid_target, at, 0).x, textureLoad(transparent_target, at, 0).x);
        differ |= seen[k] ^ seen[0];
        bent |= seen[k];
    }
    let once = first && all((differ >> vec2u(TRIANGLE_BITS)) == vec2u(0u)) && all((bent & vec2u(BENT)) == vec2u(0u));
    let shaded = select(SAMPLES, 1u, once);
    for (var k = 0u; k < shaded; k++) {
        let texel = seen[k];
        var sample: Sample;
        sample.rest = vec4f(BACKDROP, 0.0);
        if (texel.x | texel.y) != 0u {
            // In samples from the picture's left and top: one's own middle, or that of all four.
            let place = vec2f(at_pixel * SUB) + select(vec2f(vec2u(k % SUB, k / SUB)) + 0.5, vec2f(0.5 * f32(SUB)), once);
            let ndc = place / f32(samples_side) * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0) - frame.jitter;
            let tangent = ndc / frame.zoom + frame.shift;
            let ray = (frame.vehicle_from_studio * vec4f(frame.forward + right * tangent.x + frame.up * tangent.y, 0.0)).xyz;
            var front: Hit;
            if texel.x != 0u {
                front = hit(texel.x, 0u, eye, ray);
                sample = solid_surface(front);
            }
            if texel.y != 0u {
                front = hit(texel.y, frame.solid_triangles, eye, ray);
                sample = through(front, sample);
            }
            sum.rest += sample.rest.rgb;
            sum.coverage += 1.0;
            sum.diffuse += sample.diffuse.rgb;
            sum.paint += sample.diffuse.a;
            sum.gloss += sample.gloss;
            if first {
                let n = vec2f(dot(sample.normal, right), dot(sample.normal, frame.up));
                shape.normal += vec3f(n, sqrt(max(1.0 - dot(n, n), 0.0)));
                shape.depth += dot(front.position - frame.eye, frame.forward) - frame.target_distance;
                shape.height += front.position.z;
                shape.openness += sample.openness;
                shape.albedo += optics[sample.material].albedo;
                shape.groups += 1u << (GROUP_BITS * optics[sample.material].group);
            }
        }
        if first { looks[SAMPLES * index + k] = look(sample); }
    }
    let share = 1.0 / f32(shaded);
    if once {
        for (var k = 1u; k < SAMPLES; k++) { looks[SAMPLES * index + k] = looks[SAMPLES * index]; }
        shape.groups = shape.groups * SAMPLES | ONCE;
    }
    if first {
        shape.normal *= share;
        shape.depth *= share;
        shape.height *= share;
        shape.openness *= share;
        shape.albedo *= share;
        geometry[index] = shape;
    }
    // The mean of all samples so far.
    var samples = f32(shaded);
    if !first {
        let in_first = select(SAMPLES, 1u, (geometry[index].groups & ONCE) != 0u);
        samples += f32(in_first + (frame.earlier_passes - 1u) * SAMPLES);
    }
    let weight = 1.0 / samples;
    let before = 1.0 - f32(shaded) * weight;
    pixels[index].rest = pixels[index].rest * before + sum.rest * weight;
    pixels[index].coverage = pixels[index].coverage * before + sum.coverage * weight;
    pixels[index].diffuse = pixels[index].diffuse * before + sum.diffuse * weight;
    pixels[index].paint = pixels[index].paint * before + sum.paint * weight;
    pixels[index].gloss = pixels[index].gloss * before + sum.gloss * weight;
}
