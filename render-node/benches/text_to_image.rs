//! `cargo bench -p cyclorama-node --bench text_to_image`: a text-to-image pipeline here and in
//! Python, on the same files, prompts and steps, each in a process of its own. The parts that only
//! a render has (geometry, layers, paint) are left out.
//!
//! CYCLORAMA_BENCH_CHECKPOINT is a folder that `models/random_checkpoint.py make` has written,
//! CYCLORAMA_BENCH_PYTHON a Python with models/requirements-export.txt.

#![allow(clippy::disallowed_methods, reason = "a measurement is told by variables what to measure")]

use anyhow::{Context, ensure};
use cyclorama_node::diffusion::lock::{Lock, files_of};
use cyclorama_node::diffusion::model_file::LOCK_FILE;
use cyclorama_node::diffusion::stable_diffusion::Request;
use cyclorama_node::diffusion::stable_diffusion::settings::TextToImage;
use cyclorama_node::diffusion::{ModelFolder, OnnxRuntime, ProviderChoice, StableDiffusion};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// In turn, as a machine is not always as fast.
const ROUNDS: usize = 3;
/// Pictures of a round, after one that is not counted.
const TURNS: usize = 3;
const PROMPT: &str = "professional studio photograph of a 2021 land rover defender";
const NEGATIVE_PROMPT: &str = "people, text, watermark";
const SIDE_PX: u32 = 256;
/// Says to this program that it is the one to be measured.
const MEASURED: &str = "CYCLORAMA_BENCH_MEASURED";

/// For the Python side.
#[derive(Serialize)]
struct Settings {
    turns: usize,
    prompt: &'static str,
    negative_prompt: &'static str,
    steps: u32,
    strength: f64,
    guidance: f64,
}

#[derive(Serialize, Deserialize)]
struct Figures {
    /// A picture's, the median.
    seconds: f64,
    /// The most that was resident.
    memory_mb: u64,
}

fn main() -> anyhow::Result<()> {
    let setting = |name: &str| std::env::var_os(name).map(PathBuf::from).with_context(|| format!("{name} is not set"));
    let folder = setting("CYCLORAMA_BENCH_CHECKPOINT")?;
    if std::env::var_os(MEASURED).is_some() {
        println!("{}", serde_json::to_string(&measure(&folder)?)?);
        return Ok(());
    }
    let text_to_image = text_to_image();
    let settings = Settings {
        turns: TURNS,
        prompt: PROMPT,
        negative_prompt: NEGATIVE_PROMPT,
        steps: text_to_image.steps,
        strength: text_to_image.strength,
        guidance: text_to_image.guidance,
    };
    // Not while it is measured: the lock file has digests of hundreds of megabytes.
    lock(&folder, text_to_image)?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/random_checkpoint.py");
    let mut python = Command::new(setting("CYCLORAMA_BENCH_PYTHON")?);
    python.arg(script).arg("time").arg(&folder).arg(serde_json::to_string(&settings)?);
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        here.push(figures(Command::new(std::env::current_exe()?).env(MEASURED, "1"))?);
        there.push(figures(&mut python)?);
    }
    let (here, there) = (middle(here), middle(there));
    println!(
        "text to image, {SIDE_PX} px, {} of {} steps with guidance, {ROUNDS} rounds of {TURNS}",
        (settings.steps as f64 * settings.strength) as u32,
        settings.steps
    );
    println!("  {:8.2} s    {:6} MB    cyclorama-node", here.seconds, here.memory_mb);
    println!("  {:8.2} s    {:6} MB    Optimum's pipeline in Python", there.seconds, there.memory_mb);
    println!(
        "  {:8.2} times as fast, {:.2} of the memory",
        there.seconds / here.seconds,
        here.memory_mb as f64 / there.memory_mb as f64
    );
    Ok(())
}

/// The round of median time.
fn middle(mut rounds: Vec<Figures>) -> Figures {
    rounds.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    rounds.swap_remove(ROUNDS / 2)
}

fn figures(command: &mut Command) -> anyhow::Result<Figures> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    // Libraries may print lines of their own before.
    let text = String::from_utf8(output.stdout)?;
    Ok(serde_json::from_str(text.lines().last().unwrap_or_default())?)
}

fn text_to_image() -> TextToImage {
    TextToImage {
        side_px: SIDE_PX,
        steps: 10,
        guidance: 6.0,
        strength: 0.5,
        sampler: None,
        control: None,
        control_scale: 1.0,
        prompt: PROMPT.to_owned(),
        negative_prompt: Some(NEGATIVE_PROMPT.to_owned()),
    }
}

fn lock(folder: &Path, settings: TextToImage) -> anyhow::Result<()> {
    let _ = std::fs::remove_file(folder.join(LOCK_FILE));
    let lock = Lock {
        version: 1,
        id: "random".to_owned(),
        license: "CC0-1.0".to_owned(),
        precision: "fp32".to_owned(),
        conditioning: Vec::new(),
        text_to_image: Some(settings),
        files: files_of(folder)?,
    };
    Ok(lock.write(folder)?)
}

fn measure(folder: &Path) -> anyhow::Result<Figures> {
    let library = std::env::var_os("ORT_DYLIB_PATH").map(PathBuf::from);
    let runtime = OnnxRuntime::load(library.as_deref())?;
    let provider = runtime.provider(ProviderChoice::Auto)?;
    let mut model = StableDiffusion::load(&runtime, provider, ModelFolder::open(folder)?)?;
    let mut seconds = Vec::new();
    for turn in 0..=TURNS {
        let mut state = 0.0_f32;
        let noise = move |count| {
            std::iter::repeat_with(|| {
                state += 0.71;
                1.4 * state.sin()
            })
            .take(count)
            .collect()
        };
        let request = Request {
            picture: vec![0.5; 3 * (SIDE_PX * SIDE_PX) as usize],
            control: Vec::new(),
            // Another one each time: here prompts are kept, there they are not.
            prompt: format!("{PROMPT} {turn}"),
            noise: Box::new(noise),
            still_wanted: Box::new(|_| true),
        };
        let began = Instant::now();
        let changed = model.change(&mut [request])?.pop().context("no answer")??;
        model.decode(&changed.after)?;
        // The first one is not counted.
        if turn > 0 {
            seconds.push(began.elapsed().as_secs_f64());
        }
    }
    seconds.sort_by(f64::total_cmp);
    let peak = std::fs::read_to_string("/proc/self/status")?;
    let peak = peak.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse()?;
    Ok(Figures { seconds: seconds[TURNS / 2], memory_mb: kilobytes / 1024 })
}
