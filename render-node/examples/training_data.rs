//! Writes what the diffusion model is trained on: meshes, cameras and the studio's conditioning of many vehicles.
//!
//! `cargo run --release -p cyclorama-node --example training_data -- --out DIR --bodies suv,sedan --variants 4`
//!
//! Every variant is a body class at its typical size, each dimension drawn anew within a tenth; the draw follows from the
//! variant's name. The files are what `models/dataset.py` and `models/ground_truth.py` read:
//!
//! - `materials.json`: the optics table
//! - `<vehicle>/mesh.json`, `mesh.bin`: per material positions and normals (f32 x 3) and triangles (u32 x 3), little endian
//! - `<vehicle>/<view>.json`: the camera; `studio_from_vehicle` column by column
//! - `<vehicle>/<view>.bin`: conditioning planes, f16 little endian, channel by channel, rows from the top

use anyhow::Context;
use clap::Parser;
use cyclorama_core::{BodyClass, View};
use cyclorama_node::gpu::{AdapterChoice, Gpu};
use cyclorama_node::studio::optics::{MATERIALS, optics};
use cyclorama_node::studio::{Camera, Studio};
use cyclorama_node::vehicle::{Library, VehicleMesh, build, typical::typical};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Parser)]
struct Options {
    #[arg(long)]
    out: PathBuf,
    /// Body classes; those without a template are skipped.
    #[arg(long, value_delimiter = ',')]
    bodies: Vec<BodyClass>,
    /// How many sizes of each body.
    #[arg(long, default_value_t = 1)]
    variants: u32,
    /// Number of the first variant; 0 is the typical size itself.
    #[arg(long, default_value_t = 0)]
    first: u32,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let gpu = Gpu::open(&AdapterChoice::Best)?;
    let studio = Studio::new(&gpu)?;
    fs::create_dir_all(&options.out)?;
    let materials: Vec<Value> = MATERIALS
        .iter()
        .map(|material| {
            let o = optics(*material);
            json!({ "name": material, "albedo": o.albedo, "f0": o.f0, "roughness": o.roughness, "metal": o.metal,
                    "transmission": o.transmission, "emission": o.emission })
        })
        .collect();
    fs::write(options.out.join("materials.json"), serde_json::to_vec_pretty(&materials)?)?;
    let bodies = if options.bodies.is_empty() { BodyClass::ALL.to_vec() } else { options.bodies };
    for variant in options.first..options.first + options.variants {
        for body in &bodies {
            export(&studio, *body, variant, &options.out).with_context(|| format!("{body} {variant}"))?;
        }
    }
    Ok(())
}

fn export(studio: &Studio, body: BodyClass, variant: u32, out: &Path) -> anyhow::Result<()> {
    let name = format!("{body}-{variant:02}");
    let folder = out.join(&name);
    let mut vehicle = typical(body);
    if variant > 0 {
        let mut random = ChaCha8Rng::from_seed(Sha256::digest(name.as_bytes()).into());
        let d = &mut vehicle.dimensions;
        for length in [&mut d.length_mm, &mut d.width_mm, &mut d.height_mm] {
            *length = (*length as f32 * random.random_range(0.9..1.1)) as u32;
        }
        d.wheelbase_mm = (d.length_mm as f32 * random.random_range(0.56..0.64)) as u32;
    }
    let Ok(mesh) = build(&*Library::embedded()?, &vehicle) else {
        println!("{name}: no template");
        return Ok(());
    };
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("vehicle.json"), serde_json::to_vec_pretty(&vehicle)?)?;
    write_mesh(&mesh, &folder)?;
    for view in View::ALL {
        let shot = studio.shoot(&mesh, *view)?;
        fs::write(folder.join(format!("{view}.json")), serde_json::to_vec_pretty(&camera_fields(&shot.camera))?)?;
        let planes: Vec<u8> =
            shot.conditioning.planes.iter().flat_map(|value| half::f16::from_f32(*value).to_le_bytes()).collect();
        fs::write(folder.join(format!("{view}.bin")), planes)?;
    }
    println!("{name}: {} triangles", mesh.triangle_count());
    Ok(())
}

fn camera_fields(camera: &Camera) -> Value {
    json!({
        "studio_from_vehicle": camera.studio_from_vehicle.to_cols_array(),
        "eye": camera.eye.to_array(), "forward": camera.forward.to_array(), "up": camera.up.to_array(),
        "zoom": camera.zoom, "shift": camera.shift.to_array(),
    })
}

fn write_mesh(mesh: &VehicleMesh, folder: &Path) -> anyhow::Result<()> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut place = |data: &[u8], count: usize| {
        let offset = bytes.len();
        bytes.extend_from_slice(data);
        json!({ "offset": offset, "count": count })
    };
    let surfaces: Vec<Value> = mesh
        .surfaces
        .iter()
        .map(|(material, surface)| {
            json!({
                "material": material,
                "positions": place(bytemuck::cast_slice(&surface.positions), surface.positions.len()),
                "normals": place(bytemuck::cast_slice(&surface.normals), surface.normals.len()),
                "indices": place(bytemuck::cast_slice(&surface.indices), surface.triangle_count()),
            })
        })
        .collect();
    fs::write(folder.join("mesh.json"), serde_json::to_vec(&json!({ "surfaces": surfaces }))?)?;
    fs::write(folder.join("mesh.bin"), bytes)?;
    Ok(())
}
