// Cone tracing through the vehicle's distance field: how much of a direction the vehicle hides from
// a point. Follows frame.wgsl in the passes that need it, which declare `frame`, `field` and
// `field_sampler`.

// Returns the distance from `p` to the nearest surface of the vehicle, in studio metres. Outside
// the field's box the distance to the box is added, so that the result stays a lower bound and
// grows as it should.
fn distance_to_vehicle(p: vec3f) -> f32 {
    return distance_in_field((frame.field_from_studio * vec4f(p, 1.0)).xyz);
}

// Same as `distance_to_vehicle`, from texture coordinates.
fn distance_in_field(uvw: vec3f) -> f32 {
    let clamped = clamp(uvw, vec3f(0.0), vec3f(1.0));
    let away = (uvw - clamped) * (frame.field_box_max - frame.field_box_min);
    return textureSampleLevel(field, field_sampler, clamped, 0.0).x * frame.field_scale + length(away) * frame.field_scale;
}

// A ray in texture coordinates, in which its steps are cheaper to take.
struct FieldRay {
    start: vec3f,
    way: vec3f,
}

fn field_ray(p: vec3f, direction: vec3f) -> FieldRay {
    return FieldRay((frame.field_from_studio * vec4f(p, 1.0)).xyz, (frame.field_from_studio * vec4f(direction, 0.0)).xyz);
}

// Returns the distance to the vehicle, in studio metres, at `t` studio metres along a ray of unit
// `direction`.
fn distance_along(ray: FieldRay, t: f32) -> f32 {
    return distance_in_field(ray.start + ray.way * t);
}

// Returns the ratio of a cone (unit `direction`, tangent of half angle `spread`) that escapes the
// vehicle within `reach` studio metres, 0 to 1. `cosine` is that of the angle to the surface's
// normal where the cone starts. A flat surface must not hide its own light, so the yardstick is the
// distance that the plane itself explains.
fn cone_visibility(p: vec3f, direction: vec3f, cosine: f32, spread: f32, start: f32, reach: f32, steps: u32) -> f32 {
    var visible = 1.0;
    var t = start;
    let yardstick = max(min(cosine * 0.9, spread), 0.06);
    let ray = field_ray(p, direction);
    for (var i = 0u; i < steps; i++) {
        let d = distance_along(ray, t);
        visible = min(visible, d / (t * yardstick));
        // Nothing is nearer than `d`, so the cone may jump that far. Jumping half as far keeps its
        // rim from skipping over an edge, which would show as bands.
        t += max(d * 0.5, t * 0.12 + 0.01);
        if visible < 0.01 || t > reach { break; }
    }
    let open = saturate(visible);
    return open * open * (3.0 - 2.0 * open);
}
