// Light that depends on the whole vehicle, once per vertex: diffuse irradiance of the area lights
// with soft shadows, ambient light with occlusion, and for the mirror direction how much is open
// and how much light the floor there has. All of these vary slowly over a surface, so they are
// interpolated where a sample is shaded. Sharp light (mirror images) is computed per sample. Light
// is linear, lengths are studio metres.

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<uniform> rig: Rig;
@group(0) @binding(2) var field: texture_3d<f32>;
@group(0) @binding(3) var field_sampler: sampler;
@group(0) @binding(4) var ground: texture_2d<f32>;
@group(0) @binding(5) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(6) var<storage, read_write> lit: array<VertexLight>;

// Numbers of the window panes' materials.
const TINTED_PANE = 1u;
const CLEAR_PANE = 23u;

// Numbers of the materials of lamps. The inside of a lamp is not much larger than a cell of the
// field, which smears a lamp's own walls over everything in it. So at least `LAMP_OPEN`, as a
// ratio, of a mirror direction counts as free there.
const FIRST_LAMP = 7u;
const LAST_LAMP = 12u;
const LATER_LAMPS = 25u;
const LAMP_OPEN = 0.7;

// Sine of the angle past the silhouette from which a vertex counts as facing away. A triangle with
// a corner this far round has turned from the camera as a whole.
const AWAY = 0.6;

// Returns the ratio of its light that the floor has where the ray from `p` along `r` meets it, 0 to
// 1.
fn floor_light(p: vec3f, r: vec3f) -> f32 {
    if r.z >= DOWN { return 1.0; }
    let shadow = textureSampleLevel(ground, field_sampler, floor_point(p, r) / frame.ground_half * 0.5 + 0.5, 0.0).x;
    return 1.0 - shadow;
}

// Returns one edge of Lambert's formula: the angle between two unit vectors times the normalised
// cross product.
fn edge_form(a: vec3f, b: vec3f) -> vec3f {
    let cosine = clamp(dot(a, b), -0.9999, 0.9999);
    let angle = acos(cosine);
    return cross(a, b) * (angle / sqrt(1.0 - cosine * cosine));
}

// Number of strips of a light, each taken as bright throughout as at its middle. One strip is not
// enough, because a light may be many times as bright at one edge as at the other.
const STRIPS = 2u;

// Returns the ratio of the hemisphere above a surface (cosine weighted) that a strip of a rectangle
// fills: Lambert's formula for the part of it that is above the surface's horizon.
fn form_factor(light: Light, strip: u32, p: vec3f, n: vec3f) -> f32 {
    let u = light.axis_u * light.half_u;
    let v = light.axis_v * (light.half_v / f32(STRIPS));
    let c = light.centre - p + v * f32(i32(2u * strip + 1u) - i32(STRIPS));
    let corners = array<vec3f, 4>(
        normalize(c - u - v), normalize(c + u - v), normalize(c + u + v), normalize(c - u + v),
    );
    var sum = 0.0;
    // The points where the outline goes below the horizon and where it comes back, if it does.
    // Between the two the horizon is the edge.
    var leaves = vec3f(0.0);
    var returns = vec3f(0.0);
    for (var i = 0u; i < 4u; i++) {
        let a = corners[i];
        let b = corners[(i + 1u) % 4u];
        let height_a = dot(a, n);
        let height_b = dot(b, n);
        let crossing = normalize(mix(a, b, height_a / (height_a - height_b)));
        if height_a >= 0.0 || height_b >= 0.0 {
            let first = select(crossing, a, height_a >= 0.0);
            let last = select(crossing, b, height_b >= 0.0);
            sum += dot(edge_form(first, last), n);
        }
        if height_a >= 0.0 && height_b < 0.0 { leaves = crossing; }
        if height_a < 0.0 && height_b >= 0.0 { returns = crossing; }
    }
    // This edge is zero if the outline stays above the horizon.
    sum += dot(edge_form(leaves, returns), n);
    // Winding: axis_u x axis_v is the shining side, so the sum is negative.
    return max(-sum / (2.0 * PI), 0.0);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let index = id.x + id.y * groups.x * 64u;
    if index >= frame.vertex_count { return; }
    let vertex = vertices[index];
    let position = (frame.studio_from_vehicle * vec4f(vertex.position, 1.0)).xyz;
    let n = normalize((frame.studio_from_vehicle * vec4f(vertex.normal, 0.0)).xyz);
    // Lift the point off the surface by a little more than a cell, so that the field's own blur
    // does not count as a hit.
    let p = position + n * 0.012;
    let from_eye = normalize(position - frame.eye);

    // Only the inside of a surface that faces away can be seen. The inside is dark and depends only
    // on its openness.
    if dot(n, from_eye) > AWAY {
        lit[index].diffuse = vec3f(0.0);
        lit[index].ratios = pack4x8unorm(vec4f(cone_visibility(p, n, 1.0, 0.55, 0.05, 1.2, 8u), 0.0, 1.0, 0.0));
        return;
    }

    var sum = vec3f(0.0);
    for (var i = 0u; i < LIGHT_COUNT; i++) {
        let light = rig.lights[i];
        let to = light.centre - p;
        if dot(to, light.normal) >= 0.0 { continue; }
        var ratio = 0.0;
        for (var strip = 0u; strip < STRIPS; strip++) {
            let bright = mix(1.0, light.falloff, (f32(strip) + 0.5) / f32(STRIPS));
            ratio += form_factor(light, strip, p, n) * bright;
        }
        if ratio < 0.002 { continue; }
        let distance = length(to);
        // If a light straddles the horizon, only the part above it can be seen: search there for
        // blockers.
        var toward = to / distance;
        let below = 0.3 - dot(toward, n);
        if below > 0.0 { toward = normalize(toward + n * below); }
        let spread = clamp(sqrt(light.half_u * light.half_v) / distance, 0.15, 0.7);
        let visible = cone_visibility(p, toward, dot(toward, n), spread, 0.07, 2.4, 12u);
        sum += light.radiance * (ratio * visible);
    }

    // Ambient light: one cone along the normal, five around it.
    let helper = select(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 0.0, 1.0), abs(n.x) > 0.7);
    let t1 = normalize(cross(helper, n));
    let t2 = cross(n, t1);
    var openness = 0.0;
    var ambient = vec3f(0.0);
    for (var k = 0u; k < 6u; k++) {
        var direction = n;
        var weight = 0.25;
        var cosine = 1.0;
        if k > 0u {
            let a = f32(k) * (2.0 * PI / 5.0);
            cosine = 0.5;
            direction = n * 0.5 + (t1 * cos(a) + t2 * sin(a)) * 0.866;
            weight = 0.15;
        }
        let visible = cone_visibility(p, direction, cosine, 0.55, 0.05, 1.2, 8u);
        openness += weight * visible;
        // A blocked cone sees the vehicle itself, dimly lit.
        ambient += weight * mix(vec3f(0.05), surroundings(direction, floor_distance(p, direction), floor_light(p, direction)), visible);
    }

    var facing = n;
    if dot(n, from_eye) > 0.0 { facing = -n; }
    let r = reflect(from_eye, facing);
    var mirror = cone_visibility(p, r, max(dot(r, facing), 0.05), 0.3, 0.07, 1.6, 14u);
    // The number without its last bit, which says whether the surface bends. Panes count as open,
    // because the cone's blur would lay a dark cloud on a window beside the mirror's housing.
    let material = extractBits(vertex.material, 0u, 31u);
    if material == CLEAR_PANE || material == TINTED_PANE { mirror = 1.0; }
    if (material >= FIRST_LAMP && material <= LAST_LAMP) || material >= LATER_LAMPS { mirror = max(mirror, LAMP_OPEN); }

    lit[index].diffuse = sum + ambient;
    lit[index].ratios = pack4x8unorm(vec4f(openness, mirror, floor_light(position, r), 0.0));
}
