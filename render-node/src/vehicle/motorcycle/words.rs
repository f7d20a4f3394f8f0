//! Words of makes' and models' names that give a two-wheeler's family, engine and extras away, as `words.toml` of the
//! two-wheelers' sheets lists them. In every list the first row that fits counts. How words match: `style`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::engine_kind::Engine;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub otherwise: Otherwise,
    pub type_codes: TypeCodes,
    /// Words of the names that come with an extra, by the extra's name.
    pub with: BTreeMap<String, Vec<String>>,
    /// Makes that share rows, by a name of their own.
    groups: BTreeMap<String, Vec<String>>,
    /// For the body class `motorcycle`.
    pub motorcycles: Vec<FamilyRow>,
    pub scooters: Vec<FamilyRow>,
    /// Motorcycles that a catalog files among the scooters.
    pub not_scooters: Vec<FamilyRow>,
    /// Of makes whose models' names say nothing.
    pub makes: Vec<FamilyRow>,
    /// What no row fits has its family's usual engine.
    pub engines: Vec<EngineRow>,
}

/// Families where nothing else says one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Otherwise {
    pub scooter: String,
    pub motorcycle: String,
    pub old_motorcycle: String,
    /// Last model year of old motorcycles.
    pub old_until: u16,
}

/// Families that Chinese type codes stand for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TypeCodes {
    pub scooter: String,
    pub off_road: String,
    /// Makes whose codes are their own, not the Chinese ones.
    pub own_codes: Vec<String>,
}

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

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EngineRow {
    pub engine: Engine,
    group: Option<String>,
    #[serde(default)]
    pub makes: Vec<String>,
    #[serde(default)]
    pub words: Vec<String>,
}

impl Words {
    /// The words of a text; the error names the key, and of a list the row.
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

    /// Every place that names a family, with the family.
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

/// Where a row is: its list, its number there, and the first word or make to search for.
fn place(list: &str, at: usize, makes: &[String], words: &[String]) -> String {
    let first = words.first().or(makes.first()).map(|word| format!(" (`{word}`)"));
    format!("{list}, row {}{}", at + 1, first.unwrap_or_default())
}

/// Puts the makes of a row's group among its own, and checks what the row asks for.
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

/// Names of the catalog are slugs: anything else is never found in one.
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
