//! Stable Diffusion folders with random weights (see `fixtures/make_tiny_checkpoints.py`) on the
//! real ONNX Runtime, compared with the output of diffusers' pipelines for the same weights.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail it by panicking")]

use crate::support::folders::copy;
use crate::support::runtime::runtime;
use cyclorama_core::BodyClass;
use cyclorama_core::View;
use cyclorama_node::causes::with_causes;
use cyclorama_node::commands::model_add;
use cyclorama_node::commands::model_add::ModelOptions;
use cyclorama_node::config::{Config, environment};
use cyclorama_node::diffusion::lock::{Lock, files_of};
use cyclorama_node::diffusion::stable_diffusion::Request;
use cyclorama_node::diffusion::stable_diffusion::settings::{Control, TextToImage};
use cyclorama_node::diffusion::{BaseShaded, DiffusionError, DiffusionModel, ModelFolder, Provider, StableDiffusion};
use cyclorama_node::studio::conditioning::CHANNELS;
use cyclorama_node::studio::{Conditioning, Layers};
use cyclorama_node::vehicle::typical::typical;
use serde::Deserialize;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// ONNX Runtime and torch only add in another order: they differ by a few millionths.
const TOLERANCE: f32 = 1e-4;
/// A 16-bit number is off by up to 2^-11, 5e-4 of itself. Guidance multiplies the model's error,
/// and the steps add it up: it has reached 4e-3.
const TOLERANCE_OF_HALF: f32 = 1e-2;

#[derive(Deserialize)]
struct Fixture {
    side_px: u32,
    pixel_step: usize,
    runs: Vec<Reference>,
}

/// A run of diffusers.
#[derive(Deserialize)]
struct Reference {
    checkpoint: String,
    /// The text of `scheduler_config.json`.
    scheduler: String,
    prompt: String,
    negative_prompt: Option<String>,
    steps: u32,
    strength: f64,
    guidance: f64,
    controlled: bool,
    control_scale: f64,
    noise_calls: usize,
    latents: Vec<f32>,
    picture: Vec<f32>,
}

fn fixtures() -> PathBuf {
    // Relative to the package's folder, in which tests run.
    Path::new("tests/fixtures/checkpoints").to_path_buf()
}

fn fixture() -> Fixture {
    serde_json::from_str(&std::fs::read_to_string(fixtures().join("runs.json")).unwrap()).unwrap()
}

/// Returns a folder of this checkpoint, without a lock file.
fn unlocked(checkpoint: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let whole = fixtures().join(checkpoint);
    if whole.is_dir() {
        copy(&whole, folder.path());
    } else {
        copy(&fixtures().join("sd"), folder.path());
        std::fs::remove_dir_all(folder.path().join("controlnet")).unwrap();
        copy(&fixtures().join("instead").join(checkpoint), folder.path());
    }
    folder
}

fn settings(reference: &Reference, side_px: u32) -> TextToImage {
    TextToImage {
        side_px,
        steps: reference.steps,
        guidance: reference.guidance,
        strength: reference.strength,
        sampler: None,
        control: reference.controlled.then_some(Control::Depth),
        control_scale: reference.control_scale,
        prompt: "a {model}".to_owned(),
        negative_prompt: reference.negative_prompt.clone(),
    }
}

fn lock(folder: &Path, settings: TextToImage) {
    let lock = Lock {
        version: 1,
        id: "tiny".to_owned(),
        license: "CC0-1.0".to_owned(),
        precision: "fp32".to_owned(),
        conditioning: Vec::new(),
        text_to_image: Some(settings),
        files: files_of(folder).unwrap(),
    };
    lock.write(folder).unwrap();
}

fn load(folder: &Path) -> Result<StableDiffusion, DiffusionError> {
    StableDiffusion::load(&runtime(), Provider::Cpu, ModelFolder::open(folder)?)
}

/// Same as `wave` of the fixture's script.
fn wave(count: usize, step: f64, start: f64, scale: f64, middle: f64) -> Vec<f32> {
    (0..count).map(|i| (middle + scale * (step * i as f64 + start).sin()) as f32).collect()
}

fn request(reference: &Reference, side_px: u32) -> Request<'static> {
    let planes = 3 * (side_px * side_px) as usize;
    let control = if reference.controlled { wave(planes, 0.007, 1.1, 0.5, 0.5) } else { Vec::new() };
    let mut call = 0.0;
    let noise = move |count| {
        call += 1.0;
        wave(count, 0.71, 2.3 * (call - 1.0) + 0.5, 1.4, 0.0)
    };
    Request {
        picture: wave(planes, 0.013, 0.2, 0.5, 0.5),
        control,
        prompt: reference.prompt.clone(),
        noise: Box::new(noise),
        still_wanted: Box::new(|_| true),
    }
}

fn difference<'a>(found: impl IntoIterator<Item = &'a f32>, expected: &[f32]) -> f32 {
    let found: Vec<&f32> = found.into_iter().collect();
    assert_eq!(found.len(), expected.len());
    // Relative to the numbers' own size, which for latents is not that of an image.
    let scale = expected.iter().fold(1.0_f32, |scale, v| scale.max(v.abs()));
    found.iter().zip(expected).map(|(a, b)| (*a - b).abs() / scale).fold(0.0, f32::max)
}

#[test]
fn latents_and_pictures_are_those_of_diffusers() {
    let fixture = fixture();
    for reference in &fixture.runs {
        let folder = unlocked(&reference.checkpoint);
        let scheduler = folder.path().join("scheduler/scheduler_config.json");
        std::fs::write(scheduler, &reference.scheduler).unwrap();
        lock(folder.path(), settings(reference, fixture.side_px));
        let mut model = load(folder.path()).unwrap();
        let asked = Rc::new(Cell::new(0));
        let mut given = request(reference, fixture.side_px);
        let (mut noise, counted) = (given.noise, asked.clone());
        given.noise = Box::new(move |count| {
            counted.set(counted.get() + 1);
            noise(count)
        });
        let changed = model.change(&mut [given]).unwrap().pop().unwrap().unwrap();
        let picture = model.decode(&changed.after).unwrap();
        let of_latents = difference(&changed.after, &reference.latents);
        let of_picture = difference(picture.iter().step_by(fixture.pixel_step), &reference.picture);
        let what = format!("{} with {}", reference.checkpoint, model.sampling());
        println!("{what}: latents {of_latents:.1e}, picture {of_picture:.1e}");
        assert!(of_latents < TOLERANCE && of_picture < TOLERANCE, "{what}: {of_latents} and {of_picture}");
        // Two calls for the start, and those of the steps; diffusers also draws noise for the last
        // step of some samplers, which adds none.
        assert!((reference.noise_calls - 1..=reference.noise_calls).contains(&asked.get()), "{what}: {}", asked.get());
    }
}

/// Returns the first run of this checkpoint, or of the one that it is another form of, with its
/// folder and its model.
fn loaded(checkpoint: &str) -> (Reference, tempfile::TempDir, StableDiffusion) {
    let fixture = fixture();
    let run_as = match checkpoint {
        "half" => "sd",
        "beside" => "plain",
        checkpoint => checkpoint,
    };
    let reference = fixture.runs.into_iter().find(|run| run.checkpoint == run_as).unwrap();
    let folder = unlocked(checkpoint);
    std::fs::write(folder.path().join("scheduler/scheduler_config.json"), &reference.scheduler).unwrap();
    lock(folder.path(), settings(&reference, fixture.side_px));
    let model = load(folder.path()).unwrap();
    (reference, folder, model)
}

#[test]
fn in_16_bits_latents_and_pictures_are_nearly_those_of_diffusers_in_32() {
    let fixture = fixture();
    for reference in fixture.runs.iter().filter(|run| run.checkpoint == "sd") {
        let folder = unlocked("half");
        std::fs::write(folder.path().join("scheduler/scheduler_config.json"), &reference.scheduler).unwrap();
        lock(folder.path(), settings(reference, fixture.side_px));
        let mut model = load(folder.path()).unwrap();
        assert_eq!(model.precision(), "fp16");
        let changed = model.change(&mut [request(reference, fixture.side_px)]).unwrap().pop().unwrap().unwrap();
        let picture = model.decode(&changed.after).unwrap();
        let of_latents = difference(&changed.after, &reference.latents);
        let of_picture = difference(picture.iter().step_by(fixture.pixel_step), &reference.picture);
        println!("{}: latents {of_latents:.1e}, picture {of_picture:.1e}", model.sampling());
        assert!(of_latents < TOLERANCE_OF_HALF && of_picture < TOLERANCE_OF_HALF, "{of_latents} and {of_picture}");
        assert!(of_latents > TOLERANCE, "it was computed in 32 bits");
    }
}

#[test]
fn weights_in_a_file_beside_the_graph_are_the_same_model() {
    let change = |checkpoint: &str| {
        let (reference, folder, mut model) = loaded(checkpoint);
        let changed = model.change(&mut [request(&reference, 64)]).unwrap().pop().unwrap().unwrap();
        let picture = model.decode(&changed.after).unwrap();
        let listed = ModelFolder::open(folder.path()).unwrap().files().to_vec();
        (changed.after, picture, listed)
    };
    let ((latents, picture, _), (same_latents, same_picture, listed)) = (change("plain"), change("beside"));
    assert!(latents == same_latents && picture == same_picture, "bit for bit");
    assert!(listed.iter().any(|file| file.path == "unet/model.onnx_data"), "{listed:?}");
}

/// A file that the lock file does not list is not read, even if a graph refers to it.
#[test]
fn a_graph_reads_no_weights_from_outside_its_folder() {
    let (reference, _, _) = loaded("plain");
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("model");
    copy(unlocked("beside").path(), &folder);
    std::fs::write(folder.join("scheduler/scheduler_config.json"), &reference.scheduler).unwrap();
    std::fs::rename(folder.join("unet/model.onnx_data"), parent.path().join("abcd.data")).unwrap();
    let graph = std::fs::read(folder.join("unet/model.onnx")).unwrap();
    let (name, elsewhere) = (b"model.onnx_data", b"../../abcd.data");
    let mut moved = graph.clone();
    for place in 0..graph.len() - name.len() {
        if graph[place..].starts_with(name) {
            moved[place..place + name.len()].copy_from_slice(elsewhere);
        }
    }
    assert_ne!(graph, moved);
    std::fs::write(folder.join("unet/model.onnx"), moved).unwrap();
    lock(&folder, settings(&reference, 64));
    let error = with_causes(&load(&folder).map(drop).unwrap_err());
    assert!(error.contains("unet/model.onnx") && error.contains("abcd.data"), "{error}");
}

#[test]
fn what_answers_with_no_numbers_is_named() {
    let (reference, _folder, mut model) = loaded("sd");
    let usual = || request(&reference, 64);
    let no_numbers = |count| vec![f32::NAN; count];
    let mut call = 0;
    let later_noise = move |count| {
        call += 1;
        if call == 1 { vec![0.0; count] } else { no_numbers(count) }
    };
    for (request, graph) in [
        (Request { picture: no_numbers(3 * 64 * 64), ..usual() }, "vae_encoder/model.onnx"),
        (Request { noise: Box::new(later_noise), ..usual() }, "unet/model.onnx"),
    ] {
        // The request is processed together with one that has nothing wrong with it.
        let mut changed = model.change(&mut [request, usual()]).unwrap();
        assert!(changed.pop().unwrap().is_ok(), "{graph}");
        let error = changed.pop().unwrap().unwrap_err();
        assert!(matches!(error, DiffusionError::NotFinite { .. }) && error.to_string().contains(graph), "{error}");
    }
    let error = model.decode(&no_numbers(reference.latents.len())).unwrap_err().to_string();
    assert!(error.contains("vae_decoder/model.onnx of model `tiny`"), "{error}");
}

/// Other models would be left without a step to take.
#[test]
fn a_latent_consistency_model_takes_all_its_steps_whatever_the_strength() {
    let (reference, folder, _) = loaded("lcm");
    for (steps, strength) in [(1, 0.5), (2, 0.2)] {
        lock(folder.path(), TextToImage { steps, strength, ..settings(&reference, 64) });
        let mut model = load(folder.path()).unwrap();
        assert_eq!(model.steps(), steps as usize);
        model.change(&mut [request(&reference, 64)]).unwrap().pop().unwrap().unwrap();
    }
}

#[test]
fn a_batch_changes_each_picture_as_it_would_be_alone() {
    for checkpoint in ["sd", "fused", "lcm", "sdxl"] {
        let (reference, _folder, mut model) = loaded(checkpoint);
        let requests = || {
            let usual = || request(&reference, 64);
            let darker = Request { picture: vec![0.2; 3 * 64 * 64], prompt: "a van".to_owned(), ..usual() };
            let mut asked = 0;
            let still_wanted = move |_| {
                asked += 1;
                asked < 2
            };
            [usual(), Request { still_wanted: Box::new(still_wanted), ..usual() }, darker]
        };
        let alone: Vec<Vec<f32>> = [0, 2]
            .map(|place| {
                let request = requests().into_iter().nth(place).unwrap();
                model.change(&mut [request]).unwrap().pop().unwrap().unwrap().after
            })
            .into();
        let together = model.change(&mut requests()).unwrap();
        let [first, left, last] = together.as_slice() else { panic!("{checkpoint}: {} answers", together.len()) };
        assert!(matches!(left, Err(DiffusionError::Cancelled)), "{checkpoint}: {left:?}");
        for (found, expected) in [(first, &alone[0]), (last, &alone[1])] {
            let found = difference(&found.as_ref().unwrap().after, expected);
            assert!(found < TOLERANCE, "{checkpoint}: {found}");
        }
        assert!(difference(&alone[0], &alone[1]) > 0.01, "{checkpoint}: prompt and picture matter");
    }
}

#[test]
fn its_picture_lights_the_layers_and_leaves_the_geometry_alone() {
    let (_, folder, _) = loaded("sd");
    let mut model = DiffusionModel::load(&runtime(), Provider::Cpu, folder.path(), &[]).unwrap();
    let side = 128;
    let count = (side * side) as usize;
    let covered: Vec<f32> = (0..count).map(|i| if i < count / 2 { 1.0 } else { 0.0 }).collect();
    let base = Layers {
        side_px: side,
        diffuse: covered.iter().map(|c| [0.5 * c; 3]).collect(),
        gloss: covered.iter().map(|c| [0.1 * c; 3]).collect(),
        rest: vec![[0.0; 3]; count],
        coverage: covered.clone(),
        paint: covered,
        shadow: vec![0.25; count],
        scale_um_per_px: None,
    };
    let conditioning = Conditioning { side_px: 64, planes: vec![0.0; CHANNELS * 64 * 64] };
    let vehicle = typical(BodyClass::Sedan);
    let mut light = |seed: u64, attempt: u32| {
        let mut lit = base.clone();
        let (conditioning, vehicle) = (&conditioning, &vehicle);
        let still_wanted = Box::new(|_| true);
        let picture = BaseShaded {
            base: Box::new(|| Ok(&mut lit)),
            conditioning,
            vehicle,
            view: View::Front,
            seed,
            still_wanted,
        };
        model.light(vec![picture], attempt).unwrap().pop().unwrap().unwrap();
        lit
    };
    let lit = light(1, 0);
    assert_eq!((&lit.coverage, &lit.paint, &lit.shadow), (&base.coverage, &base.paint, &base.shadow));
    assert_ne!(lit.diffuse, base.diffuse);
    assert!(lit.rest.iter().flatten().all(|v| *v == 0.0), "nothing of it is unpainted");
    assert_eq!(lit, light(1, 0), "the same seed gives the same light");
    assert_ne!(lit, light(2, 0));
    assert_ne!(lit, light(1, 1), "a repetition is another one");
}

fn files(folder: &Path) -> Vec<String> {
    files_of(folder).unwrap().into_iter().map(|file| file.path).collect()
}

/// Exchanges two files.
fn swap(folder: &Path, one: &str, other: &str) {
    let (one, other, aside) = (folder.join(one), folder.join(other), folder.join("aside"));
    std::fs::rename(&one, &aside).unwrap();
    std::fs::rename(&other, &one).unwrap();
    std::fs::rename(&aside, &other).unwrap();
}

fn truncate(path: &Path) {
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();
}

#[test]
fn a_locked_folder_names_the_file_that_is_gone_cut_off_or_not_in_its_place() {
    for checkpoint in ["sd", "sdxl", "beside"] {
        let (_, folder, _) = loaded(checkpoint);
        let folder = folder.path();
        let mut paths = files(folder);
        assert!(paths.len() > 14, "{paths:?}");
        paths.push("cyclorama.lock.json".to_owned());
        let open = || ModelFolder::open(folder).map(drop).map_err(|error| with_causes(&error));
        for file in &paths {
            let path = folder.join(file);
            let bytes = std::fs::read(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            let error = open().unwrap_err();
            assert!(error.contains(file), "without {file}: {error}");
            std::fs::write(&path, &bytes).unwrap();
            truncate(&path);
            let error = open().unwrap_err();
            assert!(error.contains(file), "half of {file}: {error}");
            std::fs::write(&path, &bytes).unwrap();
        }
        for (one, other) in paths.iter().zip(&paths[1..]) {
            let same = std::fs::read(folder.join(one)).unwrap() == std::fs::read(folder.join(other)).unwrap();
            swap(folder, one, other);
            match open() {
                Ok(()) => assert!(same, "{one} and {other} differ"),
                Err(error) => assert!(error.contains(one) || error.contains(other), "{one} and {other}: {error}"),
            }
            swap(folder, one, other);
        }
        open().unwrap();
    }
}

/// Runs `model add` up to the self-test, which these models are not meant to pass.
fn add(folder: &Path, wishes: ModelOptions) -> String {
    let config = Config::load(None, environment).unwrap().local;
    let error = with_causes(&model_add::add(&config, folder, wishes).unwrap_err());
    assert!(!folder.join("cyclorama.lock.json").exists(), "a lock file is left behind after: {error}");
    error
}

fn depth() -> ModelOptions {
    ModelOptions { control: Some(Control::Depth), ..ModelOptions::default() }
}

#[test]
fn adding_a_folder_names_the_file_that_is_missing_or_broken() {
    // No code reads these files, so a model loads without them.
    let spare: BTreeSet<&str> = [
        "controlnet/config.json",
        "vae_encoder/config.json",
        "tokenizer/special_tokens_map.json",
        "tokenizer_2/special_tokens_map.json",
    ]
    .into();
    let whole = unlocked("sdxl");
    for file in files(whole.path()).iter().filter(|file| !spare.contains(file.as_str())) {
        let folder = unlocked("sdxl");
        std::fs::remove_file(folder.path().join(file)).unwrap();
        let error = add(folder.path(), depth());
        assert!(error.contains(file), "without {file}: {error}");
        let folder = unlocked("sdxl");
        truncate(&folder.path().join(file));
        let error = add(folder.path(), depth());
        assert!(error.contains(file), "half of {file}: {error}");
    }
    // Weights in a file of their own.
    for damage in [|path: &Path| std::fs::remove_file(path).unwrap(), truncate] {
        let folder = unlocked("beside");
        damage(&folder.path().join("unet/model.onnx_data"));
        let error = add(folder.path(), ModelOptions::default());
        assert!(error.contains("unet/model.onnx_data"), "{error}");
    }
    let graphs: Vec<String> = files(whole.path()).into_iter().filter(|file| file.ends_with(".onnx")).collect();
    for (place, one) in graphs.iter().enumerate() {
        for other in &graphs[place + 1..] {
            let folder = unlocked("sdxl");
            swap(folder.path(), one, other);
            let error = add(folder.path(), depth());
            assert!(error.contains(one) || error.contains(other), "{one} and {other}: {error}");
            assert!(error.contains("input `") || error.contains("output"), "which tensor? {error}");
        }
    }
}

#[test]
fn adding_says_what_is_wrong_with_a_wish() {
    let cases: [(&str, ModelOptions, &str); 12] = [
        ("sd", ModelOptions::default(), "give --control (depth, normal or segmentation), its input"),
        ("plain", depth(), "`text_to_image.control`, and the pipeline has no ControlNet"),
        ("fused", ModelOptions::default(), "`text_to_image.control` does not say of what"),
        ("sd", ModelOptions { side: Some(96), ..depth() }, "`text_to_image.side_px` is 96"),
        (
            "sd",
            ModelOptions { side: Some(128), ..depth() },
            "unet/model.onnx does not have the expected tensors: input `sample`",
        ),
        ("sd", ModelOptions { steps: Some(0), ..depth() }, "`text_to_image.steps` is 0"),
        ("sd", ModelOptions { guidance: Some(51.0), ..depth() }, "`text_to_image.guidance` is 51"),
        ("sd", ModelOptions { strength: Some(0.0), ..depth() }, "`text_to_image.strength` is 0"),
        (
            "sd",
            ModelOptions { strength: Some(0.1), steps: Some(4), ..depth() },
            "`strength` is 0.1; enough to leave a step",
        ),
        (
            "sd",
            ModelOptions { sampler: Some("PNDMScheduler".to_owned()), ..depth() },
            "`_class_name` is \"PNDMScheduler\"",
        ),
        ("sd", ModelOptions { prompt: Some("a {colour} car".to_owned()), ..depth() }, "names `{colour}`"),
        ("sd", ModelOptions { id: Some("My Model".to_owned()), ..depth() }, "its `id` `My Model`"),
    ];
    for (checkpoint, wishes, says) in cases {
        let error = add(unlocked(checkpoint).path(), wishes);
        assert!(error.contains(says), "{checkpoint}: {error}");
    }
    // A file that is read as a whole must have a bounded size.
    for (file, max) in [("README.md", 1 << 20), ("tokenizer/vocab.json", 32 << 20), ("tokenizer/merges.txt", 32 << 20)]
    {
        let folder = unlocked("sd");
        std::fs::File::create(folder.path().join(file)).unwrap().set_len(max + 1).unwrap();
        let error = add(folder.path(), depth());
        assert!(error.contains(file) && error.contains(&format!("larger than {max} bytes")), "{error}");
    }
    let (_, locked, _) = loaded("sd");
    let before = std::fs::read(locked.path().join("cyclorama.lock.json")).unwrap();
    let config = Config::load(None, environment).unwrap().local;
    for (replace, says) in [(false, "already has a cyclorama.lock.json"), (true, "`text_to_image.steps` is 0")] {
        let wishes = ModelOptions { replace, steps: Some(0), ..depth() };
        let error = with_causes(&model_add::add(&config, locked.path(), wishes).unwrap_err());
        assert!(error.contains(says), "{error}");
        assert_eq!(std::fs::read(locked.path().join("cyclorama.lock.json")).unwrap(), before);
    }
}
