// The lists of `samples.wgsl` while they grow. Follows samples.wgsl in the passes that fill them,
// which declare `lists`.

// Head of a list. At the start the groups are 0, 1 and 1 (the arguments of an indirect dispatch),
// and the count is 0.
struct Head {
    groups: atomic<u32>,
    groups_y: u32,
    groups_z: u32,
    count: atomic<u32>,
}

struct Lists {
    heads: array<Head, LISTS>,
    // PIXELS entries for each list.
    indices: array<u32>,
}

fn append(list: u32, index: u32) {
    let place = atomicAdd(&lists.heads[list].count, 1u);
    lists.indices[list * PIXELS + place] = index;
    if place % GROUP == 0u { atomicAdd(&lists.heads[list].groups, 1u); }
}
