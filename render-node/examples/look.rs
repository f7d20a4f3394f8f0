//! Renders one vehicle to a PNG to look at: base light only, no diffusion model.
//!
//! `cargo run -p cyclorama-node --example look -- --body suv --view front-3-4 --color red --out x.png [--zebra] [--on grey]`
//! `cyclorama catalog list | grep golf | ... --example look -- --vehicles - --view front-3-4,side --out x.png`

use anyhow::Context;
use clap::Parser;
use cyclorama_core::encoding;
use cyclorama_core::{BodyClass, Colour, Format, Vehicle, View};
use cyclorama_node::check::raster::draw;
use cyclorama_node::contact_sheet::Sheet;
use cyclorama_node::finish::Compositor;
use cyclorama_node::gpu::{AdapterChoice, Gpu};
use cyclorama_node::studio::rig::Rig;
use cyclorama_node::studio::{Camera, Settings, Studio};
use cyclorama_node::vehicle::catalog_line::vehicles_of;
use cyclorama_node::vehicle::{Library, build, typical::typical};
use std::path::{Path, PathBuf};
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
    /// Vehicles in place of the one described: lines as `cyclorama catalog list` prints them. `-`: from standard input.
    #[arg(long)]
    vehicles: Option<PathBuf>,
    /// Vehicles side by side.
    #[arg(long, default_value_t = 1)]
    vehicles_in_a_row: usize,
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
    /// Use the sheets of this folder, as they are now, in place of those inside the program.
    #[arg(long)]
    sheets: Option<PathBuf>,
    /// Plain colours without light or a graphics device: much quicker.
    #[arg(long)]
    sketch: bool,
    /// One sample of light in place of three: a third of the time.
    #[arg(long)]
    quick: bool,
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
    let library = Library::open(options.sheets.as_deref())?;
    let vehicles = match &options.vehicles {
        Some(path) => listed(path)?,
        None => vec![described(&options)],
    };
    let booth = if options.sketch { None } else { Some(Booth::open(options.rig.as_deref())?) };
    let reference = Rig::built_in()?.reference_diagonal_m;

    let (columns, rows) = (options.view.len() * options.vehicles_in_a_row, vehicles.len() * options.color.len());
    let mut page =
        Sheet::new(columns as u32, rows.div_ceil(options.vehicles_in_a_row) as u32, options.side, options.on);
    let settings = Settings {
        zebra: options.zebra,
        passes: if options.quick { 1 } else { Settings::default().passes },
        ..Settings::default()
    };
    for (index, vehicle) in vehicles.iter().enumerate() {
        let start = Instant::now();
        let mesh = build(&library, vehicle)?;
        let triangles = mesh.triangle_count();
        eprintln!(
            "{}: sheet {}, {triangles} triangles, {:.2} s",
            vehicle.key(),
            library.sheet_for(vehicle).unwrap_or("none"),
            start.elapsed().as_secs_f32()
        );
        for (column, view) in options.view.iter().enumerate() {
            let start = Instant::now();
            let pictures = match &booth {
                Some(booth) => {
                    let shot = booth.studio.shoot_with(&mesh, *view, settings)?;
                    booth.compositor.compose(&shot.layers, &options.color)?
                }
                None => {
                    let drawn = draw(&mesh, &Camera::fit(&mesh, *view, reference)?, 2 * options.side as usize);
                    let sketch = |colour: &Colour| drawn.sketch(colour.srgb(), 2);
                    options.color.iter().map(sketch).collect::<Result<_, _>>()?
                }
            };
            eprintln!("  {view}: {:.2} s", start.elapsed().as_secs_f32());
            for (colour, picture) in pictures.iter().enumerate() {
                let place = index * options.color.len() + colour;
                let (row, across) = (place / options.vehicles_in_a_row, place % options.vehicles_in_a_row);
                page.put((across * options.view.len() + column) as u32, row as u32, picture)?;
            }
        }
    }
    std::fs::write(&options.out, encoding::encode(&page.finish()?, Format::Png)?)
        .with_context(|| format!("cannot write {}", options.out.display()))?;
    Ok(())
}

/// What real light takes.
struct Booth {
    studio: Studio,
    compositor: Compositor,
}

impl Booth {
    fn open(rig: Option<&Path>) -> anyhow::Result<Booth> {
        let gpu = Gpu::open(&AdapterChoice::Best)?;
        let studio = match rig {
            Some(path) => Studio::with_rig(&gpu, Rig::parse(&std::fs::read_to_string(path)?)?)?,
            None => Studio::new(&gpu)?,
        };
        eprintln!("device: {} ({})", gpu.name, gpu.backend);
        Ok(Booth { studio, compositor: Compositor::new(&gpu)? })
    }
}

/// The one vehicle of the command line.
fn described(options: &Options) -> Vehicle {
    let mut vehicle = typical(options.body);
    vehicle.make = options.make.clone().unwrap_or(vehicle.make);
    vehicle.model = options.model.clone().unwrap_or(vehicle.model);
    vehicle.year = options.year.unwrap_or(vehicle.year);
    if let Some(&[length, width, height, wheelbase]) = options.dimensions.as_deref() {
        let d = &mut vehicle.dimensions;
        (d.length_mm, d.width_mm, d.height_mm, d.wheelbase_mm) = (length, width, height, wheelbase);
    }
    vehicle
}

fn listed(path: &Path) -> anyhow::Result<Vec<Vehicle>> {
    let text = if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin())?
    } else {
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?
    };
    Ok(vehicles_of(&text)?)
}
