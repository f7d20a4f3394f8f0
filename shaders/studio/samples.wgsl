// Data that the passes after the raster pass hand to each other, apart from the layers.

// Samples per pixel of the layers, along one side.
const SUB = 2u;
const SAMPLES = SUB * SUB;
// Pixels of the layers, along one side: MASTER_SIDE_PX of core.
const SIDE = 1024u;
const PIXELS = SIDE * SIDE;

// Means of the front surfaces over the samples of a pixel in the first pass. A sample that shows no
// surface counts as zero.
struct Geometry {
    // View space: x right, y up, z towards the camera.
    normal: vec3f,
    // Distance behind the middle of the vehicle, in studio metres.
    depth: f32,
    // Linear.
    albedo: vec3f,
    // Height above the floor, in studio metres.
    height: f32,
    // Ambient openness, 0 to 1.
    openness: f32,
    // Number of samples of each group of materials, `GROUP_BITS` for each; and `ONCE`.
    groups: u32,
}

const GROUPS = 10u;
// Bits of one group's count, enough for SAMPLES.
const GROUP_BITS = 3u;
// Set if the pixel has been shaded once for all its samples.
const ONCE = 0x80000000u;

// Layout of a texel of the raster pass: the triangle's number in the lowest bits, above it the
// material's number, and in the last bit whether the surface bends there.
const TRIANGLE_BITS = 24u;
const MATERIAL_BITS = 7u;
const BENT = 0x80000000u;
// Number of the material of a shell seen from behind, which is unpainted and dark.
const INSIDE = 19u;

// Lists of pixels of the layers, by how they are shaded. On a CPU, a branch that no lane of a
// vector takes costs as much as one that all take, so each kind has a pass of its own, in which all
// lanes do the same work. The kinds are: pixels shaded once for all their samples, solid (`EVEN`)
// and behind glass (`GLAZED_EVEN`); pixels of which each sample is shaded, in the same two kinds
// (`MIXED`, `GLAZED_MIXED`); and pixels that take the samples of the passes after the first
// (`UNEVEN`).
const EVEN = 0u;
const GLAZED_EVEN = 1u;
const MIXED = 2u;
const GLAZED_MIXED = 3u;
const UNEVEN = 4u;
const LISTS = 5u;
// Number of listed pixels that a workgroup takes.
const GROUP = 64u;
