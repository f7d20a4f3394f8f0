//! Renders one vehicle to a PNG to look at: base light only, no diffusion model.
//!
//! `cargo run -p cyclorama-node --example look -- --body suv --view front-3-4 --color red --out x.png [--zebra] [--on grey]`

use anyhow::Context;
use clap::Parser;
use cyclorama_core::encoding;
use cyclorama_core::{BodyClass, Colour, Format, View};
use cyclorama_node::contact_sheet::Sheet;
use cyclorama_node::finish::Compositor;
use cyclorama_node::gpu::{AdapterChoice, Gpu};
use cyclorama_node::studio::rig::Rig;
use cyclorama_node::studio::{Settings, Studio};
use cyclorama_node::vehicle::{build, typical::typical};
use std::path::PathBuf;
use std::time::Instant;

#[derive(Parser)]
struct Options {
    #[arg(long, default_value = "hatchback")]
    body: BodyClass,
    /// Slugs that choose a hand-drawn sheet.
    #[arg(long)]
    make: Option<String>,
    #[arg(long)]
    model: Option<String>,
    #[arg(long)]
    year: Option<u16>,
    /// Length, width, height, wheelbase in millimetres; else typical of the body.
    #[arg(long, value_delimiter = ',', num_args = 4)]
    dimensions: Option<Vec<u32>>,
    /// Several give pictures side by side.
    #[arg(long, default_value = "front-3-4", value_delimiter = ',')]
    view: Vec<View>,
    /// Several give pictures below each other.
    #[arg(long, default_value = "red", value_delimiter = ',')]
    color: Vec<Colour>,
    /// Stripes over the mirror direction instead of light.
    #[arg(long)]
    zebra: bool,
    /// Grey value (0 to 255) to lay the picture on; else transparent.
    #[arg(long)]
    on: Option<u8>,
    /// Another light rig than the built-in one.
    #[arg(long)]
    rig: Option<PathBuf>,
    /// Side of each picture.
    #[arg(long, default_value_t = 1024)]
    side: u32,
    #[arg(long)]
    out: PathBuf,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let mut vehicle = typical(options.body);
    vehicle.make = options.make.unwrap_or(vehicle.make);
    vehicle.model = options.model.unwrap_or(vehicle.model);
    vehicle.year = options.year.unwrap_or(vehicle.year);
    if let Some(&[length, width, height, wheelbase]) = options.dimensions.as_deref() {
        let d = &mut vehicle.dimensions;
        (d.length_mm, d.width_mm, d.height_mm, d.wheelbase_mm) = (length, width, height, wheelbase);
    }
    let start = Instant::now();
    let mesh = build(&vehicle)?;
    eprintln!("mesh: {} triangles, {:.2} s", mesh.triangle_count(), start.elapsed().as_secs_f32());
    let start = Instant::now();
    let gpu = Gpu::open(&AdapterChoice::Best)?;
    let studio = match &options.rig {
        Some(path) => Studio::with_rig(&gpu, Rig::parse(&std::fs::read_to_string(path)?)?)?,
        None => Studio::new(&gpu)?,
    };
    let compositor = Compositor::new(&gpu)?;
    eprintln!("device: {} ({}), ready in {:.2} s", gpu.name, gpu.backend, start.elapsed().as_secs_f32());

    let mut sheet = Sheet::new(options.view.len() as u32, options.color.len() as u32, options.side, options.on);
    for (column, view) in options.view.iter().enumerate() {
        let start = Instant::now();
        let shot = studio.shoot_with(&mesh, *view, Settings { zebra: options.zebra, ..Settings::default() })?;
        eprintln!("{view}: {:.2} s", start.elapsed().as_secs_f32());
        let start = Instant::now();
        let pictures = compositor.compose(&shot.layers, &options.color)?;
        eprintln!("{} colours: {:.2} s", pictures.len(), start.elapsed().as_secs_f32());
        for (row, picture) in pictures.iter().enumerate() {
            sheet.put(column as u32, row as u32, picture)?;
        }
    }
    std::fs::write(&options.out, encoding::encode(&sheet.finish()?, Format::Png)?)
        .with_context(|| format!("cannot write {}", options.out.display()))?;
    Ok(())
}
