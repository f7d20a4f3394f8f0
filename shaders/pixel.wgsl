// The light layers of one pixel: linear light, premultiplied by coverage; `coverage`, `paint` and
// `shadow` range from 0 to 1. The Rust side is `Pixel` of render-node/src/studio/gpu_data.rs;
// `studio::layers` describes each member.
struct Pixel {
    rest: vec3f,
    coverage: f32,
    diffuse: vec3f,
    paint: f32,
    gloss: vec3f,
    shadow: f32,
}

