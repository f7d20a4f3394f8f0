//! The commands that inspect many vehicles of the catalog at once: `check-vehicles` and
//! `compare-vehicles`. `check` does the checks; this module chooses vehicles and counts findings.

use anyhow::Context;
use clap::Args;
use cyclorama_core::output::{self, OutputError};
use cyclorama_core::{BodyClass, Vehicle};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use crate::check::{self, likeness};
use crate::commands::progress::Progress;
use crate::commands::surface_command::{SurfaceArguments, measure_surfaces};
use crate::config::LocalConfig;
use crate::studio::rig::Rig;
use crate::vehicle::Library;
use crate::vehicle::catalog_line::vehicles_of;

#[derive(Args)]
pub struct CheckArguments {
    /// File with lines as `cyclorama catalog list` prints them; default: standard input.
    #[arg(long)]
    vehicles: Option<PathBuf>,
    /// Only one year of each model: the middle one of those in the list.
    #[arg(long)]
    one_year_each: bool,
    /// Only this number of models, chosen at random.
    #[arg(long)]
    models: Option<usize>,
    /// Seed of the random choice.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    surface: SurfaceArguments,
}

#[derive(Args)]
pub struct CompareArguments {
    /// File with lines as `cyclorama catalog list` prints them; default: standard input.
    #[arg(long)]
    vehicles: Option<PathBuf>,
    /// Only about this number of models, as whole groups of one make and body class, chosen at
    /// random.
    #[arg(long)]
    models: Option<usize>,
    /// Seed of the random choice.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Pairs that differ by less than this are findings.
    #[arg(long, default_value_t = 0.01, value_parser = ratio)]
    floor: f64,
}

fn ratio(text: &str) -> Result<f64, String> {
    // No range contains NaN.
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "a number, 0 to 1".to_owned())
}

/// Reads vehicles from a file, or from standard input, as `cyclorama catalog list` prints them.
pub fn read_vehicles(path: Option<&Path>) -> anyhow::Result<Vec<Vehicle>> {
    let text = match path {
        Some(path) if path != Path::new("-") => {
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?
        }
        _ => std::io::read_to_string(std::io::stdin())?,
    };
    Ok(vehicles_of(&text)?)
}

/// Groups vehicles by model, so that each group holds the years of one model.
fn by_model(vehicles: Vec<Vehicle>) -> Vec<Vec<Vehicle>> {
    let mut models: BTreeMap<(String, String), Vec<Vehicle>> = BTreeMap::new();
    for vehicle in vehicles {
        models.entry((vehicle.make.clone(), vehicle.model.clone())).or_default().push(vehicle);
    }
    models.into_values().collect()
}

fn middle_year(years: &[Vehicle]) -> &Vehicle {
    &years[years.len() / 2]
}

/// Returns the vehicles that the arguments choose, grouped by shape.
fn chosen_shapes(library: &Library, arguments: &CheckArguments) -> anyhow::Result<Vec<Vec<Vehicle>>> {
    let mut models = by_model(read_vehicles(arguments.vehicles.as_deref())?);
    if let Some(count) = arguments.models {
        models.shuffle(&mut ChaCha8Rng::seed_from_u64(arguments.seed));
        models.truncate(count);
    }
    let names = models.len();
    let mut shapes: BTreeMap<String, Vec<Vehicle>> = BTreeMap::new();
    for years in models {
        let chosen = if arguments.one_year_each { vec![middle_year(&years).clone()] } else { years };
        for vehicle in chosen {
            shapes.entry(check::geometry_key(library, &vehicle)).or_default().push(vehicle);
        }
    }
    output::note(format_args!(
        "{} of {}, {}",
        output::count(shapes.values().map(Vec::len).sum::<usize>(), "vehicle"),
        output::count(names, "model"),
        output::count(shapes.len(), "shape")
    ));
    Ok(shapes.into_values().collect())
}

/// Prints every finding as a line (vehicle, rule, detail, separated by tabs) and how many there
/// were of each rule.
pub fn check_vehicles(config: &LocalConfig, arguments: &CheckArguments) -> anyhow::Result<ExitCode> {
    let library = Library::open(config.sheets.as_deref())?;
    if arguments.surface.surfaces {
        let shapes = match arguments.surface.mesh.is_empty() {
            true => chosen_shapes(&library, arguments)?,
            false => Vec::new(),
        };
        return measure_surfaces(&library, &shapes, &arguments.surface);
    }
    let shapes = chosen_shapes(&library, arguments)?;
    let count: usize = shapes.iter().map(Vec::len).sum();
    let reference = Rig::built_in()?.reference_diagonal_m;
    let counts: Mutex<BTreeMap<&'static str, usize>> = Mutex::default();
    let progress = Progress::new(shapes.len());
    shapes.par_iter().try_for_each(|alike| {
        for finding in check::check(&library, &alike[0], reference) {
            output::line(format_args!("{}\t{}\t{}", alike[0].key(), finding.rule, finding.detail))?;
            *counts.lock().unwrap_or_else(PoisonError::into_inner).entry(finding.rule).or_default() += alike.len();
        }
        progress.one_more();
        Ok::<_, OutputError>(())
    })?;
    let counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (rule, vehicles) in &counts {
        output::note(format_args!("{rule}: {}", output::count(*vehicles, "vehicle")));
    }
    let report = if counts.is_empty() { "nothing found" } else { "problems were found" };
    output::note(format_args!("{}: {report}", output::count(count, "vehicle")));
    Ok(if counts.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints every pair of models of one make and body class that look too similar (make, body, two
/// models, distance, separated by tabs), and how different the others are. Models of one shape,
/// such as a Golf and a Golf GTI, are counted, not compared.
pub fn compare_vehicles(config: &LocalConfig, arguments: &CompareArguments) -> anyhow::Result<ExitCode> {
    let models = by_model(read_vehicles(arguments.vehicles.as_deref())?);
    let mut groups: BTreeMap<(&str, BodyClass), Vec<&Vehicle>> = BTreeMap::new();
    for vehicle in models.iter().map(|years| middle_year(years)) {
        groups.entry((&vehicle.make, vehicle.body)).or_default().push(vehicle);
    }
    let mut groups: Vec<Vec<&Vehicle>> = groups.into_values().filter(|group| group.len() > 1).collect();
    groups.shuffle(&mut ChaCha8Rng::seed_from_u64(arguments.seed));
    let mut left = arguments.models.unwrap_or(usize::MAX);
    groups.retain(|group| {
        let taken = left > 0;
        left = left.saturating_sub(group.len());
        taken
    });

    let library = Library::open(config.sheets.as_deref())?;
    let reference = Rig::built_in()?.reference_diagonal_m;
    let mut names = 0;
    let shapes: Vec<Vec<&Vehicle>> = groups
        .iter()
        .map(|group| {
            names += group.len();
            let shapes: BTreeMap<String, &Vehicle> =
                group.iter().map(|vehicle| (check::geometry_key(&library, vehicle), *vehicle)).collect();
            shapes.into_values().collect()
        })
        .collect();
    let count: usize = shapes.iter().map(Vec::len).sum();
    output::note(format_args!(
        "{} in {} of one make and body class, {}",
        output::count(names, "model"),
        output::count(groups.len(), "group"),
        output::count(count, "shape")
    ));

    let progress = Progress::new(count);
    let mut nearest: Vec<f64> = Vec::new();
    let mut alike = 0;
    for group in &shapes {
        let portraits: Vec<_> = group
            .par_iter()
            .map(|vehicle| {
                let portrait = likeness::portrait(&library, vehicle, reference);
                progress.one_more();
                portrait.map_err(|problem| anyhow::anyhow!("{}: {problem}", vehicle.key()))
            })
            .collect::<anyhow::Result<_>>()?;
        let pairs: Vec<(usize, usize)> = (0..group.len()).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
        let distances: Vec<f64> =
            pairs.par_iter().map(|(a, b)| likeness::distance(&portraits[*a], &portraits[*b])).collect();
        let mut to_nearest = vec![f64::MAX; group.len()];
        for ((a, b), distance) in pairs.into_iter().zip(distances) {
            to_nearest[a] = to_nearest[a].min(distance);
            to_nearest[b] = to_nearest[b].min(distance);
            if distance < arguments.floor {
                alike += 1;
                let (a, b) = (group[a], group[b]);
                output::line(format_args!("{}\t{}\t{}\t{}\t{distance:.4}", a.make, a.body, a.model, b.model))?;
            }
        }
        nearest.extend(to_nearest.into_iter().filter(|distance| *distance < f64::MAX));
    }
    nearest.sort_by(f64::total_cmp);
    let at = |ratio: f64| nearest.get(((nearest.len().max(1) - 1) as f64 * ratio) as usize).copied().unwrap_or(1.0);
    output::note(format_args!(
        "distance of a shape to its nearest (1 - SSIM): least {:.3}, 1 % below {:.3}, 10 % {:.3}, half {:.3}",
        at(0.0),
        at(0.01),
        at(0.1),
        at(0.5)
    ));
    output::note(format_args!("{} below {}", output::count(alike, "pair"), arguments.floor));
    Ok(if alike == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
