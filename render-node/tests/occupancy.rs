//! With several studios the model is always at work while there is work: images are drawn and
//! painted concurrently.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail it by panicking")]

use cyclorama_core::traces::Trace;
use cyclorama_core::wire::{Light, Receipt, Stage};
use cyclorama_core::{BodyClass, Colour, View};
use cyclorama_node::config::{Config, LocalConfig, environment};
use cyclorama_node::engine::Engine;
use cyclorama_node::engine::order::RenderRequest;
use cyclorama_node::vehicle::typical::typical;
use std::time::{Duration, Instant};

const JOBS: usize = 6;

/// A model that takes seconds to change nothing, and two studios.
fn config() -> LocalConfig {
    let value = |name: &str| match name {
        "CYCLORAMA_NODE_MODELS" => Some("tests/fixtures/slow".to_owned()),
        "CYCLORAMA_NODE_SLOTS" => Some(JOBS.to_string()),
        "CYCLORAMA_NODE_STUDIOS" => Some("2".to_owned()),
        "CYCLORAMA_NODE_ADAPTER" => Some("cpu".to_owned()),
        name => environment(name),
    };
    Config::load(None, value).unwrap().local
}

fn order(place: usize) -> RenderRequest {
    RenderRequest {
        vehicle: typical(BodyClass::Hatchback),
        view: View::ALL[place % View::ALL.len()],
        colours: vec![Colour::Silver.into()],
        pipeline: "slow".to_owned(),
        seed: 0,
        trace: Trace::none(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn under_a_full_queue_the_model_is_at_work_all_the_time() {
    let engine = tokio::task::spawn_blocking(|| Engine::start(config(), JOBS).unwrap()).await.unwrap();
    let began = Instant::now();
    let jobs: Vec<_> = (0..JOBS)
        .map(|place| {
            let engine = engine.clone();
            tokio::spawn(async move {
                let render = engine.render(order(place), |_, _| true).await.unwrap();
                (began.elapsed(), render.receipt)
            })
        })
        .collect();
    let mut done = Vec::new();
    for job in jobs {
        done.push(job.await.unwrap());
    }
    done.sort_by_key(|(ended, _)| *ended);
    let stage = |receipt: &Receipt, stages: &[Stage]| -> Duration {
        let of = |stage: &Stage| receipt.timings_ms.get(stage).copied().unwrap_or(0.0);
        Duration::from_secs_f64(stages.iter().map(of).sum::<f64>() / 1000.0)
    };
    let at_work: Duration = done.iter().map(|(_, receipt)| stage(receipt, &[Stage::Diffusion])).sum();
    // From the moment there is work for the model until it has done all: before that the first
    // image is drawn, after it the last is painted.
    let (first, last) = (&done[0].1, &done[JOBS - 1]);
    let from = stage(first, &[Stage::Geometry, Stage::Gbuffer]);
    let until = last.0 - stage(&last.1, &[Stage::Compose]);
    let occupancy = at_work.as_secs_f64() / (until - from).as_secs_f64();
    println!("{:.1} % of {:.1} s", occupancy * 100.0, (until - from).as_secs_f64());
    assert!(occupancy >= 0.95, "{occupancy}: {done:?}");
    // Each job was ready before the model was.
    for (_, receipt) in &done[1..] {
        assert!(stage(receipt, &[Stage::Turn]) > Duration::ZERO, "{receipt:?}");
        assert_eq!(receipt.light, Some(Light::Diffusion));
    }

    // A process that ends may unload the driver, so no thread may still be releasing a device then.
    let of_driver = |name: &String| name.starts_with("llvmpipe");
    assert!(threads().iter().any(of_driver), "{:?}", threads());
    drop(engine);
    assert!(!threads().iter().any(of_driver), "{:?}", threads());
}

/// Returns the names of this process's threads.
fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    // A thread that ends meanwhile has no name any more.
    tasks
        .filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).ok())
        .map(|name| name.trim().to_owned())
        .collect()
}
