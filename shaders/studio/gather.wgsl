// Shades what the samples of a jittered pass see, and adds it to the mean of the layers. One thread
// per listed pixel of the layers, which is SUB x SUB samples.
//
// The first pass covers everything that the vehicle covers, but shades a pixel only once if all its
// samples have one material and the surface is flat there. If the edge of a mirror image lies in
// such a pixel, the pixel is uneven, and the other passes shade every sample of it. The first pass
// keeps the geometry that it sees for the conditioning, and the approximate appearance of its
// samples for `uneven.wgsl`, which decides where the other passes are needed at all.

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<uniform> rig: Rig;
@group(0) @binding(2) var<uniform> optics: array<Optics, 33>;
@group(0) @binding(3) var solid_target: texture_2d<u32>;
@group(0) @binding(4) var transparent_target: texture_2d<u32>;
@group(0) @binding(5) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(6) var<storage, read> lit: array<VertexLight>;
@group(0) @binding(7) var<storage, read> indices: array<u32>;
@group(0) @binding(8) var<storage, read_write> pixels: array<Pixel>;
@group(0) @binding(9) var<storage, read> lists: Lists;
@group(0) @binding(10) var<storage, read_write> looks: array<vec2u>;
@group(0) @binding(11) var<storage, read_write> geometry: array<Geometry>;

// Number of the list, and the properties that follow from it. They are known when a pipeline is
// made; see `LIGHT_COUNT`.
override LIST: u32;
override FIRST: bool = LIST != UNEVEN;
override ONCE_FOR_ALL: bool = LIST == EVEN || LIST == GLAZED_EVEN;
override SEES_GLASS: bool = LIST != EVEN && LIST != MIXED;

// Same layout as in lists.wgsl, without its atomics, which a read-only binding may not hold.
struct Lists {
    heads: array<Head, LISTS>,
    indices: array<u32>,
}

struct Head {
    groups: vec3u,
    count: u32,
}

// How far beyond its corners a triangle's surface is taken to continue, in barycentric coordinates.
const BEYOND = 1.0;

// Returns where the ray from `eye` along `ray`, both in vehicle axes, meets the triangle of a
// texel. `first` is the number of the first triangle of its kind (solid or transparent).
fn hit(texel: u32, first: u32, eye: vec3f, ray: vec3f) -> Hit {
    let triangle = first + extractBits(texel, 0u, TRIANGLE_BITS) - 1u;
    let ia = indices[3u * triangle];
    let ib = indices[3u * triangle + 1u];
    let ic = indices[3u * triangle + 2u];
    let a = vertices[ia].position;
    let b = vertices[ib].position;
    let c = vertices[ic].position;
    // Barycentric coordinates after T. Moeller, B. Trumbore: Fast, Minimum Storage Ray/Triangle
    // Intersection, 1997.
    let ab = b - a;
    let ac = c - a;
    let from_a = eye - a;
    let p = cross(ray, ac);
    let q = cross(from_a, ab);
    let determinant = dot(ab, p);
    // For a triangle that is seen edge-on, corner a is as good as any other point.
    let ratio = select(1.0 / determinant, 0.0, abs(determinant) < 1e-20);
    // The middle of a pixel may lie beside a triangle that its samples see, and the surface
    // continues there; but not without limit beside a sliver.
    let of_b = clamp(dot(from_a, p) * ratio, -BEYOND, 1.0 + BEYOND);
    let of_c = clamp(dot(ray, q) * ratio, -BEYOND, 1.0 + BEYOND);
    let of_a = 1.0 - of_b - of_c;
    var out: Hit;
    out.position = (frame.studio_from_vehicle * vec4f(a * of_a + b * of_b + c * of_c, 1.0)).xyz;
    let normal = vertices[ia].normal * of_a + vertices[ib].normal * of_b + vertices[ic].normal * of_c;
    out.normal = (frame.studio_from_vehicle * vec4f(normal, 0.0)).xyz;
    out.diffuse = lit[ia].diffuse * of_a + lit[ib].diffuse * of_b + lit[ic].diffuse * of_c;
    out.ratios = (unpack4x8unorm(lit[ia].ratios) * of_a + unpack4x8unorm(lit[ib].ratios) * of_b
        + unpack4x8unorm(lit[ic].ratios) * of_c).xyz;
    out.material = extractBits(texel, TRIANGLE_BITS, MATERIAL_BITS) - 1u;
    return out;
}

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= lists.heads[LIST].count { return; }
    let index = lists.indices[LIST * PIXELS + id.x];
    let at_pixel = vec2u(index % SIDE, index / SIDE);
    let right = cross(frame.forward, frame.up);
    let eye = (frame.vehicle_from_studio * vec4f(frame.eye, 1.0)).xyz;
    var sum: Pixel;
    var shape: Geometry;
    let shaded = select(SAMPLES, 1u, ONCE_FOR_ALL);
    for (var k = 0u; k < shaded; k++) {
        let at = at_pixel * SUB + vec2u(k % SUB, k / SUB);
        var texel = vec2u(textureLoad(solid_target, at, 0).x, 0u);
        if SEES_GLASS { texel.y = textureLoad(transparent_target, at, 0).x; }
        var sample = nothing();
        if (texel.x | texel.y) != 0u {
            // Position in samples from the image's left and top: the sample's own middle, or the
            // middle of all four.
            let place = vec2f(at_pixel * SUB) + select(vec2f(vec2u(k % SUB, k / SUB)) + 0.5, vec2f(0.5 * f32(SUB)), ONCE_FOR_ALL);
            let ndc = place / f32(SIDE * SUB) * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0) - frame.jitter;
            let tangent = ndc / frame.zoom + frame.shift;
            let ray = (frame.vehicle_from_studio * vec4f(frame.forward + right * tangent.x + frame.up * tangent.y, 0.0)).xyz;
            var front: Hit;
            if texel.x != 0u {
                front = hit(texel.x, 0u, eye, ray);
                sample = solid_surface(front);
            }
            if SEES_GLASS {
                if texel.y != 0u {
                    front = hit(texel.y, frame.solid_triangles, eye, ray);
                    sample = through(front, sample);
                }
            }
            sum.rest += sample.rest.rgb;
            sum.coverage += 1.0;
            sum.diffuse += sample.diffuse.rgb;
            sum.paint += sample.diffuse.a;
            sum.gloss += sample.gloss;
            if FIRST {
                let n = vec2f(dot(sample.normal, right), dot(sample.normal, frame.up));
                shape.normal += vec3f(n, sqrt(max(1.0 - dot(n, n), 0.0)));
                shape.depth += dot(front.position - frame.eye, frame.forward) - frame.target_distance;
                shape.height += front.position.z;
                shape.openness += sample.openness;
                shape.albedo += optics[sample.material].albedo;
                shape.groups += 1u << (GROUP_BITS * optics[sample.material].group);
            }
        }
        if FIRST { looks[SAMPLES * index + k] = look(sample); }
    }
    let ratio = 1.0 / f32(shaded);
    if FIRST {
        shape.normal *= ratio;
        shape.depth *= ratio;
        shape.height *= ratio;
        shape.openness *= ratio;
        shape.albedo *= ratio;
        if ONCE_FOR_ALL {
            for (var k = 1u; k < SAMPLES; k++) { looks[SAMPLES * index + k] = looks[SAMPLES * index]; }
            shape.groups = shape.groups * SAMPLES | ONCE;
        }
        geometry[index] = shape;
    }
    // Update the mean of all samples so far.
    var samples = f32(shaded);
    if !FIRST {
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
