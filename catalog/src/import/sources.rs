//! Readers of the sources of bodies and dimensions: one function for each publisher, which turns
//! rows into sightings. The files are xz-compressed CSV or JSON, in one folder for each publisher.

use super::ImportError;
use super::evidence::{Evidence, KnownModels, Publisher, SizeSighting, Target};
use super::rules::Rules;
use crate::names;
use cyclorama_core::BodyClass;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum size of one decompressed file, in bytes; the largest (EPA) has 22 MB.
const FILE_BYTES_MAX: u64 = 256 << 20;
const MM_PER_INCH: f64 = 25.4;

/// Rows of one file; the values of a row are read by the name of their column.
struct CsvTable {
    path: PathBuf,
    columns: HashMap<String, usize>,
    rows: Vec<csv::StringRecord>,
}

struct Row<'a> {
    table: &'a CsvTable,
    cells: &'a csv::StringRecord,
}

impl Row<'_> {
    /// The value of a column. Empty for a column that the file does not have, because one
    /// publisher's files differ by period.
    fn get(&self, column: &str) -> &str {
        self.table.columns.get(column).and_then(|index| self.cells.get(*index)).unwrap_or("").trim()
    }

    fn year(&self, column: &str) -> Option<u16> {
        self.get(column).parse().ok()
    }

    fn number(&self, column: &str) -> Option<f64> {
        self.get(column).split_whitespace().next()?.parse().ok().filter(|value: &f64| *value > 0.0)
    }

    fn inches_as_mm(&self, column: &str) -> Option<u32> {
        self.number(column).map(|inches| (inches * MM_PER_INCH).round() as u32)
    }
}

impl CsvTable {
    fn read(path: PathBuf, delimiter: u8, skip_lines: usize) -> Result<Self, ImportError> {
        let text = text(&path)?;
        let mut body = text.as_str();
        for _ in 0..skip_lines {
            body = body.split_once('\n').map_or("", |(_, rest)| rest);
        }
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(body.as_bytes());
        let wrong = |source| ImportError::Table { path: path.clone(), source };
        let columns = reader
            .headers()
            .map_err(wrong)?
            .iter()
            .enumerate()
            .map(|(index, name)| (name.trim().to_owned(), index))
            .collect();
        let rows = reader.records().collect::<Result<_, _>>().map_err(wrong)?;
        Ok(Self { path, columns, rows })
    }

    /// Checks that the file has these columns. A file of another shape is an error, rather than a
    /// file without rows.
    fn with(self, columns: &[&str]) -> Result<Self, ImportError> {
        match columns.iter().find(|column| !self.columns.contains_key(**column)) {
            Some(column) => Err(ImportError::Column { path: self.path, column: (*column).to_owned() }),
            None => Ok(self),
        }
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { table: self, cells })
    }
}

/// Returns a file's text, decompressed: UTF-8 with or without a byte order mark, else Latin-1 (two
/// of NRCan's files).
fn text(path: &Path) -> Result<String, ImportError> {
    let unreadable = |source| ImportError::Read { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|extension| extension == "xz") {
        xz2::read::XzDecoder::new(file).take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(unreadable)?;
    } else {
        file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    let text =
        String::from_utf8(bytes).unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect());
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

/// Reads every source folder that exists. Missing folders are left out, and their names returned.
pub fn read_all(
    folder: &Path,
    rules: &Rules,
    known: &KnownModels,
) -> Result<(Evidence, Vec<&'static str>), ImportError> {
    let mut evidence = Evidence::default();
    let mut missing = Vec::new();
    type Reader = fn(&Path, &Rules, &KnownModels, &mut Evidence) -> Result<(), ImportError>;
    let readers: [(&'static str, Reader); 8] = [
        ("ca-cvs-allcarsdb", cvs),
        ("us-epa-omega", omega),
        ("us-car-models-data", us_car_models),
        ("open-ev-data", open_ev),
        ("fr-ademe-carlabelling", ademe),
        ("us-epa-fueleconomy", epa),
        ("ca-nrcan-fuel", nrcan),
        ("vehiclesdb", vehiclesdb),
    ];
    for (name, read) in readers {
        let source = folder.join(name);
        if source.is_dir() { read(&source, rules, known, &mut evidence)? } else { missing.push(name) }
    }
    evidence.gather_families(rules);
    Ok((evidence, missing))
}

fn cvs(folder: &Path, rules: &Rules, known: &KnownModels, evidence: &mut Evidence) -> Result<(), ImportError> {
    let configs = CsvTable::read(folder.join("body_configs.csv.xz"), b',', 0)?.with(&[
        "Ref",
        "Body_Style",
        "Doors",
        "Cab_Config",
        "Length_in",
        "Width_in",
        "Height_in",
        "Wheelbase_in",
        "Track_Front_in",
    ])?;
    let by_ref: HashMap<&str, Row<'_>> = configs
        .rows
        .iter()
        .filter_map(|cells| {
            let row = Row { table: &configs, cells };
            cells.get(configs.columns["Ref"]).map(|reference| (reference, row))
        })
        .collect();
    let links = CsvTable::read(folder.join("ymm_body_configs.csv.xz"), b',', 0)?.with(&[
        "Make",
        "Model",
        "Year",
        "Body_Config_Ref",
    ])?;
    for link in links.rows() {
        let (Some(year), Some(config)) = (link.year("Year"), by_ref.get(link.get("Body_Config_Ref"))) else { continue };
        let target = Target::resolve(rules, known, link.get("Make"), link.get("Model"));
        let cab = config.get("Cab_Config");
        let body = match (config.get("Body_Style"), cab, config.get("Doors")) {
            ("", "", "3" | "5") => Some(BodyClass::Hatchback),
            ("", "", _) => None,
            ("", _, _) => Some(BodyClass::Pickup),
            (style, _, _) => word(style),
        }
        .or(target.word_body);
        if let Some(body) = body {
            evidence.add_body(&target, Publisher::Cvs, year, body);
        }
        let sizes =
            (config.inches_as_mm("Length_in"), config.inches_as_mm("Height_in"), config.inches_as_mm("Wheelbase_in"));
        if let (Some(length_mm), Some(height_mm), Some(wheelbase_mm)) = sizes {
            let size = SizeSighting {
                publisher: Publisher::Cvs,
                from: year,
                to: year,
                body,
                four_door_cab: matches!(cab, "Crew" | "Double" | "Quad" | "Mega"),
                length_mm,
                height_mm,
                wheelbase_mm,
                width_mm: config.inches_as_mm("Width_in"),
                front_track_mm: config.inches_as_mm("Track_Front_in"),
            };
            evidence.add_size(&target, size);
        }
    }
    Ok(())
}

fn omega(folder: &Path, rules: &Rules, known: &KnownModels, evidence: &mut Evidence) -> Result<(), ImportError> {
    let generations = CsvTable::read(folder.join("bodyid.csv.xz"), b',', 0)?.with(&[
        "BodyID",
        "BodyID StartYear",
        "BodyID EndYear",
        "Last Observed Year_BodyID",
    ])?;
    let spans: HashMap<String, (u16, u16)> = generations
        .rows()
        .filter_map(|row| {
            let from = row.year("BodyID StartYear")?;
            let to = row.year("BodyID EndYear").or_else(|| row.year("Last Observed Year_BodyID"))?;
            (from <= to).then(|| (row.get("BodyID").to_owned(), (from, to)))
        })
        .collect();
    let trims = CsvTable::read(folder.join("edmunds-bodyid.csv.xz"), b',', 0)?.with(&[
        "ModelYear",
        "Make",
        "Model",
        "Trims",
        "HEIGHT",
        "LENGTH",
        "WHEELBASE",
        "BodyID",
    ])?;
    for trim in trims.rows() {
        let Some(year) = trim.year("ModelYear") else { continue };
        let target = Target::resolve(rules, known, trim.get("Make"), trim.get("Model"));
        let text = trim.get("Trims");
        let text = text.split(" (").next().unwrap_or(text);
        // Chassis cabs have no body of their own.
        if text.contains("Chassis") || text.contains("Cutaway") {
            continue;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let body = words.iter().rev().find_map(|text| word(text)).or(target.word_body);
        if let Some(body) = body {
            evidence.add_body(&target, Publisher::Omega, year, body);
        }
        let sizes = (trim.inches_as_mm("LENGTH"), trim.inches_as_mm("HEIGHT"), trim.inches_as_mm("WHEELBASE"));
        if let (Some(length_mm), Some(height_mm), Some(wheelbase_mm)) = sizes {
            let (from, to) = spans
                .get(trim.get("BodyID"))
                .copied()
                .filter(|(from, to)| (*from..=*to).contains(&year))
                .unwrap_or((year, year));
            let four_door_cab =
                ["Crew", "Double", "Quad", "SuperCrew", "Mega", "CrewMax"].iter().any(|cab| words.contains(cab));
            let size = SizeSighting {
                publisher: Publisher::Omega,
                from,
                to,
                body,
                four_door_cab,
                length_mm,
                height_mm,
                wheelbase_mm,
                width_mm: None,
                front_track_mm: None,
            };
            evidence.add_size(&target, SizeSighting { from: year, to: year, ..size });
            if from != to {
                evidence.add_size(&target, size);
            }
        }
    }
    Ok(())
}

fn us_car_models(
    folder: &Path,
    rules: &Rules,
    known: &KnownModels,
    evidence: &mut Evidence,
) -> Result<(), ImportError> {
    let table = CsvTable::read(folder.join("us-car-models-1992-2026.csv.xz"), b',', 0)?.with(&[
        "year",
        "make",
        "model",
        "body_styles",
    ])?;
    for row in table.rows() {
        let Some(year) = row.year("year") else { continue };
        let target = Target::resolve(rules, known, row.get("make"), row.get("model"));
        let styles: Vec<String> = serde_json::from_str(row.get("body_styles")).unwrap_or_default();
        for body in styles.iter().filter_map(|style| word(style)) {
            evidence.add_body(&target, Publisher::UsCarModels, year, body);
        }
    }
    Ok(())
}

#[derive(Deserialize, Default, Clone)]
struct EvFragment {
    make: Option<EvName>,
    model: Option<EvName>,
    #[serde(default)]
    year: Option<u16>,
    #[serde(default)]
    body: Option<EvBody>,
    #[serde(default)]
    dimensions: Option<EvDimensions>,
}

#[derive(Deserialize, Clone)]
struct EvName {
    name: String,
}

#[derive(Deserialize, Clone)]
struct EvBody {
    style: Option<String>,
}

#[derive(Deserialize, Clone, Default)]
struct EvDimensions {
    length_mm: Option<f64>,
    width_mm: Option<f64>,
    height_mm: Option<f64>,
    wheelbase_mm: Option<f64>,
}

fn open_ev(folder: &Path, rules: &Rules, known: &KnownModels, evidence: &mut Evidence) -> Result<(), ImportError> {
    let path = folder.join("open-ev-data-src.json.xz");
    let fragments: BTreeMap<String, serde_json::Value> =
        serde_json::from_str(&text(&path)?).map_err(|source| ImportError::Json { path: path.clone(), source })?;
    let fragment = |value: &serde_json::Value| serde_json::from_value::<EvFragment>(value.clone()).unwrap_or_default();
    for (base_path, base) in fragments.iter().filter(|(path, _)| path.ends_with("/base.json")) {
        let base = fragment(base);
        let (Some(make), Some(model)) = (&base.make, &base.model) else { continue };
        let target = Target::resolve(rules, known, &make.name, &model.name);
        let inside = base_path.trim_end_matches("base.json");
        let years: Vec<u16> = fragments
            .range(inside.to_owned()..)
            .take_while(|(path, _)| path.starts_with(inside))
            .filter_map(|(_, value)| fragment(value).year)
            .collect();
        let (Some(from), Some(to)) = (years.iter().min(), years.iter().max()) else { continue };
        let body = base.body.as_ref().and_then(|body| body.style.as_deref()).and_then(word);
        if let Some(body) = body {
            for year in *from..=*to {
                evidence.add_body(&target, Publisher::OpenEv, year, body);
            }
        }
        let size = base.dimensions.unwrap_or_default();
        if let (Some(length), Some(width), Some(height), Some(wheelbase)) =
            (size.length_mm, size.width_mm, size.height_mm, size.wheelbase_mm)
        {
            let size = SizeSighting {
                publisher: Publisher::OpenEv,
                from: *from,
                to: *to,
                body,
                four_door_cab: true,
                length_mm: length as u32,
                height_mm: height as u32,
                wheelbase_mm: wheelbase as u32,
                width_mm: Some(width as u32),
                front_track_mm: None,
            };
            evidence.add_size(&target, size);
        }
    }
    Ok(())
}

fn ademe(folder: &Path, rules: &Rules, known: &KnownModels, evidence: &mut Evidence) -> Result<(), ImportError> {
    let table = CsvTable::read(folder.join("ADEME-CarLabelling.csv.xz"), b';', 0)?.with(&[
        "Marque",
        "Modèle",
        "Carrosserie",
        "Gamme",
    ])?;
    for row in table.rows() {
        let target = Target::resolve(rules, known, row.get("Marque"), row.get("Modèle"));
        let body = match (row.get("Carrosserie"), row.get("Gamme")) {
            ("BERLINE", "ECONOMIQUE" | "INFERIEURE" | "MOYENNE INFERIEURE") => BodyClass::Hatchback,
            ("BERLINE", _) => BodyClass::Sedan,
            ("BREAK", _) => BodyClass::Wagon,
            ("COUPE", _) => BodyClass::Coupe,
            ("CABRIOLET", _) => BodyClass::Convertible,
            ("MONOSPACE" | "MONOSPACE COMPACT" | "MINISPACE", _) => BodyClass::Minivan,
            ("COMBISPACE" | "MINIBUS", _) => BodyClass::Van,
            ("TS TERRAINS/CHEMINS", _) => BodyClass::Suv,
            _ => continue,
        };
        // The table is of 2023.
        evidence.add_body(&target, Publisher::Ademe, 2023, body);
    }
    Ok(())
}

fn epa(folder: &Path, rules: &Rules, known: &KnownModels, evidence: &mut Evidence) -> Result<(), ImportError> {
    let table = CsvTable::read(folder.join("vehicles.csv.xz"), b',', 0)?.with(&[
        "year",
        "make",
        "model",
        "baseModel",
        "VClass",
        "pv2",
        "pv4",
        "hpv",
    ])?;
    for row in table.rows() {
        let Some(year) = row.year("year") else { continue };
        let full = Target::resolve(rules, known, row.get("make"), row.get("model"));
        let base = Target::resolve(rules, known, row.get("make"), row.get("baseModel"));
        let class = row.get("VClass");
        let by_volume = match (row.number("pv2"), row.number("pv4"), row.number("hpv")) {
            (None, None, Some(_)) => BodyClass::Hatchback,
            (Some(_), None, _) => BodyClass::Coupe,
            _ => BodyClass::Sedan,
        };
        let Some(body) = full.word_body.or_else(|| size_class(class, by_volume)) else { continue };
        evidence.add_body(&full, Publisher::SizeClass, year, body);
        if base.model != full.model {
            evidence.add_body(&base, Publisher::SizeClass, year, body);
        }
    }
    Ok(())
}

fn nrcan(folder: &Path, rules: &Rules, known: &KnownModels, evidence: &mut Evidence) -> Result<(), ImportError> {
    let unreadable = |source| ImportError::Read { path: folder.to_owned(), source };
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if !path.to_string_lossy().ends_with(".csv.xz") {
            continue;
        }
        let table = CsvTable::read(path, b',', 0)?.with(&["Model year", "Make", "Model", "Vehicle class"])?;
        for row in table.rows() {
            let Some(year) = row.year("Model year") else { continue };
            let target = Target::resolve(rules, known, row.get("Make"), row.get("Model"));
            let Some(body) = target.word_body.or_else(|| size_class(row.get("Vehicle class"), BodyClass::Sedan)) else {
                continue;
            };
            evidence.add_body(&target, Publisher::SizeClass, year, body);
        }
    }
    Ok(())
}

/// Returns the body for a size class of EPA or NRCan. Special-purpose vehicles can be anything, so
/// they give none.
fn size_class(class: &str, car: BodyClass) -> Option<BodyClass> {
    let class = class.to_ascii_lowercase();
    let has = |word: &str| class.contains(word);
    match () {
        () if has("special") => None,
        () if has("sport utility") || has("suv") => Some(BodyClass::Suv),
        () if has("pickup") => Some(BodyClass::Pickup),
        () if has("minivan") => Some(BodyClass::Minivan),
        () if has("van") => Some(BodyClass::Van),
        () if has("wagon") => Some(BodyClass::Wagon),
        () if has("two") && has("seater") => Some(BodyClass::Coupe),
        () if has("compact") || has("mid") || has("large") || has("full-size") => Some(car),
        () => None,
    }
}

fn vehiclesdb(folder: &Path, rules: &Rules, known: &KnownModels, evidence: &mut Evidence) -> Result<(), ImportError> {
    let table = CsvTable::read(folder.join("vehicles.csv.xz"), b',', 0)?.with(&[
        "kind",
        "make_name",
        "model_name",
        "body_types",
        "global_popularity_decile",
    ])?;
    for row in table.rows() {
        let make = rules.make_key(row.get("make_name"));
        // An alias (`BMW Alpina`) is not a name of the make that it stands for.
        if names::key(row.get("make_name")) == make {
            evidence.make_names.entry(make.clone()).or_insert_with(|| row.get("make_name").to_owned());
        }
        let key = names::key(row.get("model_name"));
        if !known.get(&make).is_some_and(|models| models.contains(&key)) {
            continue;
        }
        let register = &mut evidence.at(&make, &key).register;
        register.kinds.insert(row.get("kind").to_owned());
        if row.get("kind") == "car" {
            register
                .car_bodies
                .extend(row.get("body_types").split('|').filter(|body| !body.is_empty()).map(str::to_owned));
        }
        let decile = row.get("global_popularity_decile").parse().unwrap_or(0);
        if decile > 0 && (register.popularity == 0 || decile < register.popularity) {
            register.popularity = decile;
        }
    }
    // A line is `"VW": Volkswagen  # why`: a flat mapping, one entry a line.
    for line in text(&folder.join("make-search-aliases.yml"))?.lines() {
        let line = line.split(" #").next().unwrap_or(line);
        let Some((alias, make)) = line.split_once(':').filter(|_| line.starts_with('"')) else { continue };
        let alias = alias.trim().trim_matches('"').to_owned();
        evidence.make_aliases.entry(rules.make_key(make.trim())).or_default().push(alias);
    }
    Ok(())
}

/// Returns the body for a body word of the sources.
fn word(text: &str) -> Option<BodyClass> {
    Some(match text.to_ascii_lowercase().as_str() {
        "sedan" => BodyClass::Sedan,
        "coupe" => BodyClass::Coupe,
        "hatchback" => BodyClass::Hatchback,
        "wagon" | "shooting_brake" => BodyClass::Wagon,
        "suv" | "crossover" | "mini_suv" | "suv_coupe" => BodyClass::Suv,
        "pickup" | "cab" | "supercab" | "supercrew" => BodyClass::Pickup,
        "van" | "van/minivan" => BodyClass::Van,
        "minivan" | "mpv" => BodyClass::Minivan,
        "convertible" | "roadster" | "cabriolet" => BodyClass::Convertible,
        "fastback" => BodyClass::Fastback,
        _ => return None,
    })
}
