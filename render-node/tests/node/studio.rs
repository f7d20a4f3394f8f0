//! A studio takes one image after another in the same buffers, and nothing of one shows in the
//! next.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail it by panicking")]

use cyclorama_core::View;
use cyclorama_node::gpu::{AdapterChoice, Gpu};
use cyclorama_node::studio::conditioning::CONDITIONING_SIDE_PX;
use cyclorama_node::studio::{ShootSettings, Studio};
use cyclorama_node::vehicle::catalog_line::vehicles_of;
use cyclorama_node::vehicle::{Library, VehicleMesh, build};

const BUS_AND_ROADSTER: &str = "\
volvo\tb10mb\t1990\tbus\tbus\t11000\t2500\t3050\t5600
mazda\tmx-5\t2017\tpassenger-car\tconvertible\t3915\t1735\t1230\t2310
";

#[test]
fn nothing_of_a_picture_shows_in_the_next() {
    let gpu = Gpu::open(&AdapterChoice::Cpu).unwrap();
    let library = Library::embedded().unwrap();
    let meshes: Vec<VehicleMesh> =
        vehicles_of(BUS_AND_ROADSTER).unwrap().iter().map(|vehicle| build(&library, vehicle).unwrap()).collect();
    let used = Studio::new(&gpu).unwrap();
    // At the model's own side, and with blocks so large that the vehicle ends inside one.
    for conditioning_side_px in [CONDITIONING_SIDE_PX, 64] {
        let settings = ShootSettings { conditioning_side_px, ..ShootSettings::default() };
        // First a vehicle that covers most of the image, and then one that covers little of it.
        used.shoot_with(&meshes[0], View::Front, settings).unwrap();
        let after = used.shoot_with(&meshes[1], View::Side, settings).unwrap();
        let alone = Studio::new(&gpu).unwrap().shoot_with(&meshes[1], View::Side, settings).unwrap();
        assert!(after.layers == alone.layers, "layers, {conditioning_side_px}");
        assert!(after.conditioning.planes == alone.conditioning.planes, "conditioning, {conditioning_side_px}");
    }
}
