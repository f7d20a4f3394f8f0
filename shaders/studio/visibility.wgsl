// The raster pass: which triangle each sample sees, and nothing else (a visibility buffer: C. Burns, W. Hunt, The Visibility Buffer: A
// Cache-Friendly Approach to Deferred Shading, JCGT 2013). `gather.wgsl` shades what is seen, each sample once.
//
// Targets: the nearest solid triangle, and the nearest transparent one before it. A texel is `TRIANGLE_BITS` of the triangle's number, from 1
// in the order they are drawn, above them the number of its material, from 1 too, and `BENT`; 0 is none.

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

// `material` as of `Vertex`.
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
