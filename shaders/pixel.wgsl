// The light layers of one pixel, linear. `Pixel` of render-node/src/studio/gpu_data.rs; what each means: `studio::layers`.
struct Pixel {
    rest: vec3f,
    coverage: f32,
    diffuse: vec3f,
    paint: f32,
    gloss: vec3f,
    shadow: f32,
}

