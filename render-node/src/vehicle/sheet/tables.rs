//! Sheets and faces as TOML tables, and the rules by which one inherits from its base.

use std::collections::BTreeMap;

/// The table of each file, by the file's name.
pub type Tables = BTreeMap<String, toml::Table>;

/// A sheet that cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
#[error("sheet `{sheet}`: {problem}")]
pub struct SheetError {
    pub sheet: String,
    /// Description of the problem, which names the field.
    pub problem: String,
}

/// Largest number of bases, one below another.
const MAX_BASES: usize = 6;

/// Returns the numbers of a sheet or face, merged over those of its bases. `depth` counts
/// the bases so far and starts at 0. Fails if a sheet is missing, if `base` is not a name,
/// or after [`MAX_BASES`] bases.
pub fn merged_table(name: &str, tables: &Tables, depth: usize) -> Result<toml::Table, SheetError> {
    let fail = |problem: String| SheetError { sheet: name.to_owned(), problem };
    if depth > MAX_BASES {
        return Err(fail(format!("base: more than {MAX_BASES} sheets deep")));
    }
    let mut own = tables.get(name).ok_or_else(|| fail("there is no sheet of this name".to_owned()))?.clone();
    let Some(base) = own.remove("base") else { return Ok(own) };
    let base = base.as_str().ok_or_else(|| fail("base: must be the name of a sheet".to_owned()))?;
    let mut table = merged_table(base, tables, depth + 1)?;
    // Facts were measured on another vehicle.
    table.remove("facts");
    merge_tables(&mut table, own);
    Ok(table)
}

fn merge_tables(into: &mut toml::Table, from: toml::Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) => {
                // A kind is one choice, never a mixture of two.
                if key == "kind" { *old = new } else { merge_tables(old, new) }
            }
            (Some(toml::Value::Array(old)), toml::Value::Array(new)) if named(old) && named(&new) => {
                merge_named(old, new)
            }
            (Some(toml::Value::Table(_) | toml::Value::Array(_)), toml::Value::Boolean(false)) => {
                into.remove(&key);
            }
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

fn name_of(item: &toml::Value) -> Option<&str> {
    item.get("name").and_then(toml::Value::as_str)
}

/// Returns true if every item of a list has a name.
pub fn named(items: &[toml::Value]) -> bool {
    items.iter().all(|item| name_of(item).is_some())
}

fn merge_named(old: &mut Vec<toml::Value>, new: Vec<toml::Value>) {
    for item in new {
        let place = old.iter().position(|o| name_of(o) == name_of(&item));
        let remove = item.get("remove").and_then(toml::Value::as_bool) == Some(true);
        match (place, item) {
            (Some(place), _) if remove => {
                old.remove(place);
            }
            (Some(place), toml::Value::Table(item)) => {
                if let Some(table) = old[place].as_table_mut() {
                    merge_tables(table, item);
                }
            }
            (None, item) if !remove => old.push(item),
            _ => {}
        }
    }
}
