// A vertex, in vehicle axes, and the light that reaches it. The Rust side is `Vertex` and
// `VertexLight` of render-node/src/studio/gpu_data.rs.

struct Vertex {
    position: vec3f,
    // Number of the material, combined with `BENT`.
    material: u32,
    normal: vec3f,
    reserved: u32,
}

struct VertexLight {
    // Radiance of a white diffuse surface here (irradiance / pi), linear.
    diffuse: vec3f,
    // Four unorm8: ambient openness, openness of the mirror direction, ratio of its light that the
    // floor in that direction has, unused.
    ratios: u32,
}
