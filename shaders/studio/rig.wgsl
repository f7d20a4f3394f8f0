// The light rig, and the light that comes from a direction. Appended to frame.wgsl by the passes that need it; they
// declare `rig`.

const LIGHTS_MAX = 8u;
// How many a rig has. Set when a pipeline is made and not read from `Rig`: for a loop or a condition on a uniform alone, lavapipe compiles the
// shader anew for each picture.
override LIGHT_COUNT: u32;

struct Light {
    centre: vec3f,
    // Width of the soft edge a sharp mirror sees, in metres.
    edge: f32,
    // Unit vectors along the rectangle; the lengths are half sides in metres.
    axis_u: vec3f,
    half_u: f32,
    axis_v: vec3f,
    half_v: f32,
    // Side that shines.
    normal: vec3f,
    // 1 at the lower (-v) edge towards this at the upper edge: softboxes are brighter near their lamp.
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

// A ray that goes down by less than this meets the wall, and the floor's end before it.
const DOWN = -0.02;
const FLOOR_END = 8.0;
// How far to the front and back of a direction the front wall becomes the back wall.
const WALL_TURN = 0.7;
// Heights of a direction between which the floor curves up into the wall.
const FLOOR_CURVES = -0.10;
const WALL_STANDS = 0.02;

// Where the ray from `p` along `r` meets the floor. Only for one that goes `DOWN`.
fn floor_point(p: vec3f, r: vec3f) -> vec2f {
    return p.xy - r.xy * (max(p.z, 0.0) / r.z);
}

// How far from the middle of the floor that is.
fn floor_distance(p: vec3f, r: vec3f) -> f32 {
    if r.z >= DOWN { return FLOOR_END; }
    return length(floor_point(p, r));
}

// Light of the surroundings (floor, walls, ceiling; not the lights) from direction `r` as seen from `p`.
// `floor_light` tells how much light reaches the floor where the ray meets it, 0 to 1.
fn surroundings(r: vec3f, floor_distance: f32, floor_light: f32) -> vec3f {
    let horizon = mix(rig.horizon_front, rig.horizon_back, smoothstep(-WALL_TURN, WALL_TURN, r.y));
    // The wall is brightest at the horizon and darkens towards the ceiling over `horizon_height`.
    let rise = saturate(r.z / rig.horizon_height);
    let wall = mix(horizon, rig.zenith, rise * rise * (3.0 - 2.0 * rise));
    let reach = exp(-floor_distance / rig.floor_reach);
    let ground = mix(rig.floor_far, rig.floor_near, reach) * floor_light;
    // The floor meets the wall in a curve, as in a real cyclorama: no hard horizon line.
    return mix(ground, wall, smoothstep(FLOOR_CURVES, WALL_STANDS, r.z));
}

// Sharp mirror image of the lights, with edges softened by roughness (tangent of the lobe's half angle).
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
        // Divided by once: where the CPU draws, a division costs as much as all the rest of a line.
        let sharpness = 1.0 / (light.edge + roughness * t);
        let u = abs(dot(at, light.axis_u));
        let v = dot(at, light.axis_v);
        // A lobe wider than the light sees only a share of it.
        let share = min(1.0, 2.0 * light.half_u * sharpness) * min(1.0, 2.0 * light.half_v * sharpness);
        let inside = smoothstep(-0.5, 0.5, (light.half_u - u) * sharpness) * smoothstep(-0.5, 0.5, (light.half_v - abs(v)) * sharpness);
        let along = mix(1.0, light.falloff, saturate(v / light.half_v * 0.5 + 0.5));
        sum += light.radiance * (inside * share * along);
    }
    return sum;
}
