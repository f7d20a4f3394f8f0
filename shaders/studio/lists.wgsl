// The lists of `samples.wgsl` while they grow. Appended to it by the passes that fill them, which declare `lists`.

// At the start 0, 1 and 1 groups (the arguments of an indirect dispatch), and none listed.
struct Head {
    groups: atomic<u32>,
    groups_y: u32,
    groups_z: u32,
    count: atomic<u32>,
}

struct Lists {
    heads: array<Head, LISTS>,
    // PIXELS for each.
    indices: array<u32>,
}

fn append(list: u32, index: u32) {
    let place = atomicAdd(&lists.heads[list].count, 1u);
    lists.indices[list * PIXELS + place] = index;
    if place % GROUP == 0u { atomicAdd(&lists.heads[list].groups, 1u); }
}
