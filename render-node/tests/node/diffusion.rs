//! Loads and runs model folders of a few hundred bytes (see `fixtures/make_tiny_models.py`) on the
//! real ONNX Runtime.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail it by panicking")]

use crate::support::folders;
use crate::support::runtime::runtime;
use cyclorama_core::{BodyClass, Vehicle, View};
use cyclorama_node::diffusion::{
    BaseShaded, ContinueCheck, DiffusionError, DiffusionModel, LockError, ModelFolder, OnnxRuntime, Provider,
    ProviderChoice, light_space,
};
use cyclorama_node::studio::{Conditioning, Layers};
use cyclorama_node::vehicle::typical::typical;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const SIDE: usize = 32;
const SEED: u64 = 7;
const CONDITIONING: [&str; 2] = ["first", "second"];

fn fixture(name: &str) -> PathBuf {
    // Relative to the package's folder, in which tests run.
    Path::new("tests/fixtures").join(name)
}

fn load(name: &str) -> Result<DiffusionModel, DiffusionError> {
    DiffusionModel::load(&runtime(), Provider::Cpu, &fixture(name), &CONDITIONING)
}

/// Layers with half of the image painted and half not, all covered.
fn layers() -> Layers {
    let count = 4 * SIDE * SIDE;
    let paint: Vec<f32> = (0..count).map(|i| if i % (2 * SIDE) < SIDE { 1.0 } else { 0.0 }).collect();
    Layers {
        side_px: 2 * SIDE as u32,
        diffuse: paint.iter().map(|p| [0.5 * p; 3]).collect(),
        gloss: paint.iter().map(|p| [0.1 * p; 3]).collect(),
        rest: paint.iter().map(|p| [0.2 * (1.0 - p); 3]).collect(),
        coverage: vec![1.0; count],
        paint,
        shadow: vec![0.5; count],
        scale_um_per_px: None,
    }
}

/// The first plane is 2, the second is 1, everywhere.
fn conditioning() -> Vec<f32> {
    [vec![2.0; SIDE * SIDE], vec![1.0; SIDE * SIDE]].concat()
}

fn unlit<'a>(
    base: &'a mut Layers,
    conditioning: &'a Conditioning,
    seed: u64,
    still_wanted: Box<ContinueCheck<'a>>,
) -> BaseShaded<'a> {
    // A light model does not use the vehicle.
    static VEHICLE: LazyLock<Vehicle> = LazyLock::new(|| typical(BodyClass::Sedan));
    BaseShaded { base: Box::new(|| Ok(base)), conditioning, vehicle: &VEHICLE, view: View::Front, seed, still_wanted }
}

fn channels(planes: &[f32]) -> Conditioning {
    Conditioning { side_px: SIDE as u32, planes: planes.to_vec() }
}

/// Lights one image. `still_wanted` is called before each step with the ratio of steps done.
fn light(
    model: &mut DiffusionModel,
    base: &mut Layers,
    conditioning: &[f32],
    still_wanted: impl FnMut(f32) -> bool,
) -> Result<(), DiffusionError> {
    let conditioning = channels(conditioning);
    model.light(vec![unlit(base, &conditioning, SEED, Box::new(still_wanted))], 0).unwrap().pop().unwrap()
}

#[test]
fn two_steps_add_the_residual_the_formula_gives() {
    let mut lit = layers();
    let mut ratios = Vec::new();
    light(&mut load("tiny-light").unwrap(), &mut lit, &conditioning(), |ratio| {
        ratios.push(ratio);
        true
    })
    .unwrap();
    assert_eq!(ratios, [0.0, 0.5]);

    // The fixture's model: x0[c] = 0.25 x[c] + t + 2 (c + 1) - 1, from zeros, at t = 1 and t =
    // 0.25.
    let residual = |c: usize| {
        let told = 2.0 * (c as f32 + 1.0) - 1.0;
        let first = told + 1.0;
        let x = first + 0.25 * (0.0 - first);
        0.01 * (0.25 * x + 0.25 + told)
    };
    let expected = |light: f32, c: usize| light_space::decode(light_space::encode(light) + residual(c));
    let (painted, other) = (10, SIDE + 20);
    for c in 0..3 {
        assert!((lit.diffuse[painted][c] - expected(0.5, c)).abs() < 1e-5);
        assert!((lit.gloss[painted][c] - expected(0.1, 3 + c)).abs() < 1e-5);
        assert!((lit.rest[other][c] - expected(0.2, 6 + c)).abs() < 1e-5);
    }
    assert_eq!((lit.diffuse[other], lit.gloss[other], lit.rest[painted]), ([0.0; 3], [0.0; 3], [0.0; 3]));
    assert!((lit.shadow[painted] - (0.5 + residual(9))).abs() < 1e-5);
}

#[test]
fn a_job_nobody_wants_stops_between_steps_and_leaves_the_layers_alone() {
    let mut lit = layers();
    let mut asked = 0;
    let stopped = light(&mut load("tiny-light").unwrap(), &mut lit, &conditioning(), |_| {
        asked += 1;
        asked < 2
    });
    assert!(matches!(stopped, Err(DiffusionError::Cancelled)));
    assert_eq!((asked, lit), (2, layers()));
}

#[test]
fn pictures_of_another_size_and_values_that_are_not_numbers_are_errors() {
    let mut model = load("tiny-light").unwrap();
    for conditioning in [vec![], vec![0.0; SIDE * SIDE], vec![0.0; 3 * SIDE * SIDE]] {
        let refused = light(&mut model, &mut layers(), &conditioning, |_| true);
        assert!(matches!(refused, Err(DiffusionError::Picture { .. })));
    }
    let poisoned = light(&mut model, &mut layers(), &vec![f32::NAN; 2 * SIDE * SIDE], |_| true);
    assert!(matches!(poisoned, Err(DiffusionError::NotFinite { .. })));
}

#[test]
fn a_batch_lights_each_picture_as_it_would_be_alone() {
    let noisy = noisy();
    let mut model = DiffusionModel::load(&runtime(), Provider::Cpu, noisy.path(), &CONDITIONING).unwrap();
    assert_eq!(model.batch_max(), None);
    let brighter = [vec![3.0; SIDE * SIDE], vec![0.5; SIDE * SIDE]].concat();
    let poisoned = vec![f32::NAN; 2 * SIDE * SIDE];
    let mut alone = [layers(), layers()];
    for (seed, (base, conditioning)) in (SEED..).zip(alone.iter_mut().zip([conditioning(), brighter.clone()])) {
        let conditioning = channels(&conditioning);
        model.light(vec![unlit(base, &conditioning, seed, Box::new(|_| true))], 0).unwrap().pop().unwrap().unwrap();
    }
    let mut otherwise = layers();
    light(&mut model, &mut otherwise, &brighter, |_| true).unwrap();
    assert_ne!(otherwise, alone[1], "the seed matters");

    // One image that cannot be lit, one that is cancelled after the first step and one of another
    // size take no other with them.
    let mut lit = [layers(), layers(), layers(), layers(), layers()];
    let (usual, brighter) = (channels(&conditioning()), channels(&brighter));
    let (poisoned, none, mut asked) = (channels(&poisoned), channels(&[]), 0);
    let given: [(&Conditioning, u64, Box<ContinueCheck<'_>>); 5] = [
        (&usual, SEED, Box::new(|_| true)),
        (&poisoned, 1, Box::new(|_| true)),
        (
            &usual,
            2,
            Box::new(move |_| {
                asked += 1;
                asked < 2
            }),
        ),
        (&none, 3, Box::new(|_| true)),
        (&brighter, SEED + 1, Box::new(|_| true)),
    ];
    let batch: Vec<BaseShaded<'_>> = lit
        .iter_mut()
        .zip(given)
        .map(|(base, (conditioning, seed, still_wanted))| unlit(base, conditioning, seed, still_wanted))
        .collect();
    let results = model.light(batch, 0).unwrap();
    assert!(
        matches!(
            results.as_slice(),
            [
                Ok(()),
                Err(DiffusionError::NotFinite { .. }),
                Err(DiffusionError::Cancelled),
                Err(DiffusionError::Picture { .. }),
                Ok(())
            ]
        ),
        "{results:?}"
    );
    assert_eq!(lit, [alone[0].clone(), layers(), layers(), layers(), alone[1].clone()]);
}

#[test]
fn other_tensors_are_refused_at_load_by_name() {
    for (name, says) in [
        ("tiny-renamed-input", "it has an input `latent`"),
        ("tiny-three-channels", "input `conditioning` is"),
        ("tiny-one-plane", "output `x0` is"),
    ] {
        let error = load(name).err().expect(name).to_string();
        assert!(error.contains(name) && error.contains(says), "{error}");
    }
}

#[test]
fn other_conditioning_is_refused_by_channel() {
    for (expected, says) in [
        (vec!["first", "third"], "channel 1 is `second` there and `third` here"),
        (vec!["second", "first"], "channel 0 is `first` there and `second` here"),
        (vec!["first"], "it takes 2 channels and this version makes 1"),
    ] {
        let error = DiffusionModel::load(&runtime(), Provider::Cpu, &fixture("tiny-light"), &expected)
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// Returns a copy of the good fixture that a test may spoil.
fn copy() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    folders::copy(&fixture("tiny-light"), copy.path());
    copy
}

/// Returns a copy of the good fixture that starts from noise.
fn noisy() -> tempfile::TempDir {
    let folder = copy();
    let read = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(folder.path().join(name)).unwrap()).unwrap()
    };
    let (mut lock, mut scheduler) = (read("cyclorama.lock.json"), read("scheduler/scheduler_config.json"));
    scheduler["initial_noise_scale"] = 1.0.into();
    let scheduler = scheduler.to_string();
    let files = lock["files"].as_array_mut().unwrap();
    let locked = files.iter_mut().find(|file| file["path"] == "scheduler/scheduler_config.json").unwrap();
    locked["bytes"] = scheduler.len().into();
    locked["sha256"] = hex::encode(Sha256::digest(&scheduler)).into();
    std::fs::write(folder.path().join("scheduler/scheduler_config.json"), scheduler).unwrap();
    std::fs::write(folder.path().join("cyclorama.lock.json"), lock.to_string()).unwrap();
    folder
}

/// Returns the message with which a good folder is refused after `spoil`; the message must name the
/// file.
fn refused(spoil: impl FnOnce(&Path)) -> String {
    let folder = copy();
    ModelFolder::open(folder.path()).unwrap();
    spoil(folder.path());
    ModelFolder::open(folder.path()).unwrap_err().to_string()
}

#[test]
fn a_changed_file_is_named_with_both_digests() {
    let mut found = String::new();
    let error = refused(|folder| {
        let path = folder.join("unet/model.onnx");
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        found = hex::encode(Sha256::digest(&bytes));
        std::fs::write(path, bytes).unwrap();
    });
    let locked = ModelFolder::open(&fixture("tiny-light")).unwrap();
    let expected = &locked.files().iter().find(|f| f.path == "unet/model.onnx").unwrap().sha256;
    assert!(
        error.starts_with("model `tiny-light`: unet/model.onnx has digest")
            && error.contains(&found)
            && error.contains(expected),
        "{error}"
    );
}

#[test]
fn every_other_damage_is_noticed() {
    let edit_lock = |folder: &Path, from: &str, to: &str| {
        let path = folder.join("cyclorama.lock.json");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from));
        std::fs::write(path, text.replacen(from, to, 1)).unwrap();
    };
    let error = refused(|f| std::fs::remove_file(f.join("cyclorama.lock.json")).unwrap());
    assert!(error.contains("there is no model in"), "{error}");
    let error = refused(|f| std::fs::remove_file(f.join("unet/model.onnx")).unwrap());
    assert!(error.contains("cannot read") && error.contains("unet/model.onnx"), "{error}");
    let error = refused(|f| std::fs::write(f.join("unet/weights.bin"), b"x").unwrap());
    assert!(error.contains("unet/weights.bin is in the folder, but not in its lock file"), "{error}");
    let error = refused(|f| edit_lock(f, "\"version\": 1", "\"version\": 2"));
    assert!(error.contains("`version` is 2"), "{error}");
    let error = refused(|f| edit_lock(f, "unet/model.onnx", "../model.onnx"));
    assert!(error.contains("`../model.onnx` is not a path inside the folder"), "{error}");
    let error = refused(|f| edit_lock(f, "\"bytes\": ", "\"bytes\": 1"));
    assert!(error.contains("has digest"), "{error}");
    let error = refused(|f| edit_lock(f, "{", "["));
    assert!(error.contains("cyclorama.lock.json is not a model file that this version supports"), "{error}");

    let notes = copy();
    std::fs::write(notes.path().join("README.md"), b"about this model").unwrap();
    let folder = ModelFolder::open(notes.path()).unwrap();
    let lock = std::fs::read(fixture("tiny-light").join("cyclorama.lock.json")).unwrap();
    assert_eq!((folder.id(), folder.digest()), ("tiny-light", hex::encode(Sha256::digest(lock)).as_str()));
    assert!(!matches!(ModelFolder::open(notes.path()), Err(LockError::ExtraFile { .. })), "notes need no entry");
}

#[test]
fn a_provider_that_the_library_lacks_is_an_error_and_never_another_in_its_place() {
    let runtime = runtime();
    for choice in [ProviderChoice::Auto, ProviderChoice::Only(Provider::Cpu)] {
        assert_eq!(runtime.provider(choice).unwrap(), Provider::Cpu);
    }
    for lacking in [Provider::Cuda, Provider::TensorRt, Provider::OpenVino] {
        let error = runtime.provider(ProviderChoice::Only(lacking)).unwrap_err().to_string();
        assert!(error.contains(&format!("has no provider `{lacking}`: ")) && error.ends_with("auto, cpu"), "{error}");
        // Nor does loading the model directly succeed.
        let loaded = DiffusionModel::load(&runtime, lacking, &fixture("tiny-light"), &CONDITIONING);
        let error = loaded.err().unwrap().to_string();
        assert!(error.starts_with(&format!("provider `{lacking}` of ONNX Runtime does not start")), "{error}");
    }
}

#[test]
fn a_missing_or_foreign_library_is_one_clear_line() {
    runtime();
    let missing = OnnxRuntime::load(Some(Path::new("/nowhere/libonnxruntime.so"))).err().unwrap().to_string();
    assert!(
        missing.contains("ORT_DYLIB_PATH") && missing.contains("/nowhere/libonnxruntime.so") && !missing.contains('\n'),
        "{missing}"
    );
    assert!(runtime().version().starts_with("1."));
}
