// What the passes after the raster pass hand to each other, beside the layers.

// Samples of a pixel of the layers along one side.
const SUB = 2u;
const SAMPLES = SUB * SUB;
// Pixels of the layers along one side: MASTER_SIDE_PX of core.
const SIDE = 1024u;
const PIXELS = SIDE * SIDE;

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
const INSIDE = 19u;

// Lists of pixels of the layers, by how they are shaded. Where the CPU draws, a branch that no lane of a vector takes costs as much as one that
// all take, so each kind has a pass of its own, whose lanes do the same: pixels that are shaded once for all their samples, solid and behind
// glass; those of which each sample is shaded, in the same way; and those that take the samples of the passes after the first.
const EVEN = 0u;
const GLAZED_EVEN = 1u;
const MIXED = 2u;
const GLAZED_MIXED = 3u;
const UNEVEN = 4u;
const LISTS = 5u;
// Listed pixels that a workgroup takes.
const GROUP = 64u;
