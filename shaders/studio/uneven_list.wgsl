// Lists the pixels that `uneven.wgsl` has marked, in any order: where the CPU draws, lanes that wait for their neighbours cost as much as those
// that work. One thread per pixel that the vehicle can cover.

struct Listed {
    groups: atomic<u32>,
    groups_y: u32,
    groups_z: u32,
    count: atomic<u32>,
    indices: array<u32>,
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read> uneven: array<u32>;
// `Pixels`; at the start 0, 1 and 1 groups, and none listed.
@group(0) @binding(2) var<storage, read_write> listed: Listed;

const SIDE = 1024u;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + frame.covered_low;
    if any(pixel >= frame.covered_high) { return; }
    let index = pixel.y * SIDE + pixel.x;
    if uneven[index] == 0u { return; }
    let place = atomicAdd(&listed.count, 1u);
    listed.indices[place] = index;
    if place % 64u == 0u { atomicAdd(&listed.groups, 1u); }
}
