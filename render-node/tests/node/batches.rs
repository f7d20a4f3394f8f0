//! The engine runs jobs together where it may, and each gets the image that it would get alone.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail it by panicking")]

use cyclorama_core::encoding::Pixmap;
use cyclorama_core::traces::Trace;
use cyclorama_core::wire::{Light, Stage};
use cyclorama_core::{BodyClass, Colour, View};
use cyclorama_node::config::{Config, LocalConfig, environment};
use cyclorama_node::engine::Engine;
use cyclorama_node::engine::order::{Render, RenderRequest, WatchedRequest};
use cyclorama_node::engine::render_error::RenderError;
use cyclorama_node::engine::renderer::Renderer;
use cyclorama_node::vehicle::typical::typical;

fn config(batch_max: u32) -> LocalConfig {
    config_with(batch_max, 100)
}

fn config_with(batch_max: u32, memory_watermark: u8) -> LocalConfig {
    let value = |name: &str| match name {
        "CYCLORAMA_NODE_MEMORY_WATERMARK" => Some(memory_watermark.to_string()),
        "CYCLORAMA_NODE_MODELS" => Some("../models/builtin".to_owned()),
        "CYCLORAMA_NODE_SLOTS" => Some("16".to_owned()),
        "CYCLORAMA_NODE_BATCH_MAX" => Some(batch_max.to_string()),
        name => environment(name),
    };
    Config::load(None, value).unwrap().local
}

/// Four jobs of three vehicles and two views.
fn orders(pipeline: &str) -> [RenderRequest; 4] {
    [
        (BodyClass::Hatchback, View::Side, Colour::Blue),
        (BodyClass::Suv, View::FrontThreeQuarter, Colour::White),
        (BodyClass::Hatchback, View::FrontThreeQuarter, Colour::Black),
        (BodyClass::Sedan, View::Side, Colour::Red),
    ]
    .map(|(body, view, colour)| RenderRequest {
        vehicle: typical(body),
        view,
        colours: vec![colour.into()],
        pipeline: pipeline.to_owned(),
        seed: 3,
        trace: Trace::none(),
    })
}

/// Submits all orders at once and returns their renders.
async fn render(engine: &Engine) -> Vec<Render> {
    let [a, b, c, d] = orders(&engine.pipelines()[0].id);
    let render = async |order: RenderRequest| engine.render(order, |_, _| true).await.unwrap();
    let done = tokio::join!(render(a), render(b), render(c), render(d));
    vec![done.0, done.1, done.2, done.3]
}

/// Returns the mean and the largest difference of two images' values.
fn difference(a: &Pixmap, b: &Pixmap) -> (f64, u8) {
    let values = || a.pixels().flatten().zip(b.pixels().flatten()).map(|(a, b)| a.abs_diff(b));
    (values().map(f64::from).sum::<f64>() / values().count() as f64, values().max().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn together_and_alone_the_pictures_are_the_same() {
    let start = |batch_max| tokio::task::spawn_blocking(move || Engine::start(config(batch_max), 16).unwrap());
    let alone = start(1).await.unwrap();
    let one_by_one = render(&alone).await;
    drop(alone);
    let together = start(3).await.unwrap();
    let batches = render(&together).await;

    assert!(one_by_one.iter().all(|render| render.receipt.batch == Some(1)));
    // The oldest, its companion of the same view although it came last, and the oldest of the
    // others; the remaining one goes next.
    let sizes: Vec<_> = batches.iter().map(|render| render.receipt.batch.unwrap()).collect();
    assert_eq!(sizes, [3, 3, 1, 3]);
    for (a, b) in one_by_one.iter().zip(&batches) {
        let (mean, largest) = difference(&a.pictures[0].1, &b.pictures[0].1);
        assert!(
            mean < 0.01 && largest <= 2,
            "in a batch of {}: differs by {mean} and at most {largest}",
            b.receipt.batch.unwrap()
        );
        assert_eq!((&a.receipt.gbuffer_digest, b.receipt.light), (&b.receipt.gbuffer_digest, Some(Light::Diffusion)));
    }
}

/// More than a hundredth of any machine's memory is in use, so the watermark is crossed.
#[tokio::test(flavor = "multi_thread")]
async fn above_the_memory_watermark_jobs_go_one_by_one() {
    let start = || Engine::start(config_with(3, 1), 16).unwrap();
    let engine = tokio::task::spawn_blocking(start).await.unwrap();
    let renders = render(&engine).await;
    assert!(
        renders
            .iter()
            .all(|render| { render.receipt.batch == Some(1) && render.receipt.light == Some(Light::Diffusion) })
    );
}

#[test]
fn who_leaves_a_batch_is_told_at_once_and_takes_no_other_with_it() {
    let mut renderer = Renderer::start(&config(4)).unwrap();
    let pipeline = renderer.pipelines()[0].id.clone();
    let [stays, mut stranger, leaves, also_stays] = orders(&pipeline);
    stranger.pipeline = "another".to_owned();
    let commissions = [&stays, &stranger, &leaves, &also_stays].map(|order| WatchedRequest {
        order,
        watch: Box::new(|stage: Stage, _| stage != Stage::Diffusion || !std::ptr::eq(order, &leaves)),
    });
    let mut told = Vec::new();
    renderer.render_batch(commissions.into(), &mut |place, result| told.push((place, result)));

    assert_eq!(told.iter().map(|(place, _)| *place).collect::<Vec<_>>(), [1, 2, 0, 3]);
    assert!(matches!(&told[0].1, Err(RenderError::NoPipeline(name)) if name == "another"));
    assert!(matches!(&told[1].1, Err(error) if error.failure_kind().is_none()), "cancelled");
    for (_, result) in &told[2..] {
        let receipt = &result.as_ref().unwrap().receipt;
        assert_eq!((receipt.batch, receipt.light), (Some(2), Some(Light::Diffusion)), "{receipt:?}");
    }
}
