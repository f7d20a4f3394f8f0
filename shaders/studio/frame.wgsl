// The frame: where the vehicle stands, where the camera looks, which pass of the picture this is. Prepended to every pass.
//
// Studio space: origin on the ground under the middle of the vehicle, x to the right of the picture, y away from the
// camera, z up. The vehicle is scaled to one reference size, so lengths here are "metres of a 5 m vehicle".
// Light is linear; 1.0 is what a white matt card would send back under the rig.

const PI = 3.14159265;

struct Frame {
    studio_from_vehicle: mat4x4f,
    vehicle_from_studio: mat4x4f,
    // Texture coordinates of the distance field from studio space.
    field_from_studio: mat4x4f,
    clip_from_studio: mat4x4f,
    eye: vec3f,
    // Studio metres of one unit stored in the distance field.
    field_scale: f32,
    forward: vec3f,
    // Half side of the square of ground that the ground map covers.
    ground_half: f32,
    up: vec3f,
    // Normalised device units per unit of tangent.
    zoom: f32,
    // Tangents of the middle of the picture.
    shift: vec2f,
    // Offset of this pass within a pixel, in normalised device units.
    jitter: vec2f,
    field_box_min: vec3f,
    zebra: u32,
    field_box_max: vec3f,
    // Passes of the picture before this one.
    earlier_passes: u32,
    vertex_count: u32,
    reserved: u32,
    // Distance from the eye to the middle of the vehicle.
    target_distance: f32,
    // Triangles of solid materials; those of transparent ones come after them.
    solid_triangles: u32,
    // Pixels of the picture that the vehicle can cover, low to before high.
    covered_low: vec2u,
    covered_high: vec2u,
}
