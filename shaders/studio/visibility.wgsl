// The raster pass: which triangle each sample sees, and nothing else (a visibility buffer: C.
// Burns, W. Hunt, The Visibility Buffer: A Cache-Friendly Approach to Deferred Shading, JCGT 2013).
// `gather.wgsl` shades what is seen, each sample once.
//
// The targets hold the nearest solid triangle, and the nearest transparent one in front of it. A
// texel has the triangle's number in `TRIANGLE_BITS`, counted from 1 in drawing order, above it the
// number of its material, also from 1, and `BENT`. The value 0 means no triangle.

enable primitive_index;

@group(0) @binding(0) var<uniform> frame: Frame;

struct Corner {
    @builtin(position) clip: vec4f,
    @location(0) @interpolate(flat) material: u32,
}

@vertex
fn vertex(@location(0) position: vec3f, @location(1) material: u32) -> Corner {
    var clip = frame.clip_from_studio * (frame.studio_from_vehicle * vec4f(position, 1.0));
    clip.x += frame.jitter.x * clip.w;
    clip.y += frame.jitter.y * clip.w;
    return Corner(clip, material);
}

// Returns the texel of a triangle. `material` is encoded as in `Vertex`.
fn texel(triangle: u32, material: u32) -> u32 {
    return (triangle + 1u) | ((extractBits(material, 0u, MATERIAL_BITS) + 1u) << TRIANGLE_BITS) | (material & BENT);
}

@fragment
fn solid(in: Corner, @builtin(primitive_index) triangle: u32, @builtin(front_facing) front: bool) -> @location(0) u32 {
    return texel(triangle, select(INSIDE, in.material, front));
}

@fragment
fn transparent(in: Corner, @builtin(primitive_index) triangle: u32) -> @location(1) u32 {
    return texel(triangle, in.material);
}
