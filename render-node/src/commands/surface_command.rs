//! `check-vehicles --surfaces`: how the bodies of many vehicles would reflect, a line of figures
//! for each and a summary for each kind of body. `check::surfaces` measures.

use anyhow::{Context, bail};
use clap::Args;
use cyclorama_core::output::{self, OutputError};
use cyclorama_core::{Format, Vehicle, encoding};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use crate::check::surfaces::bounds::{Bounds, BoundsKind};
use crate::check::surfaces::{self, Aspect, Figure, Surfaces, picture};
use crate::commands::progress::Progress;
use crate::vehicle::{Library, VehicleMesh, build_and_judge, exported};

#[derive(Args)]
pub struct SurfaceArguments {
    /// Measure how the bodies would reflect (docs/surfaces.md) instead of checking them, and print
    /// a line of figures for each. `*` marks a figure beyond the bounds of its kind of body.
    #[arg(long)]
    pub surfaces: bool,
    /// Fail if any figure is beyond its bounds.
    #[arg(long, requires = "surfaces")]
    bounds: bool,
    /// Print all figures, as one JSON object a line.
    #[arg(long, requires = "surfaces")]
    json: bool,
    /// Write a PNG that shows the kind of each point of the body; for one vehicle only.
    #[arg(long, requires = "surfaces")]
    picture: Option<PathBuf>,
    /// Measure these meshes instead of vehicles: folders with `mesh.json` and `mesh.bin`, to
    /// calibrate the figures.
    #[arg(long, requires = "surfaces", hide = true)]
    pub mesh: Vec<PathBuf>,
}

/// The figures that the table shows, one column each.
const COLUMNS: [(Aspect, Figure); 15] = [
    (Aspect::Side, Figure::WavesPerM),
    (Aspect::Side, Figure::ExtrudedPercent),
    (Aspect::Side, Figure::ChangeAlongDegreesPerM),
    (Aspect::Side, Figure::FilletPercent),
    (Aspect::Side, Figure::SaddlePercent),
    (Aspect::Side, Figure::WobbleDegrees),
    (Aspect::Above, Figure::ExtrudedPercent),
    (Aspect::Above, Figure::DeadPercent),
    (Aspect::Above, Figure::SaddlePercent),
    (Aspect::Front, Figure::WavesPerM),
    (Aspect::Front, Figure::FilletPercent),
    (Aspect::Bonnet, Figure::WavesPerM),
    (Aspect::Bonnet, Figure::ExtrudedPercent),
    (Aspect::Bonnet, Figure::DeadPercent),
    (Aspect::Edges, Figure::StrayMm),
];

/// The figures of one body.
#[derive(Serialize)]
struct BodyRow {
    vehicle: String,
    /// `None` for a body without bounds.
    kind: Option<BoundsKind>,
    surfaces: Surfaces,
    beyond_bounds: Vec<(Aspect, Figure)>,
}

/// Summary of all bodies of a kind: the figures at three quantiles.
#[derive(Serialize)]
struct Summary {
    kind: BoundsKind,
    bodies: usize,
    within_bounds: usize,
    p10: Surfaces,
    median: Surfaces,
    p90: Surfaces,
}

/// Measures one vehicle of each group with the same shape, or instead the meshes that the arguments
/// name.
pub fn measure_surfaces(
    library: &Library,
    alike: &[Vec<Vehicle>],
    arguments: &SurfaceArguments,
) -> anyhow::Result<ExitCode> {
    let bounds = Bounds::built_in().context("bounds.toml")?;
    if !arguments.mesh.is_empty() {
        return measure_meshes(arguments, &bounds);
    }
    // Two-wheelers and machines have no body of sheet metal to measure.
    let bodies: Vec<(&Vehicle, BoundsKind)> =
        alike.iter().filter_map(|vehicles| Some((&vehicles[0], BoundsKind::of(vehicles[0].body)?))).collect();
    if bodies.len() < alike.len() {
        output::note(format_args!("{} without a body left out", output::count(alike.len() - bodies.len(), "shape")));
    }
    if arguments.picture.is_some() && bodies.len() != 1 {
        bail!("--picture needs exactly one body, not {}", bodies.len());
    }
    if !arguments.json {
        output::line(heading())?;
    }
    let rows: Mutex<Vec<BodyRow>> = Mutex::default();
    let progress = Progress::new(bodies.len());
    bodies.par_iter().try_for_each(|(vehicle, kind)| {
        let (mesh, strays) = match build_and_judge(library, vehicle) {
            Ok(built) => built,
            Err(error) => {
                output::note(format_args!("{}: {error}", vehicle.key()));
                return Ok(());
            }
        };
        let row = BodyRow::new(vehicle.key(), Some(*kind), surfaces::measure(&mesh, &strays), &bounds);
        put_out(&row, arguments)?;
        if let Some(path) = &arguments.picture {
            draw(&mesh, &row, path)?;
        }
        rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
        progress.one_more();
        anyhow::Ok(())
    })?;
    let rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    for summary in summaries(&rows) {
        put_out_summary(&summary, &bounds, arguments.json)?;
    }
    let beyond = rows.iter().filter(|row| !row.beyond_bounds.is_empty()).count();
    output::note(format_args!("{beyond} of {} measured are beyond the bounds", output::count(rows.len(), "shape")));
    let all_good = rows.len() == bodies.len() && (beyond == 0 || !arguments.bounds);
    Ok(if all_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn measure_meshes(arguments: &SurfaceArguments, bounds: &Bounds) -> anyhow::Result<ExitCode> {
    if arguments.picture.is_some() && arguments.mesh.len() != 1 {
        bail!("--picture needs exactly one mesh, not {}", arguments.mesh.len());
    }
    if !arguments.json {
        output::line(heading())?;
    }
    for folder in &arguments.mesh {
        let mesh = exported::read(folder)?;
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let row = BodyRow::new(name, None, surfaces::measure(&mesh, &[]), bounds);
        put_out(&row, arguments)?;
        if let Some(path) = &arguments.picture {
            draw(&mesh, &row, path)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl BodyRow {
    fn new(vehicle: String, kind: Option<BoundsKind>, surfaces: Surfaces, bounds: &Bounds) -> BodyRow {
        let beyond_bounds = kind.map(|kind| bounds.broken(kind, &surfaces)).unwrap_or_default();
        BodyRow { vehicle, kind, surfaces, beyond_bounds }
    }
}

fn draw(mesh: &VehicleMesh, row: &BodyRow, path: &Path) -> anyhow::Result<()> {
    let page = picture::picture(mesh, &row.vehicle, &row.surfaces)?;
    std::fs::write(path, encoding::encode(&page, Format::Png)?)
        .with_context(|| format!("cannot write {}", path.display()))
}

fn heading() -> String {
    let columns =
        COLUMNS.iter().map(|(aspect, figure)| format!("{} {} {}", aspect.name(), figure.name(), figure.unit()));
    ["vehicle".to_owned(), "kind".to_owned()].into_iter().chain(columns).collect::<Vec<_>>().join("\t")
}

/// Returns the cells of the columns, with a mark where `is_marked`, and `-` where nothing was
/// measured.
fn cells(surfaces: &Surfaces, is_marked: impl Fn(Aspect, Figure) -> bool) -> String {
    let cells = COLUMNS.iter().map(|(aspect, figure)| match surfaces.get(*aspect, *figure) {
        Some(value) => format!("\t{}{}", figure.shown(value), if is_marked(*aspect, *figure) { "*" } else { "" }),
        None => "\t-".to_owned(),
    });
    cells.collect()
}

fn put_out(row: &BodyRow, arguments: &SurfaceArguments) -> anyhow::Result<()> {
    if arguments.json {
        output::line(serde_json::to_string(row)?)?;
    } else {
        let cells = cells(&row.surfaces, |aspect, figure| row.beyond_bounds.contains(&(aspect, figure)));
        output::line(format_args!("{}\t{}{cells}", row.vehicle, row.kind.map_or("-", BoundsKind::name)))?;
    }
    Ok(())
}

fn summaries(rows: &[BodyRow]) -> Vec<Summary> {
    let mut kinds: BTreeMap<BoundsKind, Vec<&BodyRow>> = BTreeMap::new();
    for row in rows {
        if let Some(kind) = row.kind {
            kinds.entry(kind).or_default().push(row);
        }
    }
    let summaries = kinds.into_iter().map(|(kind, rows)| Summary {
        kind,
        bodies: rows.len(),
        within_bounds: rows.iter().filter(|row| row.beyond_bounds.is_empty()).count(),
        p10: at_ratio(&rows, 0.1),
        median: at_ratio(&rows, 0.5),
        p90: at_ratio(&rows, 0.9),
    });
    summaries.collect()
}

/// Returns, for each figure, the value below which this ratio of the bodies lies.
fn at_ratio(rows: &[&BodyRow], ratio: f32) -> Surfaces {
    let mut found = Surfaces::default();
    for aspect in Aspect::ALL {
        for figure in Figure::ALL {
            let mut values: Vec<f32> = rows.iter().filter_map(|row| row.surfaces.get(aspect, figure)).collect();
            values.sort_by(f32::total_cmp);
            let at = (values.len().saturating_sub(1) as f32 * ratio).round() as usize;
            if let Some(value) = values.get(at) {
                found.0.entry(aspect).or_default().insert(figure, *value);
            }
        }
    }
    found
}

fn put_out_summary(summary: &Summary, bounds: &Bounds, json: bool) -> anyhow::Result<()> {
    if json {
        output::line(serde_json::to_string(&serde_json::json!({ "summary": summary }))?)?;
        return Ok(());
    }
    let kind = summary.kind;
    let bound = |aspect, figure| bounds.of(kind, aspect, figure);
    let line = |name: String, cells: String| -> Result<(), OutputError> {
        output::line(format_args!("{name}\t{}{cells}", kind.name()))
    };
    for (name, figures) in
        [("lowest tenth", &summary.p10), ("median", &summary.median), ("highest tenth", &summary.p90)]
    {
        line(format!("{name} of {}", summary.bodies), cells(figures, |_, _| false))?;
    }
    let sign = |figure: Figure| if figure.more_is_better() { ">=" } else { "<=" };
    let bounds = COLUMNS.iter().map(|(aspect, figure)| match bound(*aspect, *figure) {
        Some(value) => format!("\t{}{}", sign(*figure), figure.shown(value)),
        None => "\t-".to_owned(),
    });
    line(format!("bound, kept by {}", summary.within_bounds), bounds.collect())?;
    Ok(())
}
