// The light rig, and the light that comes from a direction. Follows frame.wgsl in the passes that
// need it, which declare `rig`. Light is linear radiance, lengths are studio metres.

const LIGHTS_MAX = 8u;
// Number of lights of the rig. It is set when a pipeline is made and not read from `Rig`: for a
// loop or a condition that depends on a uniform alone, lavapipe compiles the shader again for every
// image.
override LIGHT_COUNT: u32;

struct Light {
    centre: vec3f,
    // Width of the soft edge that a sharp mirror sees, in metres.
    edge: f32,
    // Unit vectors along the rectangle; `half_u` and `half_v` are half sides in metres.
    axis_u: vec3f,
    half_u: f32,
    axis_v: vec3f,
    half_v: f32,
    // Unit vector in whose direction the rectangle shines.
    normal: vec3f,
    // Radiance at the upper (+v) edge as a ratio of that at the lower (-v) edge: softboxes are
    // brighter near their lamp. May exceed 1.
    falloff: f32,
    radiance: vec3f,
    reserved: f32,
}

struct Rig {
    lights: array<Light, LIGHTS_MAX>,
    // Radiance of the surroundings without the lights.
    floor_near: vec3f,
    reserved_0: u32,
    floor_far: vec3f,
    floor_reach: f32,
    horizon_back: vec3f,
    horizon_height: f32,
    horizon_front: vec3f,
    reserved_1: f32,
    zenith: vec3f,
    reserved_2: f32,
}

// A ray whose z is not below `DOWN` meets the wall, and the end of the floor before it. `FLOOR_END`
// is the distance of that end from the middle of the floor, in studio metres.
const DOWN = -0.02;
const FLOOR_END = 8.0;
// The front wall turns into the back wall while y of the direction goes from minus this to plus
// this.
const WALL_TURN = 0.7;
// Heights (z) of a direction between which the floor curves up into the wall.
const FLOOR_CURVES = -0.10;
const WALL_STANDS = 0.02;

// Returns where the ray from `p` along `r` meets the floor. Only valid if z of `r` is below `DOWN`.
fn floor_point(p: vec3f, r: vec3f) -> vec2f {
    return p.xy - r.xy * (max(p.z, 0.0) / r.z);
}

// Returns how far that point is from the middle of the floor, in studio metres.
fn floor_distance(p: vec3f, r: vec3f) -> f32 {
    if r.z >= DOWN { return FLOOR_END; }
    return length(floor_point(p, r));
}

// Returns the light of the surroundings (floor, walls, ceiling; not the lights) from direction `r`.
// `floor_distance` is how far from the floor's middle the ray meets the floor, and `floor_light`
// the ratio of light that reaches the floor there, 0 to 1.
fn surroundings(r: vec3f, floor_distance: f32, floor_light: f32) -> vec3f {
    let horizon = mix(rig.horizon_front, rig.horizon_back, smoothstep(-WALL_TURN, WALL_TURN, r.y));
    // The wall is brightest at the horizon and darkens towards the ceiling over `horizon_height`.
    let rise = saturate(r.z / rig.horizon_height);
    let wall = mix(horizon, rig.zenith, rise * rise * (3.0 - 2.0 * rise));
    let reach = exp(-floor_distance / rig.floor_reach);
    let ground = mix(rig.floor_far, rig.floor_near, reach) * floor_light;
    // The floor meets the wall in a curve, as in a real cyclorama, without a hard horizon line.
    return mix(ground, wall, smoothstep(FLOOR_CURVES, WALL_STANDS, r.z));
}

// Returns the mirror image of the lights from direction `r` as seen from `p`, with edges softened
// by `roughness` (tangent of the lobe's half angle).
fn mirrored_lights(p: vec3f, r: vec3f, roughness: f32) -> vec3f {
    var sum = vec3f(0.0);
    for (var i = 0u; i < LIGHT_COUNT; i++) {
        let light = rig.lights[i];
        let facing = -dot(r, light.normal);
        if facing <= 0.0 { continue; }
        let to_centre = light.centre - p;
        let t = -dot(to_centre, light.normal) / facing;
        if t <= 0.0 { continue; }
        let at = r * t - to_centre;
        // One division, reused below: on a CPU a division costs as much as the rest of a line.
        let sharpness = 1.0 / (light.edge + roughness * t);
        let u = abs(dot(at, light.axis_u));
        let v = dot(at, light.axis_v);
        // A lobe wider than the light sees only a part of it.
        let ratio = min(1.0, 2.0 * light.half_u * sharpness) * min(1.0, 2.0 * light.half_v * sharpness);
        let inside = smoothstep(-0.5, 0.5, (light.half_u - u) * sharpness) * smoothstep(-0.5, 0.5, (light.half_v - abs(v)) * sharpness);
        let along = mix(1.0, light.falloff, saturate(v / light.half_v * 0.5 + 0.5));
        sum += light.radiance * (inside * ratio * along);
    }
    return sum;
}
