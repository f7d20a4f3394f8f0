// The frame: position of the vehicle, position of the camera, and number of the pass. Part of every
// pass of the studio.
//
// Studio space: origin on the ground under the middle of the vehicle, x to the right of the image,
// y away from the camera, z up. The vehicle is scaled to one reference size, so lengths here are
// "metres of a 5 m vehicle". Light is linear; 1.0 is what a white diffuse card would reflect under
// the rig.

const PI = 3.14159265;

struct Frame {
    studio_from_vehicle: mat4x4f,
    vehicle_from_studio: mat4x4f,
    // Maps studio space to texture coordinates of the distance field, 0 to 1.
    field_from_studio: mat4x4f,
    clip_from_studio: mat4x4f,
    eye: vec3f,
    // Studio metres per unit stored in the distance field.
    field_scale: f32,
    forward: vec3f,
    // Half side of the square of ground that the ground map covers, in studio metres.
    ground_half: f32,
    up: vec3f,
    // Normalised device units per unit of tangent.
    zoom: f32,
    // Tangents (right, up) of the middle of the image.
    shift: vec2f,
    // Offset of this pass within a pixel, in normalised device units.
    jitter: vec2f,
    // Corners of the distance field's box, in vehicle axes, metres.
    field_box_min: vec3f,
    // 1 for zebra stripes in place of the light, otherwise 0.
    zebra: u32,
    field_box_max: vec3f,
    // Number of passes of the image before this one.
    earlier_passes: u32,
    vertex_count: u32,
    reserved: u32,
    // Distance from the eye to the middle of the vehicle, in studio metres.
    target_distance: f32,
    // Number of triangles of solid materials. Those of transparent materials come after them.
    solid_triangles: u32,
    // Pixels of the image that the vehicle can cover, from low to before high.
    covered_low: vec2u,
    covered_high: vec2u,
}
