// Lists the pixels that the vehicle covers, by how the first pass shades them. One thread per pixel
// that the vehicle can cover.

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var solid_target: texture_2d<u32>;
@group(0) @binding(2) var transparent_target: texture_2d<u32>;
@group(0) @binding(3) var<storage, read_write> lists: Lists;
@group(0) @binding(4) var<storage, read_write> looks: array<vec2u>;
@group(0) @binding(5) var<storage, read_write> geometry: array<Geometry>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + frame.covered_low;
    if any(pixel >= frame.covered_high) { return; }
    let index = pixel.y * SIDE + pixel.x;
    var first: vec2u;
    var differ = vec2u(0u);
    var all_of = vec2u(0u);
    for (var k = 0u; k < SAMPLES; k++) {
        let at = pixel * SUB + vec2u(k % SUB, k / SUB);
        let seen = vec2u(textureLoad(solid_target, at, 0).x, textureLoad(transparent_target, at, 0).x);
        if k == 0u { first = seen; }
        differ |= seen ^ first;
        all_of |= seen;
    }
    if (all_of.x | all_of.y) == 0u {
        for (var k = 0u; k < SAMPLES; k++) { looks[SAMPLES * index + k] = look(nothing()); }
        var shape: Geometry;
        shape.groups = ONCE;
        geometry[index] = shape;
        return;
    }
    // True if all samples have one material and the surface is flat there.
    let once = all((differ >> vec2u(TRIANGLE_BITS)) == vec2u(0u)) && all((all_of & vec2u(BENT)) == vec2u(0u));
    let glazed = all_of.y != 0u;
    append(select(select(MIXED, GLAZED_MIXED, glazed), select(EVEN, GLAZED_EVEN, glazed), once), index);
}
