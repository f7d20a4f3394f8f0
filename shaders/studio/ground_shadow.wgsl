// Ground map: how much of the light that reaches each point of the empty floor the vehicle takes
// away. One thread per texel. Output, 0 to 1: x = shadow from lights and surroundings together, y =
// contact part alone.

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<uniform> rig: Rig;
@group(0) @binding(2) var field: texture_3d<f32>;
@group(0) @binding(3) var field_sampler: sampler;
@group(0) @binding(4) var ground_out: texture_storage_2d<rgba16float, write>;

// Maximum number of distance samples along a cone towards a light.
const LOOKS = 24u;
// Distance of the first sample along the cone, and how far the vehicle can be from its shadow's
// edge, in studio metres.
const START = 0.03;
const REACH = 3.5;

// Beyond this distance from the vehicle's footprint, in studio metres, the image shows no shadow
// (`background.wgsl`), and only mirrors see the floor. There one cone stands for a light, and the
// sky counts as open.
const FAR = 1.2;
// Width of the transition between the two methods, in studio metres.
const BLEND = 0.4;

// Same as `cone_visibility`, for thin parts far from the floor. Distance samples are some tens of
// centimetres apart there, and a handlebar between two of them would show as the teeth of a saw.
// Between two samples, the cone is therefore tested against the nearest surface as if it were a
// point, whose position follows from its distances to both samples (after S. Aaltonen, GPU-based
// clay simulation and ray-tracing tech in Claybook, GDC 2018).
fn light_visibility(p: vec3f, direction: vec3f, spread: f32) -> f32 {
    var visible = 1.0;
    var t = START;
    var step = 0.0;
    var before = 0.0;
    let yardstick = max(min(max(direction.z, 0.0) * 0.9, spread), 0.06);
    let ray = field_ray(p, direction);
    for (var i = 0u; i < LOOKS; i++) {
        let d = distance_along(ray, t);
        var back = 0.0;
        if i > 0u { back = clamp((step * step + d * d - before * before) / (2.0 * step), 0.0, step); }
        let nearest = sqrt(max(d * d - back * back, 0.0));
        visible = min(visible, nearest / ((t - back) * yardstick));
        before = d;
        step = max(d * 0.5, t * 0.12 + 0.01);
        t += step;
        if visible < 0.01 || t > REACH { break; }
    }
    let open = saturate(visible);
    return open * open * (3.0 - 2.0 * open);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let size = textureDimensions(ground_out);
    if id.x >= size.x || id.y >= size.y { return; }
    let p = vec3f(((vec2f(id.xy) + 0.5) / vec2f(size) * 2.0 - 1.0) * frame.ground_half, 0.0);
    let near = saturate((FAR - distance_to_vehicle(p)) / BLEND);
    var lost = 0.0;
    var all = 1e-4;
    for (var i = 0u; i < LIGHT_COUNT; i++) {
        let light = rig.lights[i];
        let to = light.centre - p;
        let distance = length(to);
        let direction = to / distance;
        let area = 4.0 * light.half_u * light.half_v;
        let weight = dot(light.radiance, vec3f(0.2126, 0.7152, 0.0722)) * area * 0.5 * (1.0 + light.falloff)
            * max(direction.z, 0.0) * max(-dot(direction, light.normal), 0.0) / (distance * distance);
        if weight <= 1e-3 { continue; }
        var visible = 0.0;
        if near < 1.0 {
            visible = light_visibility(p, direction, clamp(max(light.half_u, light.half_v) / distance, 0.12, 0.5));
        }
        // One cone would hide or show the whole rectangle at once. Six of them over the rectangle
        // give its penumbra.
        if near > 0.0 {
            let spread = clamp(max(light.half_u / 3.0, light.half_v / 2.0) / distance, 0.12, 0.5);
            var mean = 0.0;
            for (var k = 0; k < 6; k++) {
                let along = light.axis_u * (light.half_u * 0.667 * f32(k % 3 - 1));
                let across = light.axis_v * (light.half_v * (f32(k / 3) - 0.5));
                let toward = normalize(to + along + across);
                mean += light_visibility(p, toward, spread) / 6.0;
            }
            visible = mix(visible, mean, near);
        }
        lost += weight * (1.0 - visible);
        all += weight;
    }
    // Surroundings: seven cones over the hemisphere.
    let sky_weight = 0.9;
    var open = 1.0;
    if near > 0.0 {
        open = cone_visibility(p, vec3f(0.0, 0.0, 1.0), 1.0, 0.6, 0.03, 2.0, 14u) * 0.25;
        for (var k = 0; k < 6; k++) {
            let a = f32(k) * PI / 3.0;
            open += cone_visibility(p, vec3f(cos(a) * 0.82, sin(a) * 0.82, 0.572), 0.572, 0.55, 0.03, 2.0, 14u) * 0.125;
        }
        open = mix(1.0, open, near);
    }
    lost += sky_weight * (1.0 - open);
    all += sky_weight;
    textureStore(ground_out, id.xy, vec4f(lost / all, 1.0 - open, 0.0, 1.0));
}
