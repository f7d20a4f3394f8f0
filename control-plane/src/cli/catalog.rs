//! `cyclorama catalog ...`: makes a release file, shows its content, or compares two; `reload` and
//! `wanted` call a running service.

use super::client::Where;
use super::exit::{NotFound, WrongUsage};
use super::numbers::whole;
use super::print;
use crate::catalog::search::Hit;
use crate::catalog::{self, Counts, Diff, import};
use crate::plural;
use anyhow::{Context, bail};
use clap::Subcommand;
use cyclorama_core::Vehicle;
use cyclorama_drawings::{Likeness, likeness};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Debug, Subcommand)]
pub enum Catalog {
    /// Create a release file from the vehicle package and the body and dimension sources
    Import {
        /// Folder or .tgz of the npm package @meterapp/vehicle-db
        #[arg(long)]
        package: PathBuf,
        /// Folder with one folder for each source; a missing source is left out
        #[arg(long)]
        sources: PathBuf,
        /// Rules file to use instead of the built-in one
        #[arg(long)]
        rules: Option<PathBuf>,
        /// Release file to write; its share-alike supplement is written next to it
        #[arg(long)]
        out: PathBuf,
    },
    /// List all vehicles: one line for each make, model and year, followed by type, body, length,
    /// width, height, wheelbase and likeness, separated by tabs
    List {
        /// Release file; default: the built-in release
        #[arg(long)]
        file: Option<PathBuf>,
        /// Only this make, by name or slug
        #[arg(long)]
        make: Option<String>,
        /// Only this year
        #[arg(long, allow_hyphen_values = true, value_parser = whole(0..=9999))]
        year: Option<i64>,
    },
    /// Search the catalog, as GET /api/v1/vehicles?q= does
    Search {
        /// Release file; default: the built-in release
        #[arg(long)]
        file: Option<PathBuf>,
        /// Only this model year
        #[arg(long, allow_hyphen_values = true, value_parser = whole(0..=9999))]
        year: Option<i64>,
        /// Number of results
        #[arg(long, default_value_t = 10, allow_hyphen_values = true, value_parser = whole(1..=1000))]
        limit: i64,
        /// Text to search for; without it, each line of standard input is searched (with --json,
        /// one result line for each)
        text: Vec<String>,
    },
    /// Show what changes from one release file to another
    Diff { old: PathBuf, new: PathBuf },
    /// Make all processes of the running service reload the release file (CYCLORAMA_CATALOG)
    Reload,
    /// Show what to draw next: the most requested vehicles whose drawing is least like them, and
    /// names that the catalog does not have
    Wanted {
        /// Number of past days whose deliveries and requests are counted
        #[arg(long, default_value_t = 30, allow_hyphen_values = true, value_parser = whole(1..=366))]
        days: i64,
        /// Number of entries in each list
        #[arg(long, default_value_t = 50, allow_hyphen_values = true, value_parser = whole(1..=1000))]
        limit: i64,
    },
    /// Show what a release contains
    Info {
        /// Release file; default: the built-in release
        #[arg(long)]
        file: Option<PathBuf>,
        /// Show one vehicle of the release: make, model and year
        #[arg(long, num_args = 3, value_names = ["MAKE", "MODEL", "YEAR"])]
        vehicle: Option<Vec<String>>,
    },
}

impl Catalog {
    /// Runs the command. All commands but `reload` and `wanted` work on files
    /// alone, and need no running service.
    pub async fn run(self, whereabouts: &Where, json: bool) -> anyhow::Result<()> {
        match self {
            Catalog::Import { package, sources, rules, out } => {
                print_report(&import::import(&package, &sources, rules.as_deref(), &out)?, &out, json)
            }
            Catalog::List { file, make, year } => {
                print_list(&open(file.as_deref())?, make.as_deref(), year.map(|year| year as u16), json)
            }
            Catalog::Search { file, year, limit, text } => {
                let (catalog, year, limit) = (open(file.as_deref())?, year.map(|year| year as u16), limit as usize);
                match text.iter().all(|word| word.trim().is_empty()) {
                    true => search_lines(&catalog, year, limit, json),
                    false => print_hits(&catalog, &text.join(" "), year, limit, json),
                }
            }
            Catalog::Diff { old, new } => print_diff(&old, &new, json),
            Catalog::Reload => {
                let answer = whereabouts.find()?.post("/admin/catalog/reload", serde_json::json!({})).await?;
                print::answer(&answer, json)?;
                if answer["everywhere"] == false {
                    bail!("not every process uses this release: see `processes`");
                }
                Ok(())
            }
            Catalog::Wanted { days, limit } => {
                let path = format!("/admin/catalog/wanted?days={days}&limit={limit}");
                let answer = whereabouts.find()?.get(&path).await?;
                if json { Ok(print::answer(&answer, true)?) } else { print_wanted(&answer) }
            }
            Catalog::Info { file, vehicle } => print_info(file.as_deref(), vehicle.as_deref(), json),
        }
    }
}

fn open(file: Option<&Path>) -> anyhow::Result<catalog::Catalog> {
    Ok(file.map_or_else(catalog::Catalog::embedded, catalog::Catalog::load)?)
}

/// Searches for every line of standard input.
fn search_lines(catalog: &catalog::Catalog, year: Option<u16>, limit: usize, json: bool) -> anyhow::Result<()> {
    let nothing = || WrongUsage("nothing to search for: give words, or lines on standard input".to_owned());
    let input = std::io::stdin();
    if input.is_terminal() {
        return Err(nothing().into());
    }
    let mut lines = 0;
    for line in input.lines() {
        print_hits(catalog, &line.context("standard input cannot be read")?, year, limit, json)?;
        lines += 1;
    }
    if lines == 0 { Err(nothing().into()) } else { Ok(()) }
}

fn print_report(report: &import::Report, out: &Path, json: bool) -> anyhow::Result<()> {
    if json {
        return Ok(print::line(serde_json::to_string(report)?)?);
    }
    Ok(print::stream(|output| {
        writeln!(output, "{}", report.package)?;
        writeln!(output, "{}", counts(&report.counts))?;
        for name in &report.missing_sources {
            writeln!(output, "left out: there is no folder {name}")?;
        }
        writeln!(output, "\ndimensions from")?;
        for (from, vehicles) in &report.dimensions_from {
            writeln!(output, "  {vehicles:>7}  {from}")?;
        }
        writeln!(output, "bodies")?;
        for (body, vehicles) in &report.bodies {
            writeln!(output, "  {vehicles:>7}  {body}")?;
        }
        writeln!(output, "share-alike facts: {}", print::count(report.share_alike_vehicles, "vehicle"))?;
        let choice = &report.body_choice;
        let (several, lines) = (choice.several, choice.lines + choice.share_alike_lines);
        writeln!(
            output,
            "choice of bodies: {}, {lines} lines in addition to the release",
            print::count(several, "model")
        )?;
        let (release, supplement) = (report.release_bytes, report.supplement_bytes);
        writeln!(output, "{release} bytes release, {supplement} bytes supplement: {}", out.display())
    })?)
}

fn print_list(catalog: &catalog::Catalog, make: Option<&str>, year: Option<u16>, json: bool) -> anyhow::Result<()> {
    let unknown = |name: &str| NotFound(format!("the catalog has no make `{name}`"));
    let only = make.map(|name| catalog.make(name).ok_or_else(|| unknown(name))).transpose()?;
    let mut listed = 0;
    print::stream(|output| {
        for make in catalog.makes().iter().filter(|make| only.is_none_or(|only| only.id == make.id)) {
            for model in &make.models {
                let years = model.years();
                let years = years.iter().filter(|each| year.is_none_or(|year| *each == year));
                for vehicle in years.filter_map(|year| catalog.vehicle(make, model, year)) {
                    write_vehicle(output, &vehicle, json)?;
                    listed += 1;
                }
            }
        }
        Ok(())
    })?;
    if listed > 0 {
        return Ok(());
    }
    let (first, last) = (catalog.counts().year_from, catalog.counts().year_to);
    let of = only.map_or_else(String::new, |make| format!(" of {}", make.name));
    let when = year.map_or_else(String::new, |year| format!(" in {year}"));
    Err(NotFound(format!("the catalog has no vehicle{of}{when}; its years are {first} to {last}")).into())
}

/// A vehicle and the likeness of its image.
#[derive(Serialize)]
struct ListedVehicle<'a> {
    #[serde(flatten)]
    vehicle: &'a Vehicle,
    likeness: Likeness,
}

fn write_vehicle(output: &mut dyn Write, vehicle: &Vehicle, json: bool) -> std::io::Result<()> {
    let likeness = likeness(vehicle);
    if json {
        return writeln!(output, "{}", serde_json::to_string(&ListedVehicle { vehicle, likeness })?);
    }
    let size = vehicle.dimensions;
    writeln!(
        output,
        "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{likeness}",
        vehicle.make,
        vehicle.model,
        vehicle.year,
        vehicle.vehicle_type,
        vehicle.body,
        size.length_mm,
        size.width_mm,
        size.height_mm,
        size.wheelbase_mm
    )
}

fn print_wanted(answer: &serde_json::Value) -> anyhow::Result<()> {
    let list = |name: &str| answer[name].as_array().cloned().unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Ok(print::stream(|output| {
        writeln!(output, "images    likeness    vehicle")?;
        for wanted in list("vehicles") {
            let [pictures, likeness, make, model, first, last] =
                ["pictures", "likeness", "make", "model", "year_from", "year_to"].map(|name| text(&wanted[name]));
            let years = if first == last { first } else { format!("{first} to {last}") };
            writeln!(output, "{pictures:>8}  {likeness:10}  {make} {model}, {years}")?;
        }
        writeln!(output, "\nrequests  not in the catalog")?;
        for missing in list("missing") {
            writeln!(output, "{:>8}  {}", text(&missing["requests"]), text(&missing["name"]))?;
        }
        Ok(())
    })?)
}

fn print_hits(
    catalog: &catalog::Catalog,
    text: &str,
    year: Option<u16>,
    limit: usize,
    json: bool,
) -> anyhow::Result<()> {
    let hits = catalog.search(text, year, limit);
    if json {
        let hit = |hit: &Hit<'_>| {
            serde_json::json!({
                "match_kind": hit.kind, "make_name": hit.make.name, "make_slug": hit.make.slug,
                "model_name": hit.model.map(|model| &model.name), "model_slug": hit.model.map(|model| &model.slug),
                "years": hit.years,
            })
        };
        let results: Vec<serde_json::Value> = hits.iter().map(hit).collect();
        return Ok(print::line(serde_json::json!({ "query": text, "results": results }))?);
    }
    if hits.is_empty() {
        return Ok(print::line("Nothing found.")?);
    }
    Ok(print::stream(|output| {
        for hit in &hits {
            let model = hit.model.map_or(String::new(), |model| format!(" {}", model.name));
            let (kind, years) = (hit.kind.as_str(), catalog::lookup::ranges(&hit.years));
            writeln!(output, "{kind:8} {}{model} ({years})", hit.make.name)?;
        }
        Ok(())
    })?)
}

fn print_diff(old: &Path, new: &Path, json: bool) -> anyhow::Result<()> {
    let diff = Diff::of(&catalog::Catalog::load(old)?, &catalog::Catalog::load(new)?);
    if json {
        return Ok(print::line(serde_json::to_string(&diff)?)?);
    }
    let years = |models: &std::collections::BTreeMap<String, Vec<u16>>| models.values().map(Vec::len).sum::<usize>();
    Ok(print::stream(|output| {
        for (sign, makes) in [('+', &diff.makes_added), ('-', &diff.makes_removed)] {
            makes.iter().try_for_each(|make| writeln!(output, "{sign} {make}"))?;
        }
        for (sign, models) in [('+', &diff.added), ('-', &diff.removed), ('~', &diff.redrawn)] {
            for (model, years) in models {
                writeln!(output, "{sign} {model} {}", catalog::lookup::ranges(years))?;
            }
        }
        writeln!(
            output,
            "{} added, {} removed, {} with another type, body or size",
            print::count(years(&diff.added), "vehicle"),
            years(&diff.removed),
            years(&diff.redrawn)
        )
    })?)
}

fn print_info(file: Option<&Path>, vehicle: Option<&[String]>, json: bool) -> anyhow::Result<()> {
    let started = Instant::now();
    let catalog = open(file)?;
    let load_ms = started.elapsed().as_secs_f64() * 1000.0;
    if let Some([make, model, year]) = vehicle {
        let year = year.parse().map_err(|_| WrongUsage(format!("YEAR must be a whole number, not `{year}`")))?;
        let found = catalog.find(make, model, year).map_err(|none| NotFound(none.to_string()))?;
        let listed = ListedVehicle { vehicle: &found.vehicle, likeness: likeness(&found.vehicle) };
        return Ok(print::line(serde_json::to_string_pretty(&listed)?)?);
    }
    let coverage = import::Coverage::of(&catalog)?;
    if json {
        let info = serde_json::json!({
            "package": catalog.package(), "sha256": catalog.digest(), "counts": catalog.counts(), "coverage": coverage,
            "likeness": catalog.likeness_counts(),
            "load_ms": load_ms,
        });
        return Ok(print::line(info)?);
    }
    let vehicles = coverage.sized + coverage.of_class;
    let percent = |part: usize| 100.0 * part as f64 / vehicles.max(1) as f64;
    Ok(print::stream(|output| {
        writeln!(output, "{}", catalog.package())?;
        writeln!(output, "{}", counts(&catalog.counts()))?;
        for source in catalog.sources() {
            writeln!(output, "source: {} ({}), {}", source.name, source.region, source.license)?;
        }
        writeln!(output, "bodies, of {}", print::count(vehicles, "vehicle"))?;
        for (body, vehicles) in &coverage.bodies {
            writeln!(output, "  {vehicles:>7}  {body}")?;
        }
        writeln!(output, "sizes")?;
        writeln!(output, "  {:>7}  of the model or its family ({:.1} %)", coverage.sized, percent(coverage.sized))?;
        writeln!(output, "  {:>7}  of the body class ({:.1} %)", coverage.of_class, percent(coverage.of_class))?;
        writeln!(output, "likeness")?;
        for (likeness, vehicles) in catalog.likeness_counts() {
            writeln!(output, "  {vehicles:>7}  {likeness}")?;
        }
        writeln!(output, "sha256: {}", catalog.digest())?;
        writeln!(output, "loaded in {load_ms:.1} ms")
    })?)
}

fn counts(counts: &Counts) -> String {
    format!(
        "{}, {}, {}, {}, {} to {}; {} in all",
        print::count(counts.makes, "make"),
        print::count(counts.model_names, "model name"),
        format_args!("{} {}", counts.entries, plural::noun(counts.entries as i64, "entry", "entries")),
        print::count(counts.vehicle_types, "vehicle type"),
        counts.year_from,
        counts.year_to,
        print::count(counts.vehicles, "vehicle")
    )
}
