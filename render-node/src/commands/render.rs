//! `render`: renders one image into a file.

use crate::commands::name_argument::parse;
use crate::config::LocalConfig;
use crate::engine::order::RenderRequest;
use crate::engine::renderer::Renderer;
use crate::vehicle::typical::typical;
use anyhow::Context;
use clap::Args;
use cyclorama_core::traces::Trace;
use cyclorama_core::wire::Unparsed;
use cyclorama_core::{BodyClass, Format, Paint, Vehicle, View, encoding, output};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct RenderArguments {
    #[arg(long, default_value = "typical")]
    make: String,
    #[arg(long, default_value = "car")]
    model: String,
    #[arg(long, default_value_t = 2024)]
    year: u16,
    #[arg(long, default_value = "front-3-4", value_parser = parse::<View>)]
    view: View,
    /// Paint: a preset such as `red`, or a hex colour, with a finish and without the shadow if
    /// wanted: `#1f4e8c`, `#1f4e8c-matt-no-shadow`.
    #[arg(long, default_value = "silver", value_parser = parse::<Paint>)]
    color: Paint,
    /// Body class; dimensions that are not given are typical for it.
    #[arg(long, default_value = "sedan", value_parser = parse::<BodyClass>)]
    body: BodyClass,
    #[arg(long, value_parser = millimetres())]
    length_mm: Option<u32>,
    #[arg(long, value_parser = millimetres())]
    width_mm: Option<u32>,
    #[arg(long, value_parser = millimetres())]
    height_mm: Option<u32>,
    #[arg(long, value_parser = millimetres())]
    wheelbase_mm: Option<u32>,
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Side of the image in pixels, at most 1024.
    #[arg(long, default_value_t = cyclorama_core::MASTER_SIDE_PX, value_parser = clap::value_parser!(u32).range(1..=1024))]
    size: u32,
    /// File to write: .png, .webp or .jpg
    #[arg(long)]
    out: PathBuf,
}

/// Range from a toy's length to that of the longest lorry.
fn millimetres() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(100..=30_000)
}

pub fn render(config: &LocalConfig, arguments: &RenderArguments) -> anyhow::Result<ExitCode> {
    let extension = arguments.out.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let format: Format =
        extension.parse().with_context(|| format!("{} has no known image format", arguments.out.display()))?;
    let mut renderer = Renderer::start(config)?;
    let order = RenderRequest {
        vehicle: described(arguments),
        view: arguments.view,
        colours: vec![arguments.color],
        pipeline: renderer.pipelines()[0].id.clone(),
        seed: arguments.seed,
        trace: Trace::none(),
    };
    let render = renderer.render(&order, &mut |_, _| true)?;
    for (_, picture) in &render.pictures {
        let bytes = encoding::derive(picture, arguments.size, arguments.size, format)?;
        std::fs::write(&arguments.out, bytes).with_context(|| format!("cannot write {}", arguments.out.display()))?;
    }
    output::line(format_args!(
        "{} {}",
        arguments.out.display(),
        Unparsed::from(&render.receipt).document()["timings_ms"]
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn described(arguments: &RenderArguments) -> Vehicle {
    let mut vehicle = typical(arguments.body);
    vehicle.make.clone_from(&arguments.make);
    vehicle.model.clone_from(&arguments.model);
    vehicle.year = arguments.year;
    let dimensions = &mut vehicle.dimensions;
    for (given, value) in [
        (arguments.length_mm, &mut dimensions.length_mm),
        (arguments.width_mm, &mut dimensions.width_mm),
        (arguments.height_mm, &mut dimensions.height_mm),
        (arguments.wheelbase_mm, &mut dimensions.wheelbase_mm),
    ] {
        if let Some(given) = given {
            *value = given;
        }
    }
    vehicle
}
