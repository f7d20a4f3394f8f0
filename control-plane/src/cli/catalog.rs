//! `cyclorama catalog ...`: make a release file, say what one holds, compare two; `reload` asks a running service.

use super::client::Where;
use super::print;
use crate::catalog::search::Hit;
use crate::catalog::{self, Counts, Diff, import};
use anyhow::{Context, bail};
use clap::Subcommand;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Debug, Subcommand)]
pub enum Catalog {
    /// Make a release file from the vehicle package and the body and dimension sources
    Import {
        /// Folder or .tgz of the npm package @meterapp/vehicle-db
        #[arg(long)]
        package: PathBuf,
        /// Folder with one folder a source; a source that is missing is left out
        #[arg(long)]
        sources: PathBuf,
        /// Rules file to use in place of the built-in one
        #[arg(long)]
        rules: Option<PathBuf>,
        /// Release file to write; its share-alike supplement is written beside it
        #[arg(long)]
        out: PathBuf,
    },
    /// List what can be asked for: one line a make, model and year, tab-separated
    List {
        /// Release file; the built-in release if absent
        #[arg(long)]
        file: Option<PathBuf>,
        /// Only this make, by name or slug
        #[arg(long)]
        make: Option<String>,
        /// Only this year
        #[arg(long)]
        year: Option<u16>,
    },
    /// Look words up, as GET /api/v1/vehicles?q= does
    Search {
        /// Release file; the built-in release if absent
        #[arg(long)]
        file: Option<PathBuf>,
        /// Only this model year
        #[arg(long)]
        year: Option<u16>,
        /// How many results
        #[arg(long, default_value_t = 10)]
        limit: usize,
        /// What to look for; without it every line of standard input is looked up, one answer a line with --json
        text: Vec<String>,
    },
    /// Say what changes from one release file to another
    Diff { old: PathBuf, new: PathBuf },
    /// Have every process of the running service read its release file (CYCLORAMA_CATALOG) again
    Reload,
    /// Say what a release holds
    Info {
        /// Release file; the built-in release if absent
        #[arg(long)]
        file: Option<PathBuf>,
        /// One vehicle of it: make, model and year
        #[arg(long, num_args = 3, value_names = ["MAKE", "MODEL", "YEAR"])]
        vehicle: Option<Vec<String>>,
    },
}

impl Catalog {
    /// All but `reload` works on files alone, and needs no running service.
    pub async fn run(self, whereabouts: &Where, json: bool) -> anyhow::Result<()> {
        match self {
            Catalog::Import { package, sources, rules, out } => {
                print_report(&import::import(&package, &sources, rules.as_deref(), &out)?, &out, json)?;
            }
            Catalog::List { file, make, year } => print_list(file.as_deref(), make.as_deref(), year, json)?,
            Catalog::Search { file, year, limit, text } => {
                let catalog = file.as_deref().map_or_else(catalog::Catalog::embedded, catalog::Catalog::load)?;
                match text.is_empty() {
                    true => {
                        std::io::stdin().lines().try_for_each(|line| print_hits(&catalog, &line?, year, limit, json))?
                    }
                    false => print_hits(&catalog, &text.join(" "), year, limit, json)?,
                }
            }
            Catalog::Diff { old, new } => print_diff(&old, &new, json)?,
            Catalog::Reload => {
                let answer = whereabouts.find()?.post("/admin/catalog/reload", serde_json::json!({})).await?;
                print::answer(&answer, json);
                if answer["everywhere"] == false {
                    bail!("not every process answers from this release: see `processes`");
                }
            }
            Catalog::Info { file, vehicle } => print_info(file.as_deref(), vehicle.as_deref(), json)?,
        }
        Ok(())
    }
}

fn print_report(report: &import::Report, out: &Path, json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string(report)?);
        return Ok(());
    }
    println!("{}", report.package);
    print_counts(&report.counts);
    report.missing_sources.iter().for_each(|name| println!("left out: there is no folder {name}"));
    println!("\ndimensions from");
    report.dimensions_from.iter().for_each(|(from, vehicles)| println!("  {vehicles:>7}  {from}"));
    println!("bodies");
    report.bodies.iter().for_each(|(body, vehicles)| println!("  {vehicles:>7}  {body}"));
    println!("{} vehicles have share-alike facts", report.share_alike_vehicles);
    println!("{} bytes release, {} bytes supplement: {}", report.release_bytes, report.supplement_bytes, out.display());
    Ok(())
}

fn print_list(file: Option<&Path>, make: Option<&str>, year: Option<u16>, json: bool) -> anyhow::Result<()> {
    let catalog = file.map_or_else(catalog::Catalog::embedded, catalog::Catalog::load)?;
    let only =
        make.map(|name| catalog.make(name).with_context(|| format!("the catalog has no make `{name}`"))).transpose()?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for make in catalog.makes().iter().filter(|make| only.is_none_or(|only| only.id == make.id)) {
        for model in &make.models {
            let years = model.years();
            for vehicle in years
                .iter()
                .filter(|each| year.is_none_or(|year| *each == year))
                .filter_map(|year| catalog.vehicle(make, model, year))
            {
                let size = vehicle.dimensions;
                let written = if json {
                    writeln!(out, "{}", serde_json::to_string(&vehicle)?)
                } else {
                    writeln!(
                        out,
                        "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
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
                };
                match written {
                    // `| head` has read enough.
                    Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
                    other => other?,
                }
            }
        }
    }
    Ok(out.flush()?)
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
        println!("{}", serde_json::json!({ "query": text, "results": results }));
        return Ok(());
    }
    for hit in &hits {
        let model = hit.model.map_or(String::new(), |model| format!(" {}", model.name));
        println!("{:8} {}{model} ({})", hit.kind.as_str(), hit.make.name, catalog::lookup::ranges(&hit.years));
    }
    Ok(())
}

fn print_diff(old: &Path, new: &Path, json: bool) -> anyhow::Result<()> {
    let diff = Diff::of(&catalog::Catalog::load(old)?, &catalog::Catalog::load(new)?);
    if json {
        println!("{}", serde_json::to_string(&diff)?);
        return Ok(());
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for (sign, makes) in [('+', &diff.makes_added), ('-', &diff.makes_removed)] {
        makes.iter().try_for_each(|make| writeln!(out, "{sign} {make}"))?;
    }
    for (sign, models) in [('+', &diff.added), ('-', &diff.removed), ('~', &diff.redrawn)] {
        for (model, years) in models {
            writeln!(out, "{sign} {model} {}", catalog::lookup::ranges(years))?;
        }
    }
    let years = |models: &std::collections::BTreeMap<String, Vec<u16>>| models.values().map(Vec::len).sum::<usize>();
    writeln!(
        out,
        "{} vehicles added, {} removed, {} of another type, body or size",
        years(&diff.added),
        years(&diff.removed),
        years(&diff.redrawn)
    )?;
    Ok(out.flush()?)
}

fn print_info(file: Option<&Path>, vehicle: Option<&[String]>, json: bool) -> anyhow::Result<()> {
    let started = Instant::now();
    let catalog = file.map_or_else(catalog::Catalog::embedded, catalog::Catalog::load)?;
    let load_ms = started.elapsed().as_secs_f64() * 1000.0;
    if let Some([make, model, year]) = vehicle {
        let found = catalog.find(make, model, year.parse().context("YEAR is a whole number")?)?;
        println!("{}", serde_json::to_string_pretty(&found.vehicle)?);
        return Ok(());
    }
    if json {
        let coverage = import::Coverage::of(&catalog)?;
        let info = serde_json::json!({
            "package": catalog.package(), "sha256": catalog.digest(), "counts": catalog.counts(), "coverage": coverage,
            "load_ms": load_ms,
        });
        println!("{info}");
        return Ok(());
    }
    println!("{}", catalog.package());
    print_counts(&catalog.counts());
    for source in catalog.sources() {
        println!("source: {} ({}), {}", source.name, source.region, source.license);
    }
    let coverage = import::Coverage::of(&catalog)?;
    let vehicles = coverage.sized + coverage.of_class;
    println!("bodies, of {vehicles} vehicles");
    coverage.bodies.iter().for_each(|(body, vehicles)| println!("  {vehicles:>7}  {body}"));
    let share = |part: usize| 100.0 * part as f64 / vehicles.max(1) as f64;
    println!("sizes\n  {:>7}  of the model or its family ({:.1} %)", coverage.sized, share(coverage.sized));
    println!("  {:>7}  of the body class ({:.1} %)", coverage.of_class, share(coverage.of_class));
    println!("sha256: {}", catalog.digest());
    println!("loaded in {load_ms:.1} ms");
    Ok(())
}

fn print_counts(counts: &Counts) {
    println!(
        "{} makes, {} model names, {} entries, {} vehicle types, {} to {}; {} vehicles can be asked for",
        counts.makes,
        counts.model_names,
        counts.entries,
        counts.vehicle_types,
        counts.year_from,
        counts.year_to,
        counts.vehicles
    );
}
