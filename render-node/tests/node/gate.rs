//! The quality gate through its public interface: a sound render passes, each kind of fault is
//! named, and a render whose model light fails twice is made in the base shading, with a receipt
//! that says so.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail it by panicking")]

use crate::support::runtime::library;
use cyclorama_core::encoding::Pixmap;
use cyclorama_core::traces::Trace;
use cyclorama_core::wire::Unparsed;
use cyclorama_core::{BodyClass, Colour, Dimensions, Paint, Vehicle, VehicleType, View};
use cyclorama_node::config::LocalConfig;
use cyclorama_node::diffusion::ProviderChoice;
use cyclorama_node::engine::Engine;
use cyclorama_node::engine::order::RenderRequest;
use cyclorama_node::engine::renderer::Renderer;
use cyclorama_node::finish::{Lacquers, compose_on_cpu, round_as_stored};
use cyclorama_node::gate::{GateReport, LightReference, check_picture};
use cyclorama_node::gpu::{AdapterChoice, Gpu};
use cyclorama_node::studio::{Layers, Studio, StudioOutput};
use cyclorama_node::vehicle::{Library, build, typical::typical};
use std::path::Path;

fn shot() -> StudioOutput {
    let gpu = Gpu::open(&AdapterChoice::Best).unwrap();
    let mesh = build(&Library::embedded().unwrap(), &typical(BodyClass::Hatchback)).unwrap();
    let mut shot = Studio::new(&gpu).unwrap().shoot(&mesh, View::FrontThreeQuarter).unwrap();
    round_as_stored(&mut shot.layers);
    shot
}

/// The upper edge of this vehicle's bed is a long line of light, less than a pixel wide.
#[test]
fn an_outline_that_catches_light_is_no_fault() {
    let gpu = Gpu::open(&AdapterChoice::Best).unwrap();
    let mesh = build(&Library::embedded().unwrap(), &f_150()).unwrap();
    let mut shot = Studio::new(&gpu).unwrap().shoot(&mesh, View::Side).unwrap();
    round_as_stored(&mut shot.layers);
    for colour in Colour::ALL {
        let report = check_picture(
            &Lacquers::over(&shot.layers),
            *colour,
            &compose_on_cpu(&Lacquers::over(&shot.layers), *colour).unwrap(),
        );
        assert!(report.passes(), "{colour}: {report:?}");
    }
}

fn f_150() -> Vehicle {
    Vehicle {
        make: "ford".into(),
        model: "f-150".into(),
        year: 2020,
        vehicle_type: VehicleType::Truck,
        body: BodyClass::Pickup,
        dimensions: Dimensions {
            length_mm: 5839,
            width_mm: 2029,
            height_mm: 1920,
            wheelbase_mm: 3680,
            front_track_mm: 1735,
        },
    }
}

fn named(report: &GateReport) -> Vec<String> {
    report.findings.iter().map(|finding| finding.split(" is ").next().unwrap().to_owned()).collect()
}

/// Returns numbers from -1 to 1 without a pattern.
fn noise(i: usize) -> f32 {
    let mixed = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31).wrapping_mul(0xD1B5_4A32_D192_ED03);
    (mixed >> 40) as f32 / (1 << 23) as f32 - 1.0
}

fn blurred(plane: &[[f32; 3]], side: usize, radius: usize) -> Vec<[f32; 3]> {
    let along = |plane: &[[f32; 3]], step: usize| -> Vec<[f32; 3]> {
        let near = |i: usize| (0..=2 * radius).map(move |k| (i + k * step).wrapping_sub(radius * step));
        let mean = |i: usize, c: usize| {
            near(i).filter_map(|at| plane.get(at)).map(|pixel| pixel[c]).sum::<f32>() / (2 * radius + 1) as f32
        };
        (0..plane.len()).map(|i| [0, 1, 2].map(|c| mean(i, c))).collect()
    };
    along(&along(plane, 1), side)
}

#[test]
fn light_that_a_model_spoils_is_named() {
    type Fault = fn(&mut Layers);
    let faults: [(&str, Fault, &[&str]); 8] = [
        ("nothing", |_| {}, &[]),
        (
            "no fault: edges in a mirror image, which the base shading does not know",
            |layers| {
                let side = layers.side_px as usize;
                for (i, light) in layers.diffuse.iter_mut().enumerate() {
                    let (x, y) = ((i % side) as f32, (i / side) as f32);
                    let below = y - 0.3 * x + 40.0 * (x / 150.0).sin();
                    // Edges four pixels wide, one every fifty pixels.
                    let edge = (25.0 - (below.rem_euclid(100.0) - 50.0).abs()).clamp(-2.0, 2.0);
                    *light = light.map(|value| value * (0.8 + 0.1 * edge));
                }
            },
            &[],
        ),
        (
            "a bright outline",
            |layers| {
                for (i, coverage) in layers.coverage.iter().enumerate() {
                    if (0.05..0.95).contains(coverage) {
                        layers.rest[i] = [1.5 * coverage; 3];
                    }
                }
            },
            &["outline"],
        ),
        ("a value that is not a number", |layers| layers.gloss[500_000] = [f32::NAN; 3], &["strange_values"]),
        ("a negative light", |layers| layers.rest[500_000] = [-0.1; 3], &["strange_values"]),
        (
            "mottled paint",
            |layers| {
                let side = layers.side_px as usize;
                for (i, light) in layers.diffuse.iter_mut().enumerate() {
                    // Blotches of 4 px, because single pixels would be lost at half the size.
                    *light = light.map(|value| value * (1.0 + 0.08 * noise(i / side / 4 * side + i % side / 4)));
                }
            },
            &["mottling"],
        ),
        (
            "blotches, as of a model that knows nothing",
            |layers| {
                let side = layers.side_px as usize;
                let blotches: Vec<[f32; 3]> =
                    (0..side * side).map(|i| [noise(i / side / 16 * side + i % side / 16); 3]).collect();
                for (light, blotch) in layers.diffuse.iter_mut().zip(blurred(&blotches, side, 6)) {
                    *light = light.map(|value| value * (1.0 + 0.6 * blotch[0]));
                }
            },
            &["mottling"],
        ),
        (
            "blurred light",
            |layers| {
                let side = layers.side_px as usize;
                for plane in [&mut layers.diffuse, &mut layers.gloss, &mut layers.rest] {
                    *plane = blurred(plane, side, 8);
                }
            },
            &["sharpness", "outline"],
        ),
    ];
    let shot = shot();
    let reference = LightReference::of(&shot.layers, &shot.conditioning);
    for (fault, spoil, expected) in faults {
        let mut layers = shot.layers.clone();
        spoil(&mut layers);
        assert_eq!(named(&reference.check(&layers)), expected, "{fault}");
    }
}

#[test]
fn a_picture_that_is_not_its_layers_or_its_paint_is_named() {
    type Fault = fn(&Layers, usize, [u8; 4]) -> [u8; 4];
    let faults: [(&str, Fault, &[&str]); 8] = [
        ("nothing", |_, _, pixel| pixel, &[]),
        (
            "holes",
            |_, i, [r, g, b, a]| if i % 1024 / 64 % 2 == 0 { [r, g, b, 0] } else { [r, g, b, a] },
            &["alpha_error", "silhouette"],
        ),
        ("half as opaque as it should be", |_, _, [r, g, b, a]| [r, g, b, a / 2], &["alpha_error", "silhouette"]),
        ("blank", |_, _, [.., a]| [120, 121, 122, a], &["contrast", "form", "rim", "paint_difference"]),
        (
            "a white rim",
            |layers, i, pixel| {
                if (0.05..0.95).contains(&layers.coverage[i]) { [255, 255, 255, pixel[3]] } else { pixel }
            },
            &["rim"],
        ),
        ("another paint", |_, _, [r, g, b, a]| [b, g, r, a], &["paint_difference"]),
        (
            "paint without light",
            |layers, i, pixel| if layers.paint[i] > 0.99 { [30, 0, 0, pixel[3]] } else { pixel },
            &["form", "paint_difference"],
        ),
        (
            "paint burnt out",
            |layers, i, pixel| if layers.paint[i] > 0.99 { [255, 255, 255, pixel[3]] } else { pixel },
            &["clipped", "form", "paint_difference"],
        ),
    ];
    let layers = shot().layers;
    for (fault, spoil, expected) in faults {
        let mut picture = compose_on_cpu(&Lacquers::over(&layers), Colour::Red).unwrap();
        let spoilt: Vec<u8> = picture.pixels().enumerate().flat_map(|(i, pixel)| spoil(&layers, i, pixel)).collect();
        picture = Pixmap::from_rgba(picture.width(), picture.height(), spoilt).unwrap();
        let found = named(&check_picture(&Lacquers::over(&layers), Colour::Red, &picture));
        let missing: Vec<_> = expected.iter().filter(|name| !found.contains(&(**name).to_owned())).collect();
        assert!(
            missing.is_empty() && found.is_empty() == expected.is_empty(),
            "{fault}: found {found:?}, not {missing:?}"
        );
    }
    for colour in Colour::ALL {
        let report = check_picture(
            &Lacquers::over(&layers),
            *colour,
            &compose_on_cpu(&Lacquers::over(&layers), *colour).unwrap(),
        );
        assert!(report.passes() && report.figures.contains_key("paint_difference"), "{colour}: {report:?}");
    }
    let small = Pixmap::from_rgba(1, 1, vec![0; 4]).unwrap();
    assert!(check_picture(&Lacquers::over(&layers), Colour::Red, &small).findings[0].contains("1 pixels"));
}

/// In every finish, with the ground shadow and without, a correctly composed image passes, and no
/// other paint passes for it.
#[test]
fn any_paint_passes_as_itself_alone() {
    let layers = shot().layers;
    // The second hex lies 60 degrees of hue away, or for a grey is a colour of its lightness.
    let hexes = [
        ("#ffffff", "#c8d8ff"),
        ("#000000", "#00285a"),
        ("#ff0000", "#ffff00"),
        ("#00ff00", "#00ffff"),
        ("#0000ff", "#ff00ff"),
        ("#808080", "#a07850"),
    ];
    for (hex, other) in hexes {
        for finish in ["solid", "metallic", "pearl", "matt"] {
            let [shown, hidden] = ["", "-no-shadow"].map(|shadow| paint(&format!("{hex}-{finish}{shadow}")));
            let pictures = [shown, hidden].map(|paint| compose_on_cpu(&Lacquers::over(&layers), paint).unwrap());
            for (paint, picture) in [shown, hidden].into_iter().zip(&pictures) {
                let report = check_picture(&Lacquers::over(&layers), paint, picture);
                assert!(report.passes() && report.figures.contains_key("paint_difference"), "{paint}: {report:?}");
            }
            assert!(
                named(&check_picture(&Lacquers::over(&layers), shown, &pictures[1]))
                    .contains(&"alpha_error".to_owned()),
                "{shown}"
            );
            assert!(
                named(&check_picture(&Lacquers::over(&layers), hidden, &pictures[0]))
                    .contains(&"alpha_error".to_owned()),
                "{hidden}"
            );
            let in_other = compose_on_cpu(&Lacquers::over(&layers), paint(&format!("{other}-{finish}"))).unwrap();
            let report = check_picture(&Lacquers::over(&layers), shown, &in_other);
            assert!(named(&report).contains(&"paint_difference".to_owned()), "{shown} in {other}: {report:?}");
        }
    }
}

fn paint(text: &str) -> Paint {
    text.parse().unwrap()
}

fn config(models: &Path) -> LocalConfig {
    LocalConfig {
        studios: None,
        batch_max: 1,
        memory_watermark: 90,
        models: models.to_path_buf(),
        onnx_runtime: Some(library()),
        adapter: AdapterChoice::Best,
        provider: ProviderChoice::Auto,
        sheets: None,
    }
}

#[test]
fn what_the_gate_refuses_is_tried_again_and_then_made_in_the_base_shading() {
    let fixtures = Path::new("tests/fixtures");
    for (model, light, refusals) in [
        (Path::new("../models/builtin").to_path_buf(), "diffusion", 0),
        (fixtures.join("darkening-from-zeros"), "diffusion", 1),
        (fixtures.join("darkening"), "base_shading", 2),
    ] {
        let mut renderer = Renderer::start(&config(&model)).unwrap();
        let order = RenderRequest {
            vehicle: typical(BodyClass::Hatchback),
            view: View::Side,
            colours: vec![Colour::Blue.into(), Colour::White.into()],
            pipeline: renderer.pipelines()[0].id.clone(),
            seed: 3,
            trace: Trace::none(),
        };
        let render = renderer.render(&order, &mut |_, _| true).unwrap();
        let receipt = Unparsed::from(&render.receipt).into_document();
        assert_eq!(receipt["light"], light, "{model:?}: {receipt}");
        let refused = receipt["quality"]["refused"].as_array().unwrap();
        assert_eq!(refused.len(), refusals, "{model:?}: {receipt}");
        assert!(refused.iter().all(|one| one["findings"].to_string().contains("silhouette")), "{receipt}");
        // Every image that is returned passes, whether the model or the base shading lit it.
        for (colour, picture) in &render.pictures {
            assert!(check_picture(&Lacquers::over(&render.layers), *colour, picture).passes(), "{model:?}");
        }
    }
}

#[test]
fn a_node_is_ready_when_its_models_have_passed_the_gate_and_not_before() {
    Engine::start(config(Path::new("../models/builtin")), 1).unwrap();
    let error = Engine::start(config(Path::new("tests/fixtures/darkening")), 1).err().unwrap().to_string();
    assert!(error.starts_with("the light of model `") && error.contains("silhouette"), "{error}");
}
