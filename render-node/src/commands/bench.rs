//! Measures how fast this machine renders: each model at several batch sizes, for choosing a node's
//! settings. The time runs from geometry to composed images; encoding and uploading run
//! concurrently on a node and are not counted.

use crate::config::LocalConfig;
use crate::engine::order::{RenderRequest, WatchedRequest};
use crate::engine::render_error::RenderError;
use crate::engine::renderer::Renderer;
use crate::engine::start_error::StartError;
use crate::resident_memory::resident_mb;
use crate::vehicle::typical::typical;
use clap::Args;
use cyclorama_core::traces::Trace;
use cyclorama_core::wire::Stage;
use cyclorama_core::{BodyClass, Colour, View, output};
use serde::Serialize;
use std::process::ExitCode;
use std::time::Instant;

#[derive(Args)]
pub struct BenchArguments {
    /// Largest batch size; the sizes are 1, 2, 4 and so on.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=16))]
    batch_max: u32,
    /// Number of batches measured for each size.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    turns: u16,
    #[arg(long)]
    json: bool,
}

/// Measures, and prints each size of batch as soon as it is measured.
pub fn bench(config: &LocalConfig, arguments: &BenchArguments) -> anyhow::Result<ExitCode> {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let mut unprinted = None;
    let mut told = |figures: &BenchFigures| {
        if !arguments.json && unprinted.is_none() {
            let printed = output::line(format_args!(
                "{}, {}, batch of {}: {:.0} ms a step, {:.1} renders a minute, {} MB of memory, {} MB of GPU memory, GPU use {}",
                figures.pipeline,
                figures.execution_provider,
                figures.batch,
                figures.step_ms,
                figures.renders_per_minute,
                or_none(figures.memory_mb.map(|megabytes| megabytes.to_string())),
                or_none(figures.gpu_memory_used_mb.map(|megabytes| megabytes.to_string())),
                or_none(figures.gpu_utilisation.map(|ratio| format!("{:.0} %", ratio * 100.0))),
            ));
            unprinted = printed.err();
        }
        // Without a reader, measuring the rest would be pointless.
        unprinted.is_none()
    };
    let figures = measure(config, arguments.batch_max, usize::from(arguments.turns), &mut told)?;
    if let Some(unprinted) = unprinted {
        return Err(unprinted.into());
    }
    if arguments.json {
        output::line(serde_json::to_string(&figures)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One model at one batch size: medians over the turns.
#[derive(Debug, Clone, Serialize)]
pub struct BenchFigures {
    pub pipeline: String,
    pub execution_provider: String,
    /// Number of images that went through the model together.
    pub batch: u64,
    /// Duration of one step of the diffusion, for the whole batch.
    pub step_ms: f64,
    pub renders_per_minute: f64,
    /// Memory of this process, at the end.
    pub memory_mb: Option<u64>,
    pub gpu_memory_used_mb: Option<u64>,
    /// Utilisation at the end, 0 to 1.
    pub gpu_utilisation: Option<f64>,
}

#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("a render failed")]
    Render(#[from] RenderError),
    #[error("the receipt of a render has no `{0}`")]
    Receipt(&'static str),
}

/// Measures every model at batches of 1, 2, 4 and so on up to `batch_max`, `turns` times each after
/// one that is not counted. `told` is called with each size as soon as it is measured, and returns
/// true to continue.
pub fn measure(
    config: &LocalConfig,
    batch_max: u32,
    turns: usize,
    told: &mut dyn FnMut(&BenchFigures) -> bool,
) -> Result<Vec<BenchFigures>, BenchError> {
    let mut renderer = Renderer::start(&LocalConfig { batch_max, ..config.clone() })?;
    let mut measured = Vec::new();
    for pipeline in renderer.pipelines() {
        let sizes = std::iter::successors(Some(1_usize), |size| Some(size * 2));
        for size in sizes.take_while(|size| *size <= batch_max as usize) {
            // Memory or the model may allow fewer.
            if renderer.batch_max(&pipeline.id) < size {
                break;
            }
            let figures = measure_one(&mut renderer, &pipeline.id, size, turns)?;
            let goes_on = told(&figures);
            measured.push(figures);
            if !goes_on {
                return Ok(measured);
            }
        }
    }
    Ok(measured)
}

fn measure_one(renderer: &mut Renderer, pipeline: &str, size: usize, turns: usize) -> Result<BenchFigures, BenchError> {
    let orders: Vec<RenderRequest> = (0..size)
        .map(|place| RenderRequest {
            vehicle: typical(BodyClass::ALL[place % BodyClass::ALL.len()]),
            view: View::FrontThreeQuarter,
            colours: vec![Colour::Silver.into()],
            pipeline: pipeline.to_owned(),
            seed: place as u64,
            trace: Trace::none(),
        })
        .collect();
    let (mut steps_ms, mut minutes, mut batch) = (Vec::new(), Vec::new(), 0);
    for turn in 0..=turns {
        let watched_requests = orders.iter().map(|order| WatchedRequest { order, watch: Box::new(|_, _| true) });
        let mut results = Vec::with_capacity(size);
        let began = Instant::now();
        renderer.render_batch(watched_requests.collect(), &mut |_, result| results.push(result));
        let took = began.elapsed();
        let renders = results.into_iter().collect::<Result<Vec<_>, _>>()?;
        let receipt = &renders.first().ok_or(BenchError::Receipt("batch"))?.receipt;
        batch = receipt.batch.ok_or(BenchError::Receipt("batch"))?;
        let steps = receipt.steps.ok_or(BenchError::Receipt("steps"))? as f64;
        let diffusion = receipt.timings_ms.get(&Stage::Diffusion);
        let diffusion = diffusion.copied().ok_or(BenchError::Receipt("timings_ms.diffusion"))?;
        // The first turn builds the vehicles and makes the driver compile, so it is not counted.
        if turn > 0 {
            steps_ms.push(diffusion / steps);
            minutes.push(took.as_secs_f64() / 60.0);
        }
    }
    let load = renderer.meter().read();
    Ok(BenchFigures {
        pipeline: pipeline.to_owned(),
        execution_provider: renderer.device().execution_provider.unwrap_or_default(),
        batch,
        step_ms: median(&mut steps_ms),
        renders_per_minute: size as f64 / median(&mut minutes),
        memory_mb: resident_mb(),
        gpu_memory_used_mb: load.gpu_memory_used_mb,
        gpu_utilisation: load.gpu_utilisation,
    })
}

/// Returns the median of at least one value.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
