//! `compare-picture`: draws the outlines of our vehicle over an image of the real one, for people
//! who draw sheets.

use anyhow::{Context, bail};
use clap::Args;
use cyclorama_core::{View, output};
use glam::Vec2;
use image::{Rgb, RgbImage};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::check::outlines::Outlines;
use crate::commands::name_argument::parse;
use crate::commands::vehicle_commands::read_vehicles;
use crate::config::LocalConfig;
use crate::studio::rig::Rig;
use crate::vehicle::{self, Library};

#[derive(Args)]
pub struct ComparePictureArguments {
    /// Picture of the real vehicle: PNG, JPEG or WebP, outside the project.
    picture: PathBuf,
    /// File with a line as `cyclorama catalog list` prints it; default: standard input.
    #[arg(long)]
    vehicle: Option<PathBuf>,
    /// A side or three-quarter view, in which both wheels of one side are visible.
    #[arg(long, default_value = "side", value_parser = parse::<View>)]
    view: View,
    /// Centres of the front and the rear wheel in the picture, in pixels: x,y,x,y. If the front
    /// wheel is on the right, the picture is mirrored first.
    #[arg(long, value_delimiter = ',', required = true)]
    hubs: Vec<f32>,
    #[arg(long)]
    out: PathBuf,
}

/// Our edges are green; the measured positions (side view only) are magenta crosses.
const EDGE: Rgb<u8> = Rgb([0, 230, 60]);
const FACT: Rgb<u8> = Rgb([255, 0, 220]);
/// The result is enlarged to at least this width, in pixels.
const WIDTH_PX: u32 = 1600;

pub fn compare_picture(config: &LocalConfig, arguments: &ComparePictureArguments) -> anyhow::Result<ExitCode> {
    let vehicles = read_vehicles(arguments.vehicle.as_deref())?;
    let [vehicle] = vehicles.as_slice() else {
        bail!("exactly one vehicle can be compared, but {} were given", vehicles.len())
    };
    let opened = image::open(&arguments.picture).with_context(|| arguments.picture.display().to_string())?.to_rgb8();
    let [front_x, front_y, rear_x, rear_y] = arguments.hubs[..] else { bail!("--hubs needs four numbers") };
    let is_mirrored = rear_x < front_x;
    let width = opened.width() as f32;
    let upright = |x: f32, y: f32| Vec2::new(if is_mirrored { width - x } else { x }, y);
    let (front, rear) = (upright(front_x, front_y), upright(rear_x, rear_y));
    let opened = if is_mirrored { image::imageops::flip_horizontal(&opened) } else { opened };
    let zoom = (WIDTH_PX as f32 / width).max(1.0);
    let size = [opened.width(), opened.height()].map(|side| (side as f32 * zoom) as u32);
    let mut shown = image::imageops::resize(&opened, size[0], size[1], image::imageops::FilterType::CatmullRom);
    let (front, rear) = (front * zoom, rear * zoom);

    let library = Library::open(config.sheets.as_deref())?;
    let mesh = vehicle::build(&library, vehicle)?;
    let outlines = Outlines::seen(&mesh, arguments.view, Rig::built_in()?.reference_diagonal_m)?;
    let Some([our_front, our_rear]) = outlines.hubs else { bail!("no wheels are visible in this view") };
    // A rotation and a scale that bring our hubs to those in the image.
    let turn =
        (rear - front).rotate(Vec2::new(1.0, -1.0) * (our_rear - our_front)) / (our_rear - our_front).length_squared();
    for at in &outlines.edges {
        dot(&mut shown, front + turn.rotate(*at - our_front), EDGE);
    }
    if arguments.view == View::Side
        && let Some((facts, real)) = vehicle::measured(&library, vehicle)?
    {
        let along = rear - front;
        let up = Vec2::new(along.y, -along.x);
        let wheelbase = real.rear_axle_x - real.front_axle_x;
        for [x, z] in facts.places() {
            let at = front + along * x + up * (z - real.hub_z / wheelbase);
            for step in -6..=6 {
                dot(&mut shown, at + Vec2::splat(step as f32), FACT);
                dot(&mut shown, at + Vec2::new(step as f32, -step as f32), FACT);
            }
        }
    }
    shown.save(&arguments.out).with_context(|| arguments.out.display().to_string())?;
    output::line(format_args!("{}", arguments.out.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Draws one pixel; a pixel outside the image is ignored.
fn dot(picture: &mut RgbImage, at: Vec2, colour: Rgb<u8>) {
    let (x, y) = (at.x as i32, at.y as i32);
    if x >= 0 && y >= 0 && (x as u32) < picture.width() && (y as u32) < picture.height() {
        picture.put_pixel(x as u32, y as u32, colour);
    }
}
