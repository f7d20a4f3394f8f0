//! Puts what every vehicle sheet and face says about itself into the program: `$OUT_DIR/headers.json` with the lists `sheets` and `faces`,
//! sorted by name. The drawings themselves are the render node's.

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
    });
    std::fs::write(PathBuf::from(std::env::var("OUT_DIR")?).join("headers.json"), text.to_string())?;
    Ok(())
}

/// The header of every file of a folder, by the file's name.
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
            "is_measured": sheet.contains_key("facts"),
            "generation": said("generation"),
        });
        headers.insert(name.to_owned(), header);
    }
    Ok(headers)
}
