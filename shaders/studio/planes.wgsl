// The conditioning's size, and the numbers of some of its planes. Precedes the passes that write
// them.

struct Condition {
    // Pixels of the conditioning, along one side.
    side: u32,
    // Layer pixels per pixel of the conditioning, along one side.
    pixels: u32,
}

const GROUP_FIRST = 6u;
const SHADOW = GROUP_FIRST + GROUPS + 13u;
