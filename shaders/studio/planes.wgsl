// The conditioning's size and where some of its planes are. Prepended to the passes that write them.

struct Condition {
    side: u32,
    // Layer pixels per output pixel, along one side.
    pixels: u32,
}

const GROUP_FIRST = 6u;
const SHADOW = GROUP_FIRST + GROUPS + 13u;
