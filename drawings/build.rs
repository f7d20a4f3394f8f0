//! Collects the header of every vehicle sheet and face into `$OUT_DIR/headers.json`, which is
//! compiled into the program.
//!
//! The file holds the lists `sheets` and `faces`, sorted by name, and `two_wheeler_makes`,
//! the makes whose two-wheelers are drawn in their own manner. The drawings themselves
//! stay in the render node.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

#[expect(clippy::disallowed_methods, reason = "Cargo tells a build script by variables where to read and write")]
fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../render-node/sheets");
    let mut sheets = headers(&folder)?;
    sheets.append(&mut headers(&folder.join("models"))?);
    let faces = headers(&folder.join("faces"))?;
    let text = json!({
        "sheets": sheets.into_values().collect::<Vec<_>>(),
        "faces": faces.into_values().collect::<Vec<_>>(),
        "two_wheeler_makes": two_wheeler_makes(&folder.join("two-wheelers/variation.toml"))?,
    });
    std::fs::write(PathBuf::from(std::env::var("OUT_DIR")?).join("headers.json"), text.to_string())?;
    Ok(())
}

/// Returns the makes that have a row of their own in the table of two-wheelers.
fn two_wheeler_makes(path: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", path.display());
    let fail = |problem: &str| format!("{}: {problem}", path.display());
    let variation: toml::Table =
        std::fs::read_to_string(path)?.parse().map_err(|error: toml::de::Error| fail(&error.to_string()))?;
    let rows = variation.get("make").and_then(toml::Value::as_array).ok_or_else(|| fail("there is no `[[make]]`"))?;
    let mut makes = Vec::new();
    for row in rows {
        let listed = row.get("makes").cloned().ok_or_else(|| fail("a `[[make]]` has no `makes`"))?;
        makes.append(&mut listed.try_into().map_err(|error| fail(&error.to_string()))?);
    }
    Ok(makes)
}

/// Returns the header of every file in a folder, by the file's name without `.toml`.
/// Returns true for a sheet whose facts were taken from pictures of the vehicle.
fn is_measured(sheet: &toml::Table) -> bool {
    let is_estimated = |facts: &toml::Value| facts.get("estimated").and_then(toml::Value::as_bool).unwrap_or(false);
    sheet.get("facts").is_some_and(|facts| !is_estimated(facts))
}

fn headers(folder: &Path) -> Result<BTreeMap<String, Value>, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut headers = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".toml")) else { continue };
        let text = std::fs::read_to_string(&path)?;
        let sheet: toml::Table = text.parse().map_err(|error| format!("{}: {error}", path.display()))?;
        let said = |key: &str| sheet.get(key).cloned();
        let header = json!({
            "name": name,
            "base": said("base"),
            "face": said("face"),
            "applies_to": said("applies_to").unwrap_or_else(|| toml::Value::Array(Vec::new())),
            "is_measured": is_measured(&sheet),
            "generation": said("generation"),
        });
        headers.insert(name.to_owned(), header);
    }
    Ok(headers)
}
