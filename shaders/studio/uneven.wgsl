// Finds the uneven pixels: those that an edge crosses, or in which a mirror image ends. Only they
// take the samples of the passes after the first, because an even pixel looks the same however it
// is sampled. They are listed, in any order: on a CPU, lanes that wait for their neighbours cost as
// much as those that work. One thread per pixel that the vehicle can cover.

@group(0) @binding(0) var<uniform> frame: Frame;
// Approximate appearance of the samples of the first pass, written by `gather.wgsl`, and by
// `classify.wgsl` for pixels that show nothing.
@group(0) @binding(1) var<storage, read> looks: array<vec2u>;
// 1 for each pixel that is listed. All 0 at the start.
@group(0) @binding(2) var<storage, read_write> marks: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> lists: Lists;

// Samples of a pixel and around it that differ by more than this are uneven: a step of about four
// of 255 in the finished image.
const STEP = 0.016;

// Least and greatest value of some samples, in the encoding of `look`.
struct Spread {
    least: vec4f,
    most: vec4f,
}

fn widened(spread: Spread, pixel: u32, k: u32) -> Spread {
    let packed = looks[SAMPLES * pixel + k];
    let sample = vec4f(unpack2x16float(packed.x), unpack2x16float(packed.y));
    return Spread(min(spread.least, sample), max(spread.most, sample));
}

fn is_uneven(spread: Spread) -> bool {
    return any(spread.most - spread.least > vec4f(STEP));
}

// Lists a pixel. Several threads may find the same pixel uneven; the first that marks it lists it.
fn list(index: u32) {
    if atomicExchange(&marks[index], 1u) == 1u { return; }
    append(UNEVEN, index);
}

// Lists this pixel if its samples differ. Lists both this pixel and the one to the right, or below,
// if they differ across the border.
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + frame.covered_low;
    if any(pixel >= frame.covered_high) { return; }
    let index = pixel.y * SIDE + pixel.x;
    var own = Spread(vec4f(1e9), vec4f(-1e9));
    for (var k = 0u; k < SAMPLES; k++) { own = widened(own, index, k); }
    if is_uneven(own) { list(index); }
    // The samples beside the border are the first and third of the pixel to the right, and the
    // first two of the pixel below.
    if pixel.x + 1u < frame.covered_high.x && is_uneven(widened(widened(own, index + 1u, 0u), index + 1u, SUB)) {
        list(index);
        list(index + 1u);
    }
    if pixel.y + 1u < frame.covered_high.y && is_uneven(widened(widened(own, index + SIDE, 0u), index + SIDE, 1u)) {
        list(index);
        list(index + SIDE);
    }
}
