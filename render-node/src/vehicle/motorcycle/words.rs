//! Words in the names of makes and models that tell a two-wheeler's family, engine and extras, from
//! `words.toml` of the two-wheelers' sheets.
//!
//! In every list the first row that fits counts. `style` describes how words match.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::engine_kind::EngineKind;

/// All lists of `words.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub otherwise: Otherwise,
    pub type_codes: TypeCodes,
    /// Words of the names that come with an extra, by the extra's name.
    pub with: BTreeMap<String, Vec<String>>,
    /// Named groups of makes that share rows.
    groups: BTreeMap<String, Vec<String>>,
    /// Rows for the body class `motorcycle`.
    pub motorcycles: Vec<FamilyRow>,
    /// Rows for the body class of scooters.
    pub scooters: Vec<FamilyRow>,
    /// Rows for motorcycles that a catalog files among the scooters.
    pub not_scooters: Vec<FamilyRow>,
    /// Rows for makes whose models' names do not tell the family.
    pub makes: Vec<FamilyRow>,
    /// Rows of engines. If no row fits, the family's usual engine is drawn.
    pub engines: Vec<EngineRow>,
}

/// Families for names that tell none.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Otherwise {
    pub scooter: String,
    pub motorcycle: String,
    pub old_motorcycle: String,
    /// Last model year of the motorcycles that `old_motorcycle` is for.
    pub old_until: u16,
}

/// Families that Chinese type codes stand for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TypeCodes {
    pub scooter: String,
    pub off_road: String,
    /// Makes with type codes of their own, to which the Chinese meaning does not apply.
    pub own_codes: Vec<String>,
}

/// A family for vehicles of one of the makes whose names have one of the words.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FamilyRow {
    pub family: String,
    group: Option<String>,
    #[serde(default)]
    pub makes: Vec<String>,
    #[serde(default)]
    pub words: Vec<String>,
}

/// An engine for vehicles of one of the makes whose names have one of the words.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EngineRow {
    pub engine: EngineKind,
    group: Option<String>,
    #[serde(default)]
    pub makes: Vec<String>,
    #[serde(default)]
    pub words: Vec<String>,
}

impl Words {
    /// Reads the words of a text. The error names the key, and for a list the row.
    pub(super) fn read(text: &str) -> Result<Words, String> {
        let mut words: Words = toml::from_str(text).map_err(|error| error.to_string())?;
        let groups = &words.groups;
        for (list, rows) in [
            ("motorcycles", &mut words.motorcycles),
            ("scooters", &mut words.scooters),
            ("not_scooters", &mut words.not_scooters),
            ("makes", &mut words.makes),
        ] {
            for (at, row) in rows.iter_mut().enumerate() {
                settle(groups, row.group.as_deref(), &mut row.makes, &row.words)
                    .map_err(|problem| format!("{}: {problem}", place(list, at, &row.makes, &row.words)))?;
            }
        }
        for (at, row) in words.engines.iter_mut().enumerate() {
            settle(groups, row.group.as_deref(), &mut row.makes, &row.words)
                .map_err(|problem| format!("{}: {problem}", place("engines", at, &row.makes, &row.words)))?;
        }
        for (extra, list) in &words.with {
            list.iter().try_for_each(|word| slug(word)).map_err(|problem| format!("with.{extra}: {problem}"))?;
        }
        Ok(words)
    }

    /// Returns every place that names a family, with the family.
    pub(super) fn families(&self) -> impl Iterator<Item = (String, &str)> {
        let (codes, otherwise) = (&self.type_codes, &self.otherwise);
        let single = [
            ("type_codes.scooter", &codes.scooter),
            ("type_codes.off_road", &codes.off_road),
            ("otherwise.scooter", &otherwise.scooter),
            ("otherwise.motorcycle", &otherwise.motorcycle),
            ("otherwise.old_motorcycle", &otherwise.old_motorcycle),
        ];
        let lists = [
            ("motorcycles", &self.motorcycles),
            ("scooters", &self.scooters),
            ("not_scooters", &self.not_scooters),
            ("makes", &self.makes),
        ];
        let rows = lists.into_iter().flat_map(|(list, rows)| {
            rows.iter().enumerate().map(move |(at, row)| (place(list, at, &row.makes, &row.words), row.family.as_str()))
        });
        single.into_iter().map(|(place, family)| (place.to_owned(), family.as_str())).chain(rows)
    }
}

/// Returns a row's place for an error: its list, its number in the
/// list, and its first word or make.
fn place(list: &str, at: usize, makes: &[String], words: &[String]) -> String {
    let first = words.first().or(makes.first()).map(|word| format!(" (`{word}`)"));
    format!("{list}, row {}{}", at + 1, first.unwrap_or_default())
}

/// Adds the makes of a row's group to the row, and checks the row's makes and words. Fails if the
/// group is unknown, if the row has neither makes nor words, or if one of them is no slug.
fn settle(
    groups: &BTreeMap<String, Vec<String>>,
    group: Option<&str>,
    makes: &mut Vec<String>,
    words: &[String],
) -> Result<(), String> {
    if let Some(name) = group {
        let group = groups.get(name).ok_or_else(|| format!("group: there is no group `{name}`"))?;
        makes.extend(group.iter().cloned());
    }
    if makes.is_empty() && words.is_empty() {
        return Err("a row without makes and words fits everything".to_owned());
    }
    makes.iter().chain(words).try_for_each(|word| slug(word))
}

/// Fails if a word is no slug: names of the catalog are slugs, so such a word would never be found.
fn slug(word: &str) -> Result<(), String> {
    let inner = word.strip_prefix('=').unwrap_or(word);
    let inner = inner.strip_suffix('*').unwrap_or(inner);
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !inner.is_empty() && inner.chars().all(good) {
        Ok(())
    } else {
        Err(format!("`{word}` is no name of the catalog: those are of small letters, digits and hyphens"))
    }
}
