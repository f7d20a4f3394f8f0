// Cone tracing through the vehicle's distance field: how much of a direction the vehicle hides from a point.
// Appended to frame.wgsl by the passes that need it; they declare `frame` and `field`: for each cell the distances of the eight from it on,
// in half floats, x fastest. One load in place of eight, which a device that is a CPU would make one by one.

// Between the middles of the cells around; `at` in cells from the lower corner of the first.
fn distance_at(at: vec3f) -> f32 {
    let last = vec3f(frame.field_cells - vec3u(1u));
    let place = clamp(at - 0.5, vec3f(0.0), last);
    let low = floor(place);
    let beyond = place - low;
    let cell = vec3u(low);
    let corners = field[(cell.z * frame.field_cells.y + cell.y) * frame.field_cells.x + cell.x];
    let along_x = vec4f(
        mix_pair(corners.x, beyond.x),
        mix_pair(corners.y, beyond.x),
        mix_pair(corners.z, beyond.x),
        mix_pair(corners.w, beyond.x),
    );
    let along_y = mix(along_x.xz, along_x.yw, beyond.y);
    return mix(along_y.x, along_y.y, beyond.z);
}

fn mix_pair(pair: u32, share: f32) -> f32 {
    let values = unpack2x16float(pair);
    return mix(values.x, values.y, share);
}

// Distance from `p` to the nearest surface of the vehicle, in studio metres. Outside the field's box the distance to the
// box is added, which keeps it a lower bound that grows as it should.
fn distance_to_vehicle(p: vec3f) -> f32 {
    let inside = clamp(p, vec3f(-1e3), vec3f(1e3));
    let uvw = (frame.field_from_studio * vec4f(inside, 1.0)).xyz;
    let clamped = clamp(uvw, vec3f(0.0), vec3f(1.0));
    let away = (uvw - clamped) * (frame.field_box_max - frame.field_box_min);
    return (distance_at(clamped * vec3f(frame.field_cells)) + length(away)) * frame.field_scale;
}

// Share of a cone (unit `direction`, tangent of half angle `spread`) that leaves the vehicle within `reach` metres.
// `cosine` is the angle to the surface the cone starts from: a flat surface must not hide its own light, so the
// distance that the plane itself explains is the yardstick.
fn cone_visibility(p: vec3f, direction: vec3f, cosine: f32, spread: f32, start: f32, reach: f32, steps: u32) -> f32 {
    var visible = 1.0;
    var t = start;
    let yardstick = max(min(cosine * 0.9, spread), 0.06);
    for (var i = 0u; i < steps; i++) {
        let d = distance_to_vehicle(p + direction * t);
        visible = min(visible, d / (t * yardstick));
        // Nothing nearer than `d`, so the cone may jump; half as far keeps its rim from skipping over an edge, which
        // would show as bands.
        t += max(d * 0.5, t * 0.12 + 0.01);
        if visible < 0.01 || t > reach { break; }
    }
    let open = saturate(visible);
    return open * open * (3.0 - 2.0 * open);
}
