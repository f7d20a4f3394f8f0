// Light that a sample of a surface sends to the camera, split into light layers. Follows
// frame.wgsl, rig.wgsl and look.wgsl in the pass that shades, which declares `frame`, `rig` and
// `optics`. Linear light, not yet divided by anything.

struct Optics {
    albedo: vec3f,
    // Reflectance at normal incidence of the mirror-like part, 0 if there is none. Metals use their
    // albedo instead.
    f0: f32,
    // Tangent of the mirror lobe's half angle.
    roughness: f32,
    // 1 for metals, otherwise 0.
    metal: f32,
    // Ratio of light that passes (glass), before the Fresnel loss.
    transmission: f32,
    // Ratio of the studio's light that reaches the material; below 1 behind tinted glass.
    exposure: f32,
    emission: vec3f,
    // The mask of the conditioning that the material belongs to.
    group: u32,
    // Ratio of each colour that passes through the glass.
    tint: vec3f,
    reserved: u32,
}

// Numbers of material groups: the one that takes the client's paint, that of window panes, and
// those of lamps and trim.
const PAINT = 0u;
const PANES = 1u;
const LAMP_CLEAR = 2u;
const LAMP_RED = 3u;
const BLACK_TRIM = 4u;
const BRIGHT_TRIM = 5u;
// Number of the material of tinted panes.
const TINTED = 1u;

// Light of a cabin's lining in the shade, linear.
const LINING = 0.004;

// The point where a ray meets a triangle, with values interpolated from its corners.
struct Hit {
    position: vec3f,
    normal: vec3f,
    // Same as in `VertexLight`.
    diffuse: vec3f,
    // Ambient openness; openness of the mirror direction; ratio of its light that the floor has
    // there. Each 0 to 1.
    ratios: vec3f,
    material: u32,
}

// Returns the light that arrives at `p` from direction `r`: lights, walls, and the floor with the
// vehicle's own shadow on it. `open` is the ratio of the direction that the vehicle itself leaves
// free, `floor_light` the ratio of its light that the floor there has.
fn mirrored(p: vec3f, r: vec3f, roughness: f32, open: f32, floor_light: f32) -> vec3f {
    let free = surroundings(r, floor_distance(p, r), floor_light) + mirrored_lights(p, r, roughness);
    return mix(vec3f(0.06), free, open);
}

// Albedo of the inside of a shell, which is unpainted.
const INSIDE_ALBEDO = 0.012;

// Factor on the roughness: how much of the edge of the Fresnel curve the lobe averages away.
const ROUGH_FRESNEL = 1.5;

// Maximum of a sample, linear light. Brighter samples would make stairs at the edge of a highlight,
// however many samples are averaged.
const SAMPLE_MAX = 3.0;

// Refractive index of crown glass, and the ratio of light in the plane of incidence that a
// photographer's polarising filter leaves. The filter is turned so that windows are clear.
const PANE_INDEX = 1.5;
const POLARISED = 0.92;

// Returns the reflectance of a pane by Fresnel's formulas. `cosine` is that of the angle to its
// normal.
fn pane_reflectance(cosine: f32) -> f32 {
    let within = sqrt(1.0 - (1.0 - cosine * cosine) / (PANE_INDEX * PANE_INDEX));
    let across = (cosine - PANE_INDEX * within) / (cosine + PANE_INDEX * within);
    let along = (PANE_INDEX * cosine - within) / (PANE_INDEX * cosine + within);
    return mix(across * across, along * along, POLARISED);
}

// `FLAGGED` is the ratio that a pane mirrors of the cards beside the vehicle. A photographer blocks
// them off from the windows with black cloth, or their bright edges would lie across the side glass
// as a veil. Over the heights (z of the direction) in `FLAG_FOOT` a direction passes from below the
// cloth onto it, over those in `FLAG_HEAD` from the cloth to the lights overhead.
const FLAGGED = 0.05;
const FLAG_FOOT = vec2f(0.0, 0.12);
const FLAG_HEAD = vec2f(0.72, 1.04);

// Returns the ratio of the studio's light that a pane mirrors from a direction whose z is `up`.
fn unflagged(up: f32) -> f32 {
    let within = smoothstep(FLAG_FOOT.x, FLAG_FOOT.y, up) * (1.0 - smoothstep(FLAG_HEAD.x, FLAG_HEAD.y, up));
    return 1.0 - (1.0 - FLAGGED) * within;
}

// A wide soft card beside the vehicle that an upright pane mirrors, brightest at its upper edge:
// the gradient that side windows have in a studio. `SIDE_CARD` is its light. Over `CARD_RISES`, as
// ratios of the vehicle's height, it goes from nothing to all of it. Over `CARD_LEANS`, as z of the
// pane's normal, a pane leans back too far for it.
const SIDE_CARD = 0.085;
const CARD_RISES = vec2f(0.60, 0.98);
const CARD_LEANS = vec2f(0.62, 0.80);

fn side_card(p: vec3f, up: f32) -> vec3f {
    let rise = smoothstep(CARD_RISES.x, CARD_RISES.y, p.z / frame.field_box_max.z);
    return vec3f(0.94, 1.0, 1.0) * (SIDE_CARD * rise * rise * (1.0 - smoothstep(CARD_LEANS.x, CARD_LEANS.y, up)));
}

// Returns what a pane shows of the sample behind it. The bowls of lamps are open to the cabin here,
// whereas in a vehicle their backs are behind the lining. Trim outside beyond two tinted panes,
// such as a wiper or a mirror, is lost in the dark.
fn seen_through_pane(behind: Sample, tinted: bool) -> Sample {
    let group = optics[behind.material].group;
    let is_lamp = group == LAMP_CLEAR || group == LAMP_RED;
    let is_trim = group == BLACK_TRIM || group == BRIGHT_TRIM;
    if behind.rest.a == 0.0 || !(is_lamp || (tinted && is_trim)) { return behind; }
    var out = nothing();
    out.rest = vec4f(select(vec3f(LINING), BACKDROP, is_trim), 1.0);
    return out;
}

// Returns how far a mirror has gone from its reflectance at normal incidence (0) to total
// reflection (1) (C. Schlick, 1994).
fn grazing(cosine: f32) -> f32 {
    let m = 1.0 - cosine;
    let m2 = m * m;
    return m2 * m2 * m;
}

// Returns the zebra stripe of a mirror direction, 0 to 1.
fn stripes(r: vec3f) -> f32 {
    let phase = r.z * 14.0;
    return smoothstep(-0.15, 0.15, sin(phase * PI));
}

// Returns the sample of a solid surface.
fn solid_surface(hit: Hit) -> Sample {
    var out: Sample;
    var n = normalize(hit.normal);
    out.openness = hit.ratios.x;
    out.material = hit.material;
    if hit.material == INSIDE {
        // The inside is never glossy.
        out.rest = vec4f(vec3f(INSIDE_ALBEDO) * (0.3 + hit.ratios.x), 1.0);
        out.normal = select(n, -n, dot(n, hit.position - frame.eye) > 0.0);
        return out;
    }
    let from_eye = normalize(hit.position - frame.eye);
    // Interpolated normals may look away at the silhouette; bend them back to it.
    let away = dot(n, from_eye);
    if away > -0.02 { n = normalize(n - from_eye * (away + 0.02)); }
    let cosine = saturate(-dot(n, from_eye));
    let r = reflect(from_eye, n);
    let o = optics[hit.material];
    out.normal = n;
    let light = mirrored(hit.position, r, o.roughness, hit.ratios.y, hit.ratios.z);
    let grazed = grazing(cosine);
    let f = select(mix(o.f0, 1.0, grazed), pane_reflectance(cosine) * unflagged(r.z), o.group == PANES);
    if o.group == PAINT {
        out.rest = vec4f(0.0, 0.0, 0.0, 1.0);
        out.diffuse = vec4f(hit.diffuse * (1.0 - f), 1.0);
        out.gloss = min(light * f, vec3f(SAMPLE_MAX));
        return striped(out, mix(0.05, 0.85, stripes(r)));
    }
    // Under a rough lobe the edge of the Fresnel curve is averaged away.
    let f_rough = mix(f, o.f0, saturate(o.roughness * ROUGH_FRESNEL));
    let metal_f = mix(o.albedo, vec3f(1.0), grazed);
    let mirror_f = mix(vec3f(f_rough), metal_f, o.metal);
    let body = o.albedo * hit.diffuse * ((1.0 - o.metal) * (1.0 - f_rough));
    let rest = (body + mirror_f * light) * o.exposure + o.emission;
    out.rest = vec4f(min(rest, vec3f(SAMPLE_MAX)), 1.0);
    return striped(out, mix(0.05, 0.85, stripes(r)));
}

// Replaces a sample's light by `light`, on the zebra stripes, if `frame.zebra` is set. There is no
// condition on the uniform (see `LIGHT_COUNT`).
fn striped(sample: Sample, light: f32) -> Sample {
    let ratio = f32(frame.zebra);
    var out = sample;
    out.rest = mix(sample.rest, vec4f(vec3f(light), 1.0), ratio);
    out.diffuse = sample.diffuse * (1.0 - ratio);
    out.gloss = sample.gloss * (1.0 - ratio);
    return out;
}

// Returns the sample `behind` as seen through glass or a lamp's lens at `hit`.
fn through(hit: Hit, behind: Sample) -> Sample {
    var n = normalize(hit.normal);
    let from_eye = normalize(hit.position - frame.eye);
    let away = dot(n, from_eye);
    if away > -0.02 { n = normalize(n - from_eye * (away + 0.02)); }
    let cosine = saturate(-dot(n, from_eye));
    let r = reflect(from_eye, n);
    let o = optics[hit.material];
    let f = select(mix(o.f0, 1.0, grazing(cosine)), pane_reflectance(cosine) * unflagged(r.z), o.group == PANES);
    let passed = o.transmission * (1.0 - f);
    let is_pane = o.group == PANES;
    var back = behind;
    if is_pane { back = seen_through_pane(behind, hit.material == TINTED); }
    let light = mirrored(hit.position, r, o.roughness, hit.ratios.y, hit.ratios.z);
    var mirrored_light = light * f;
    if is_pane { mirrored_light += side_card(hit.position, n.z); }
    let lit = min(o.albedo * hit.diffuse + mirrored_light, vec3f(SAMPLE_MAX));
    let shown = mix(lit, vec3f(mix(0.02, 0.3, stripes(r))), f32(frame.zebra));
    // Coverage grows, paint behind glass counts by the ratio of light that passes, and openness
    // stays that of the surface behind.
    var out = back;
    out.rest = vec4f(shown, 1.0 - passed) + back.rest * vec4f(o.tint, 1.0) * passed;
    out.diffuse = back.diffuse * passed;
    out.gloss = back.gloss * passed;
    out.normal = n;
    out.material = hit.material;
    return out;
}
