// What the passes after the raster pass hand to each other, beside the layers.

// Samples of a pixel of the layers along one side.
const SUB = 2u;
const SAMPLES = SUB * SUB;

// Means over the samples of a pixel in the first pass, of the front surfaces; what shows none counts as zero.
struct Geometry {
    // View space: x right, y up, z towards the camera.
    normal: vec3f,
    // Behind the middle of the vehicle, studio metres.
    depth: f32,
    albedo: vec3f,
    // Above the floor, studio metres.
    height: f32,
    openness: f32,
    // How many samples each group of materials has, `GROUP_BITS` for each; and `ONCE`.
    groups: u32,
}

const GROUPS = 10u;
// Holds SAMPLES.
const GROUP_BITS = 3u;
// The pixel has been shaded once for all its samples.
const ONCE = 0x80000000u;

// Of a texel of the raster pass: the triangle's number, above it its material's, and in the last bit whether the surface bends there.
const TRIANGLE_BITS = 24u;
const MATERIAL_BITS = 7u;
const BENT = 0x80000000u;
// What is seen of a shell from behind, unpainted and dark.
const INSIDE = 17u;

// Some pixels of the layers, and how many groups of 64 threads are one thread for each (the arguments of an indirect dispatch).
struct Pixels {
    groups: array<u32, 3>,
    count: u32,
    indices: array<u32>,
}
