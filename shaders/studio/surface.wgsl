// The raster pass: one sample of every visible surface, split into light layers.
//
// `opaque` draws solid materials; `transparent` draws glass and lamp lenses over them, blending what is behind by the
// share that passes. Targets: 0 rest (rgb) and coverage, 1 diffuse and paint, 2 gloss and ambient openness,
// 3 view normal xy, depth, material number. Linear light, not yet divided by anything.

struct Optics {
    albedo: vec3f,
    // Reflectance at normal incidence of the mirror-like part (0 for none); metals use their albedo instead.
    f0: f32,
    // Tangent of the mirror lobe's half angle.
    roughness: f32,
    // 0 or 1.
    metal: f32,
    // Share of light that passes (glass), before the Fresnel loss.
    transmission: f32,
    // Share of the light that reaches it: below 1 behind tinted glass.
    exposure: f32,
    emission: vec3f,
    // 1 for the material that takes the client's colour.
    paint: f32,
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<uniform> rig: Rig;
@group(0) @binding(2) var<uniform> optics: array<Optics, 23>;

struct VertexIn {
    @location(0) position: vec3f,
    @location(1) material: u32,
    @location(2) normal: vec3f,
    @location(3) diffuse: vec3f,
    @location(4) shares: vec4f,
}

struct Fragment {
    @builtin(position) clip: vec4f,
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) diffuse: vec3f,
    // Ambient openness, openness of the mirror direction, light of the floor there.
    @location(3) shares: vec3f,
    @location(4) @interpolate(flat) material: u32,
}

struct Targets {
    @location(0) rest: vec4f,
    @location(1) diffuse: vec4f,
    @location(2) gloss: vec4f,
    @location(3) geometry: vec4f,
}

@vertex
fn vertex(in: VertexIn) -> Fragment {
    var out: Fragment;
    let position = frame.studio_from_vehicle * vec4f(in.position, 1.0);
    out.clip = frame.clip_from_studio * position;
    out.clip.x += frame.jitter.x * out.clip.w;
    out.clip.y += frame.jitter.y * out.clip.w;
    out.position = position.xyz;
    out.normal = (frame.studio_from_vehicle * vec4f(in.normal, 0.0)).xyz;
    out.diffuse = in.diffuse;
    out.shares = in.shares.xyz;
    out.material = in.material;
    return out;
}

// Light arriving along `-r` at `p`: lights, walls and the floor with the vehicle's own shadow on it. `open` is the share
// of the direction that the vehicle itself leaves free, `floor_light` the share of its light that the floor there has.
fn mirrored(p: vec3f, r: vec3f, roughness: f32, open: f32, floor_light: f32) -> vec3f {
    let free = surroundings(r, floor_distance(p, r), floor_light) + mirrored_lights(p, r, roughness);
    return mix(vec3f(0.06), free, open);
}

// Brighter samples than this would make stairs at the edge of a highlight, however many are averaged.
const SAMPLE_MAX = 3.0;

fn fresnel(f0: f32, cosine: f32) -> f32 {
    let m = 1.0 - cosine;
    let m2 = m * m;
    return f0 + (1.0 - f0) * m2 * m2 * m;
}

fn geometry_of(in: Fragment, n: vec3f) -> vec4f {
    let right = cross(frame.forward, frame.up);
    let depth = dot(in.position - frame.eye, frame.forward) - frame.target_distance;
    return vec4f(dot(n, right), dot(n, frame.up), depth, f32(in.material));
}

fn stripes(r: vec3f) -> f32 {
    let phase = r.z * 14.0;
    return smoothstep(-0.15, 0.15, sin(phase * PI));
}

@fragment
fn opaque(in: Fragment, @builtin(front_facing) front: bool) -> Targets {
    var out: Targets;
    var n = normalize(in.normal);
    let from_eye = normalize(in.position - frame.eye);
    if !front {
        // The inside of a shell: unpainted, dark, and never glossy.
        out.rest = vec4f(vec3f(0.012) * (0.3 + in.shares.x), 1.0);
        out.diffuse = vec4f(0.0);
        out.gloss = vec4f(0.0, 0.0, 0.0, in.shares.x);
        out.geometry = geometry_of(in, -n);
        out.geometry.w = 17.0;
        return out;
    }
    // Interpolated normals may look away at the silhouette; bend them back to it.
    let away = dot(n, from_eye);
    if away > -0.02 { n = normalize(n - from_eye * (away + 0.02)); }
    let cosine = saturate(-dot(n, from_eye));
    let r = reflect(from_eye, n);
    let o = optics[in.material];
    let light = mirrored(in.position, r, o.roughness, in.shares.y, in.shares.z);
    out.geometry = geometry_of(in, n);
    let f = fresnel(o.f0, cosine);
    // Under a rough lobe the edge of the Fresnel curve is averaged away.
    let f_rough = mix(f, o.f0, saturate(o.roughness * 1.5));
    if frame.zebra != 0u {
        out.rest = vec4f(vec3f(mix(0.05, 0.85, stripes(r)) * (1.0 - o.paint * 0.0)), 1.0);
        out.diffuse = vec4f(0.0);
        out.gloss = vec4f(0.0);
        return out;
    }
    if o.paint > 0.5 {
        out.rest = vec4f(0.0, 0.0, 0.0, 1.0);
        out.diffuse = vec4f(in.diffuse * (1.0 - f), 1.0);
        out.gloss = vec4f(min(light * f, vec3f(SAMPLE_MAX)), in.shares.x);
        return out;
    }
    let metal_f = o.albedo + (vec3f(1.0) - o.albedo) * pow(1.0 - cosine, 5.0);
    let mirror_f = mix(vec3f(f_rough), metal_f, o.metal);
    let body = o.albedo * in.diffuse * ((1.0 - o.metal) * (1.0 - f_rough));
    let rest = (body + mirror_f * light) * o.exposure + o.emission;
    out.rest = vec4f(min(rest, vec3f(SAMPLE_MAX)), 1.0);
    out.diffuse = vec4f(0.0);
    out.gloss = vec4f(0.0, 0.0, 0.0, in.shares.x);
    return out;
}

// Blended as source + (1 - source alpha) * what is behind, alike for every target but the geometry.
@fragment
fn transparent(in: Fragment) -> Targets {
    var out: Targets;
    var n = normalize(in.normal);
    let from_eye = normalize(in.position - frame.eye);
    let away = dot(n, from_eye);
    if away > -0.02 { n = normalize(n - from_eye * (away + 0.02)); }
    let cosine = saturate(-dot(n, from_eye));
    let r = reflect(from_eye, n);
    let o = optics[in.material];
    let f = fresnel(o.f0, cosine);
    let passed = o.transmission * (1.0 - f);
    let light = mirrored(in.position, r, o.roughness, in.shares.y, in.shares.z);
    var shown = min(o.albedo * in.diffuse + light * f, vec3f(SAMPLE_MAX));
    if frame.zebra != 0u { shown = vec3f(mix(0.02, 0.3, stripes(r))); }
    out.rest = vec4f(shown, 1.0 - passed);
    out.diffuse = vec4f(0.0, 0.0, 0.0, 1.0 - passed);
    out.gloss = vec4f(0.0, 0.0, 0.0, 1.0 - passed);
    out.geometry = geometry_of(in, n);
    return out;
}
