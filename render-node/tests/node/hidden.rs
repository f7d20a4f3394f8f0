//! A software adapter draws no more of a vehicle than the image shows, and the image stays the
//! same.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail it by panicking")]

use cyclorama_core::View;
use cyclorama_node::gpu::{AdapterChoice, Gpu};
use cyclorama_node::studio::{ShootSettings, Studio};
use cyclorama_node::vehicle::catalog_line::vehicles_of;
use cyclorama_node::vehicle::{Library, build};

/// Vehicles closed and open, tall and low, with spokes, slats and ladders.
const VEHICLES: &str = "\
volkswagen\tgolf\t2018\tpassenger-car\thatchback\t4258\t1790\t1492\t2620
jeep\twrangler\t2019\tmpv\toff-roader\t4237\t1875\t1868\t2459
mazda\tmx-5\t2017\tpassenger-car\tconvertible\t3915\t1735\t1230\t2310
volvo\tb10mb\t1990\tbus\tbus\t11000\t2500\t3050\t5600
honda\ttrx350g\t2004\tother\tother\t4200\t2000\t2700\t2400
";
/// Linear light that no eye sees, where 1 is a white card.
const LIGHT_MAX: f32 = 1.0 / 255.0;
/// Maximum number of pixels that may differ: a sample in a slit narrower than itself may see
/// something else at its bottom.
const DIFFERENT_PIXELS_MAX: usize = 20;

#[test]
fn what_is_left_out_cannot_be_seen() {
    let gpu = Gpu::open(&AdapterChoice::Cpu).unwrap();
    let studio = Studio::new(&gpu).unwrap();
    let library = Library::embedded().unwrap();
    for (number, vehicle) in vehicles_of(VEHICLES).unwrap().iter().enumerate() {
        let mesh = build(&library, vehicle).unwrap();
        // Each vehicle from two sides, so that all views occur.
        for view in [View::ALL[number % 6], View::ALL[(number + 2) % 6]] {
            let shot = studio.shoot(&mesh, view).unwrap();
            let whole = studio
                .shoot_with(&mesh, view, ShootSettings { draws_hidden: true, ..ShootSettings::default() })
                .unwrap();
            let what = format!("{}, {view}", vehicle.key());
            assert_eq!(shot.gbuffer_digest, whole.gbuffer_digest, "{what}: it names the whole vehicle");
            let (a, b) = (&shot.layers, &whole.layers);
            let differs = |x: f32, y: f32| (x - y).abs() > LIGHT_MAX;
            let colours = |i: usize| {
                [(&a.rest, &b.rest), (&a.diffuse, &b.diffuse), (&a.gloss, &b.gloss)].map(|(a, b)| (a[i], b[i]))
            };
            let different = (0..a.coverage.len())
                .filter(|i| {
                    differs(a.coverage[*i], b.coverage[*i])
                        || differs(a.paint[*i], b.paint[*i])
                        || colours(*i).iter().any(|(a, b)| (0..3).any(|c| differs(a[c], b[c])))
                })
                .count();
            assert!(different <= DIFFERENT_PIXELS_MAX, "{what}: {different} pixels");
            assert_eq!(a.shadow, b.shadow, "{what}");
        }
    }
}
