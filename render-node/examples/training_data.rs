//! Writes the data that the diffusion model is trained on and judged by: meshes, cameras and the
//! studio's conditioning of many vehicles.
//!
//! `cargo run --release -p cyclorama-node --example training_data -- --vehicles LIST --out DIR`
//!
//! LIST (`models/vehicles/training.tsv`) has lines as `cyclorama catalog list` prints them. A
//! vehicle whose files exist is left alone, so that the program can be stopped and started. With
//! `--relight` the conditioning is written again, which a change of the base shading requires; the
//! ground truth depends on meshes, cameras and the rig alone. `models/dataset.py` and
//! `models/ground_truth.py` read these files:
//!
//! - `materials.json`: the optics table; `paints.json`: the fifteen paints as the finish pass has
//!   them
//! - `custom-paints.json`, with `--colours`: each of those hexes in each finish, as a job names it
//!   (`#1f4e8c-matt`)
//! - `<vehicle>/mesh.json`, `mesh.bin`: for each material positions and normals (f32 x 3) and
//!   triangles (u32 x 3), little endian
//! - `<vehicle>/<view>.json`: the camera; `studio_from_vehicle` column by column
//! - `<vehicle>/<view>.bin`: conditioning planes, f16 little endian, channel by channel, rows from
//!   the top

use anyhow::Context;
use clap::Parser;
use cyclorama_core::paint::srgb_of_hex;
use cyclorama_core::{Colour, Finish, Paint, PaintColour, Vehicle, View};
use cyclorama_node::finish::paint::paint;
use cyclorama_node::gpu::{AdapterChoice, Gpu};
use cyclorama_node::studio::conditioning::CONDITIONING_SIDE_PX;
use cyclorama_node::studio::optics::{MATERIALS, optics};
use cyclorama_node::studio::{Camera, ShootSettings, Studio, StudioOutput};
use cyclorama_node::vehicle::catalog_line::vehicles_of;
use cyclorama_node::vehicle::{Library, build, exported};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Parser)]
struct Options {
    #[arg(long)]
    vehicles: PathBuf,
    #[arg(long)]
    out: PathBuf,
    /// Make the conditioning of vehicles that are there already anew.
    #[arg(long)]
    relight: bool,
    /// A list of hexes, one a line, for `models/paint_truth.py`.
    #[arg(long)]
    colours: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let list = fs::read_to_string(&options.vehicles).with_context(|| options.vehicles.display().to_string())?;
    let vehicles = vehicles_of(&list)?;
    let gpu = Gpu::open(&AdapterChoice::Best)?;
    let studio = Studio::new(&gpu)?;
    fs::create_dir_all(&options.out)?;
    let materials: Vec<Value> = MATERIALS
        .iter()
        .map(|material| {
            let o = optics(*material);
            json!({ "name": material, "albedo": o.albedo, "f0": o.f0, "roughness": o.roughness, "metal": o.metal,
                    "transmission": o.transmission, "tint": o.tint, "emission": o.emission })
        })
        .collect();
    fs::write(options.out.join("materials.json"), serde_json::to_vec_pretty(&materials)?)?;
    let presets: Vec<Paint> = Colour::ALL.iter().map(|colour| Paint::from(*colour)).collect();
    fs::write(options.out.join("paints.json"), serde_json::to_vec_pretty(&optics_of(&presets))?)?;
    if let Some(list) = &options.colours {
        let custom = custom_paints(list).with_context(|| list.display().to_string())?;
        fs::write(options.out.join("custom-paints.json"), serde_json::to_vec_pretty(&optics_of(&custom))?)?;
    }
    for vehicle in &vehicles {
        let folder = options.out.join(format!("{}_{}_{}", vehicle.make, vehicle.model, vehicle.year));
        if !folder.exists() {
            export(&studio, vehicle, &folder).with_context(|| vehicle.key())?;
        } else if options.relight {
            relight(&studio, vehicle, &folder).with_context(|| vehicle.key())?;
        }
    }
    Ok(())
}

/// What the finish pass makes of each paint, by its name in jobs.
fn optics_of(paints: &[Paint]) -> BTreeMap<String, Value> {
    let fields = |wanted: &Paint| {
        let p = paint(*wanted);
        json!({ "albedo": p.albedo, "gloss": p.gloss, "flake_tint": p.flake_tint, "flake": p.flake, "srgb": wanted.srgb() })
    };
    paints.iter().map(|paint| (paint.to_string(), fields(paint))).collect()
}

/// Every hex of a list in every finish.
fn custom_paints(list: &Path) -> anyhow::Result<Vec<Paint>> {
    let mut paints = Vec::new();
    for line in fs::read_to_string(list)?.lines() {
        let srgb = srgb_of_hex(line).with_context(|| format!("`{line}` is not six hex digits"))?;
        paints.extend(Finish::ALL.iter().map(|finish| Paint::from(PaintColour::Custom { srgb, finish: *finish })));
    }
    Ok(paints)
}

/// The vehicle's folder appears only when it is whole.
fn export(studio: &Studio, vehicle: &Vehicle, finished: &Path) -> anyhow::Result<()> {
    let folder = finished.with_file_name("unfinished").join("vehicle");
    let mesh = build(&*Library::embedded()?, vehicle)?;
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("vehicle.json"), serde_json::to_vec_pretty(vehicle)?)?;
    exported::write(&mesh, &folder)?;
    for view in View::ALL {
        let shot = studio.shoot_with(&mesh, *view, ONE_PASS)?;
        fs::write(folder.join(format!("{view}.json")), serde_json::to_vec_pretty(&camera_fields(&shot.camera))?)?;
        fs::write(folder.join(format!("{view}.bin")), halves(&shot))?;
    }
    fs::rename(&folder, finished)?;
    println!("{}: {} triangles", vehicle.key(), mesh.triangle_count());
    Ok(())
}

/// Conditioning is of the first pass alone.
const ONE_PASS: ShootSettings = ShootSettings {
    conditioning_side_px: CONDITIONING_SIDE_PX,
    zebra: false,
    passes: 1,
    draws_hidden: false,
    close_up: None,
};

fn relight(studio: &Studio, vehicle: &Vehicle, folder: &Path) -> anyhow::Result<()> {
    let mesh = build(&*Library::embedded()?, vehicle)?;
    anyhow::ensure!(
        exported::holds(folder, &mesh)?,
        "its geometry has changed: the folder {} must be made anew, ground truth and all",
        folder.display()
    );
    for view in View::ALL {
        let planes = folder.join(format!("{view}.bin"));
        let half_done = planes.with_extension("part");
        fs::write(&half_done, halves(&studio.shoot_with(&mesh, *view, ONE_PASS)?))?;
        // What `dataset.py` worked out of the old planes.
        match fs::remove_file(planes.with_extension("residual.npy")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => fs::rename(&half_done, &planes)?,
        }
    }
    println!("{}: lit anew", vehicle.key());
    Ok(())
}

fn halves(shot: &StudioOutput) -> Vec<u8> {
    shot.conditioning.planes.iter().flat_map(|value| half::f16::from_f32(*value).to_le_bytes()).collect()
}

fn camera_fields(camera: &Camera) -> Value {
    json!({
        "studio_from_vehicle": camera.studio_from_vehicle.to_cols_array(),
        "eye": camera.eye.to_array(), "forward": camera.forward.to_array(), "up": camera.up.to_array(),
        "zoom": camera.zoom, "shift": camera.shift.to_array(),
    })
}
