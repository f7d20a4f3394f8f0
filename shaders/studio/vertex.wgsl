// A vertex, in vehicle axes, and the light that reaches it. `Vertex` and `Lit` of render-node/src/studio/gpu_data.rs.

struct Vertex {
    position: vec3f,
    // Number of the material, and `BENT`.
    material: u32,
    normal: vec3f,
    reserved: u32,
}

struct Lit {
    // Radiance of a white matt surface here (irradiance / pi).
    diffuse: vec3f,
    // Four unorm8: ambient openness, openness of the mirror direction, share of its light that the floor in that direction has, nothing.
    shares: u32,
}
