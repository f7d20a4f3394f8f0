//! `contact-sheet`: many vehicles, views or colours on one PNG.

pub mod page;

use crate::commands::name_argument::parse;
use crate::commands::vehicle_commands::read_vehicles;
use crate::config::LocalConfig;
use crate::vehicle::close_up::CloseUpPart;
use anyhow::{Context, bail};
use clap::Args;
use cyclorama_core::{Format, Paint, Vehicle, View, encoding, output};
use page::SheetRenderer;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Maximum number of vehicles on a sheet. More cannot be checked on one page, and a long list given
/// by mistake would take hours.
const VEHICLES_ON_A_SHEET_MAX: usize = 400;

#[derive(Args)]
pub struct ContactSheetArguments {
    /// File with lines as `cyclorama catalog list` prints them; default: standard input.
    #[arg(long)]
    vehicles: Option<PathBuf>,
    /// Only the vehicles named in this file, in its order, as lines `make/model/year`; `#` begins a
    /// comment.
    #[arg(long)]
    choose: Option<PathBuf>,
    #[arg(long, default_value = "front-3-4", value_delimiter = ',', value_parser = parse::<View>)]
    views: Vec<View>,
    /// Close-ups of these parts instead of whole views, with the look `light`, `quick` or `zebra`;
    /// `--parts` alone shows all parts.
    #[arg(long, value_enum, value_delimiter = ',', num_args = 0.., conflicts_with = "views")]
    parts: Option<Vec<CloseUpPart>>,
    /// Paint: a preset such as `red`, or a hex colour, with a finish and without the shadow if
    /// wanted: `#1f4e8c`, `#1f4e8c-matt-no-shadow`.
    #[arg(long, default_value = "silver", value_delimiter = ',', value_parser = parse::<Paint>)]
    colors: Vec<Paint>,
    /// Show each vehicle in the next colour, instead of every vehicle in all colours.
    #[arg(long)]
    one_color_each: bool,
    /// Number of vehicles in a row.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=400))]
    in_a_row: u16,
    #[arg(long, value_enum, default_value = "model")]
    look: page::PageLook,
    /// Side of each image in pixels.
    #[arg(long, default_value_t = 384)]
    cell: u32,
    /// Grey value of the page, 0 to 255; default: transparent.
    #[arg(long)]
    page: Option<u8>,
    /// Writes the receipt of each image to this file, as lines of JSON: quality and times, or with
    /// the look `light` how the rig lights the paint.
    #[arg(long)]
    receipts: Option<PathBuf>,
    #[arg(long)]
    out: PathBuf,
}

pub fn contact_sheet(config: &LocalConfig, arguments: ContactSheetArguments) -> anyhow::Result<ExitCode> {
    let listed = read_vehicles(arguments.vehicles.as_deref())?;
    let vehicles = match &arguments.choose {
        Some(path) => {
            let names = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            chosen(&names, &listed)?
        }
        None => listed,
    };
    if vehicles.len() > VEHICLES_ON_A_SHEET_MAX {
        bail!("{} vehicles do not fit on a sheet of at most {VEHICLES_ON_A_SHEET_MAX}", vehicles.len());
    }
    let plan = page::PagePlan {
        vehicles,
        views: arguments.views,
        parts: arguments
            .parts
            .map_or(Vec::new(), |parts| if parts.is_empty() { CloseUpPart::ALL.to_vec() } else { parts }),
        colours: arguments.colors,
        one_colour_each: arguments.one_color_each,
        in_a_row: usize::from(arguments.in_a_row),
        cell_px: arguments.cell.clamp(16, cyclorama_core::MASTER_SIDE_PX),
        page: arguments.page,
    };
    let mut darkroom = SheetRenderer::open(arguments.look, config)?;
    let sheet = page::make(&mut darkroom, &plan, &mut |done, total| {
        output::note(format_args!("{done} of {total}: {}", plan.vehicles[done - 1].key()));
    })?;
    std::fs::write(&arguments.out, encoding::encode(&sheet, Format::Png)?)
        .with_context(|| format!("cannot write {}", arguments.out.display()))?;
    if let Some(path) = &arguments.receipts {
        let lines: String = darkroom.receipts().iter().map(|receipt| format!("{receipt}\n")).collect();
        std::fs::write(path, lines).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the vehicles that a list names, in its order.
fn chosen(names: &str, listed: &[Vehicle]) -> anyhow::Result<Vec<Vehicle>> {
    let by_key: BTreeMap<String, &Vehicle> = listed.iter().map(|vehicle| (vehicle.key(), vehicle)).collect();
    let lines = names.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let named = lines.filter(|line| !line.is_empty()).map(|line| {
        by_key
            .get(line)
            .map(|vehicle| (*vehicle).clone())
            .with_context(|| format!("`{line}` is not in the list of vehicles"))
    });
    named.collect()
}
