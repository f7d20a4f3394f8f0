//! The data that two-wheelers are drawn from, in files that can be edited without code: a sheet for
//! each family, the words of names that choose a family, and the differences between makes and
//! models. `render-node/sheets/two-wheelers` holds them.

use std::collections::BTreeMap;

use cyclorama_core::vehicle::Vehicle;
use serde::Deserialize;

use super::design::FamilyDesign;
use super::engine_kind::EngineKind;
use super::style::{Style, style_of};
use super::variation::Variation;
use super::words::Words;
use crate::vehicle::sheet::tables::{SheetError, Tables, merged_table};

/// Largest number of extras in one family. Each combination of them is a
/// layout that is kept in memory.
const MAX_EXTRAS: usize = 4;
/// Largest height of a sheet that is counted. A sheet may stand on six others, so a greater
/// height means a circle of bases.
const MAX_HEIGHT: usize = 8;

/// Contents of the files.
pub struct Texts<'t> {
    /// Name and sheet of each family.
    pub families: &'t [(&'t str, &'t str)],
    pub words: &'t str,
    pub variation: &'t str,
}

/// All data that two-wheelers are drawn from, read and checked.
#[derive(Debug, Clone)]
pub struct TwoWheelers {
    families: BTreeMap<String, FamilySheet>,
    words: Words,
    variation: Variation,
}

/// A family's sheet.
#[derive(Debug, Clone)]
struct FamilySheet {
    /// Engines that are tried in this order.
    engines: Vec<FamilyEngine>,
    /// Engine if none of `engines` fits.
    usual_engine: FamilyEngine,
    /// Extras that change something in this family.
    extras: Vec<String>,
    /// Layout for each combination of extras: bit n of the index stands for extra n.
    layouts: Vec<FamilyDesign>,
}

/// The parts of a sheet besides the layout.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    #[serde(rename = "about")]
    _about: String,
    engines: Vec<FamilyEngine>,
    /// Changes for names that come with an extra.
    #[serde(default)]
    with: BTreeMap<String, toml::Table>,
}

/// An engine of a family.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyEngine {
    /// Least and greatest displacement in cm³. `None` if it does not matter.
    cc: Option<[u32; 2]>,
    engine: EngineKind,
    /// True if this engine overrides an engine that the name tells, except an electric one.
    #[serde(default)]
    always: bool,
}

impl TwoWheelers {
    /// Reads and checks the files. The error names the file and the key.
    pub fn read(texts: &Texts<'_>) -> Result<TwoWheelers, SheetError> {
        let in_file = |file: &str| {
            let sheet = format!("two-wheelers/{file}");
            move |problem: String| SheetError { sheet, problem }
        };
        let words = Words::read(texts.words).map_err(in_file("words"))?;
        let variation = Variation::read(texts.variation).map_err(in_file("variation"))?;
        let mut tables = Tables::new();
        for (name, text) in texts.families {
            let fail = in_file(&format!("families/{name}"));
            tables.insert((*name).to_owned(), text.parse().map_err(|error: toml::de::Error| fail(error.to_string()))?);
        }
        let mut families = BTreeMap::new();
        // Bases are read first, so that an error in a base is reported for the base and
        // not for a sheet on top of it.
        let mut names: Vec<&String> = tables.keys().collect();
        names.sort_by_key(|name| height(name, &tables));
        for name in names {
            let family = FamilySheet::read(name, &tables).map_err(in_file(&format!("families/{name}")))?;
            if let Some(extra) = family.extras.iter().find(|extra| !words.with.contains_key(*extra)) {
                let problem = format!("with.{extra}: `words.toml` has no words for it at `[with]`");
                return Err(in_file(&format!("families/{name}"))(problem));
            }
            families.insert(name.clone(), family);
        }
        if let Some((place, family)) = words.families().find(|(_, family)| !families.contains_key(*family)) {
            return Err(in_file("words")(format!("{place}: there is no family `{family}`")));
        }
        Ok(TwoWheelers { families, words, variation })
    }

    /// Returns the layout that a vehicle is drawn with.
    pub(super) fn design(&self, vehicle: &Vehicle) -> FamilyDesign {
        let mut design = self.layout_of_name(vehicle);
        self.variation.vary(&mut design, vehicle);
        design
    }

    /// Returns the layout of a vehicle without the differences of its make and model.
    pub(super) fn layout_of_name(&self, vehicle: &Vehicle) -> FamilyDesign {
        self.layout(&style_of(&self.words, vehicle))
    }

    /// Returns the layout of a style, whose family is one of the sheets.
    pub(super) fn layout(&self, style: &Style<'_>) -> FamilyDesign {
        self.families[style.family].layout(style)
    }
}

impl FamilySheet {
    /// Reads a sheet, merged over its bases.
    fn read(name: &str, tables: &Tables) -> Result<FamilySheet, String> {
        let mut layout = merged_table(name, tables, 0).map_err(|error| match error.sheet == name {
            true => error.problem,
            false => format!("base: {error}"),
        })?;
        let mut header = toml::Table::new();
        for key in ["about", "engines", "with"] {
            header.extend(layout.remove_entry(key));
        }
        let Header { engines, with, .. } = read(header)?;
        let (usual_engine, engines) = engines.split_last().ok_or("engines: must list at least one")?;
        if usual_engine.cc.is_some() {
            return Err("engines: the last one must be for any displacement, without `cc`".to_owned());
        }
        let (extras, changes): (Vec<String>, Vec<toml::Table>) = with.into_iter().unzip();
        if extras.len() > MAX_EXTRAS {
            return Err(format!("with: more than {MAX_EXTRAS} extras"));
        }
        let mut layouts = Vec::with_capacity(1 << extras.len());
        for combination in 0..1_usize << extras.len() {
            let mut table = layout.clone();
            let chosen = || (0..extras.len()).filter(|extra| combination >> extra & 1 == 1);
            for extra in chosen() {
                table.extend(changes[extra].clone());
            }
            let layout = read::<FamilyDesign>(table).and_then(|design| design.check().map(|()| design));
            layouts.push(layout.map_err(|problem| {
                let of: Vec<String> = chosen().map(|extra| format!("with.{}: ", extras[extra])).collect();
                format!("{}{problem}", of.concat())
            })?);
        }
        Ok(FamilySheet { engines: engines.to_vec(), usual_engine: *usual_engine, extras, layouts })
    }

    fn layout(&self, style: &Style<'_>) -> FamilyDesign {
        let bits = self.extras.iter().enumerate().filter(|(_, extra)| style.with.contains(&extra.as_str()));
        let combination = bits.fold(0, |all, (at, _)| all | 1 << at);
        FamilyDesign { engine: self.engine(style), ..self.layouts[combination].clone() }
    }

    fn engine(&self, style: &Style<'_>) -> EngineKind {
        let fits = |[least, greatest]: [u32; 2]| style.displacement.is_some_and(|cc| (least..=greatest).contains(&cc));
        let own = self.engines.iter().find(|engine| engine.cc.is_none_or(fits)).unwrap_or(&self.usual_engine);
        match style.engine {
            Some(named) if !own.always || named == EngineKind::Electric => named,
            _ => own.engine,
        }
    }
}

/// Returns the number of sheets in a sheet's chain of bases, including itself. It is
/// [`MAX_HEIGHT`] at most, also for a circle.
fn height(name: &str, tables: &Tables) -> usize {
    let base = |table: &&toml::Table| tables.get(table.get("base")?.as_str()?);
    std::iter::successors(tables.get(name), base).take(MAX_HEIGHT).count()
}

/// Reads a table as a type. The error names the key.
fn read<T: for<'de> Deserialize<'de>>(table: toml::Table) -> Result<T, String> {
    toml::Value::Table(table).try_into().map_err(|error: toml::de::Error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::library::TWO_WHEELERS;
    use crate::vehicle::motorcycle::design::Luggage;
    use crate::vehicle::motorcycle::motorcycle;

    /// The error that this program's files give with one text replaced by another.
    fn error_with(replace: &str, old: &str, new: &str) -> String {
        let change = |file: &str, text: &'static str| -> String {
            assert!(file != replace || text.contains(old), "{file} has no `{old}`");
            if file == replace { text.replacen(old, new, 1) } else { text.to_owned() }
        };
        let Texts { families, words, variation } = TWO_WHEELERS;
        let families: Vec<(&str, String)> = families.iter().map(|(name, text)| (*name, change(name, text))).collect();
        let families: Vec<(&str, &str)> = families.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let (words, variation) = (change("words", words), change("variation", variation));
        let texts = Texts { families: &families, words: &words, variation: &variation };
        TwoWheelers::read(&texts).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_faulty_file_is_refused_by_its_name_and_key() {
        for (file, old, new, named) in [
            ("naked", "wheelbase = 1.43", "wheelbas = 1.43", ["families/naked", "wheelbas"]),
            ("naked", "wheelbase = 1.43", "wheelbase = 14.3", ["families/naked", "wheelbase"]),
            ("naked", "nose = \"wedge\"", "nose = \"wegde\"", ["families/naked", "wegde"]),
            ("naked", "engine = \"single\"", "engine = \"diesel\"", ["families/naked", "diesel"]),
            ("naked", "{ engine = \"inline-4\" }", "{ cc = [1, 2], engine = \"v\" }", ["families/naked", "engines"]),
            ("cabin", "about = ", "abuot = ", ["families/cabin", "abuot"]),
            ("cabin", "base = \"maxi-scooter\"", "base = \"cabin\"", ["families/cabin", "base"]),
            ("cabin", "base = \"maxi-scooter\"", "base = \"lorry\"", ["families/cabin", "lorry"]),
            ("bagger", "nose = \"shark\"", "nose = \"whale\"", ["families/bagger", "with.cowl-on-frame"]),
            ("bagger", "[with.cowl-on-frame]", "[with.wings]", ["families/bagger", "with.wings"]),
            (
                "words",
                "family = \"adventure\"",
                "family = \"advent\"",
                ["two-wheelers/words", "motorcycles, row 1 (`africa*`)"],
            ),
            ("words", "old_motorcycle = \"classic\"", "old_motorcycle = \"old\"", ["two-wheelers/words", "otherwise"]),
            ("words", "engine = \"boxer\"", "engine = \"boxter\"", ["two-wheelers/words", "boxter"]),
            ("words", "group = \"ktm-and-off-road\"", "group = \"nobody\"", ["two-wheelers/words", "nobody"]),
            ("words", "\"africa*\"", "\"Africa Twin\"", ["two-wheelers/words", "Africa Twin"]),
            ("variation", "rake = 0.022", "rack = 0.022", ["two-wheelers/variation", "rack"]),
            ("variation", "makes = [\"ducati\"]", "makes = [\"honda\"]", ["two-wheelers/variation", "honda"]),
        ] {
            let error = error_with(file, old, new);
            assert!(named.iter().all(|part| error.contains(part)), "{file}, {new}: {error}");
        }
        assert_eq!(error_with("words", "", ""), "");
    }

    #[test]
    fn every_extra_that_names_come_with_changes_a_family() {
        let two_wheelers = TwoWheelers::read(&TWO_WHEELERS).unwrap();
        for extra in two_wheelers.words.with.keys() {
            assert!(two_wheelers.families.values().any(|family| family.extras.contains(extra)), "{extra}");
        }
    }

    #[test]
    fn every_sheet_is_some_names_family() {
        let two_wheelers = TwoWheelers::read(&TWO_WHEELERS).unwrap();
        for name in two_wheelers.families.keys() {
            assert!(two_wheelers.words.families().any(|(_, family)| family == name), "{name}");
        }
    }

    /// The family and the row of words that the documentation shows.
    fn documented() -> [&'static str; 2] {
        const DOCUMENT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/drawing-vehicles.md"));
        let (_, section) = DOCUMENT.split_once("\n## Two-wheelers\n").unwrap();
        let mut blocks = section.split("```toml\n").skip(1).map(|block| block.split_once("```").unwrap().0);
        std::array::from_fn(|_| blocks.next().unwrap())
    }

    #[test]
    fn a_new_family_and_a_new_name_need_no_code() {
        let [sheet, row] = documented();
        let mut families = TWO_WHEELERS.families.to_vec();
        families.push(("crossover", sheet));
        let words = format!("{}\n{row}", TWO_WHEELERS.words);
        let texts = Texts { families: &families, words: &words, ..TWO_WHEELERS };
        let two_wheelers = TwoWheelers::read(&texts).unwrap();
        let line = "acme\ttr-650\t2020\tmotorcycle\tmotorcycle\t2130\t800\t1110\t1430\n";
        let vehicle = &crate::vehicle::catalog_line::vehicles_of(line).unwrap()[0];
        let design = two_wheelers.layout_of_name(vehicle);
        assert_eq!((design.clearance, design.engine, design.luggage), (0.21, EngineKind::Inline(2), Luggage::None));
        let packed = two_wheelers.layout(&Style::of("crossover", EngineKind::Boxer, &["luggage"]));
        assert_eq!((packed.clearance, packed.engine, packed.luggage), (0.21, EngineKind::Boxer, Luggage::Boxes));
        assert_eq!(packed.wheelbase, two_wheelers.layout(&Style::of("naked", EngineKind::Boxer, &[])).wheelbase);
        assert!(motorcycle(&two_wheelers, vehicle).triangle_count() > 12_000);
    }
}
